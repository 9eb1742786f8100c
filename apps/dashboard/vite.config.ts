import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompress, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { MANAGEMENT_PREFIX, OPERATIONS } from '@dormouse/management-contract';

/**
 * The module `virtual:operations`: method and path of every operation. Their shapes are types alone in the page, so the
 * schemas and their library stay out of it.
 */
function operations(): Plugin {
  const id = 'virtual:operations';
  const table = Object.entries(OPERATIONS).map(([name, { method, path }]) => [
    name,
    [method, MANAGEMENT_PREFIX + path],
  ]);
  const source = `export const OPERATION_ADDRESSES = ${JSON.stringify(Object.fromEntries(table))};`;
  return {
    name: 'operations',
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load: (resolved) => (resolved === `\0${id}` ? source : undefined),
  };
}

/** Beside each script and stylesheet, the same compressed: servers send what the browser takes. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const assets = join(dir, 'assets');
      const names = (await readdir(assets)).filter((name) => /\.(?:js|css)$/.test(name));
      for (const name of names) {
        const content = await readFile(join(assets, name));
        await writeFile(join(assets, `${name}.gz`), await promisify(gzip)(content, { level: 9 }));
        await writeFile(join(assets, `${name}.br`), await promisify(brotliCompress)(content));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), operations(), compressed()],
  // The server puts a nonce of its own in place of this text, for each request.
  html: { cspNonce: 'NONCE_OF_THIS_PAGE' },
  build: {
    outDir: 'dist/pages',
    assetsDir: 'assets',
    sourcemap: false,
    // A file as text in a stylesheet would need data: in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    // Browsers that know light-dark(): what it is turned into for older ones needs variables that Mantine does not set.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
  },
  clearScreen: false,
  logLevel: 'warn',
});
