import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type * as Apply from './apply.js';
import { assertLibraryShape, assertSocketShape } from './library-shape.js';

const README = readFileSync(new URL('../../../src/socket/patches/README.md', import.meta.url), 'utf8');
const MODULES = fileURLToPath(new URL('../../../../../node_modules', import.meta.url));

/** The version that is installed for a package that depends on it. */
function installed(name: string, dependent = '.'): string {
  const folders = [`${MODULES}/${dependent}/node_modules/${name}`, `${MODULES}/${name}`];
  const folder = folders.find((one) => existsSync(one));
  if (folder === undefined) throw new Error(`${name} is not installed`);
  return (JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { version: string }).version;
}

/** The module as a process has it that has applied nothing yet: other specs of this one may have. */
async function loadedAnew(): Promise<typeof Apply> {
  return (await import(new URL('./apply.js?anew', import.meta.url).href)) as typeof Apply;
}

describe('patches', () => {
  it('are needed by every socket', async () => {
    const { applyLibraryPatches, requirePatches } = await loadedAnew();
    expect(() => requirePatches()).toThrow('applyPatches() comes first');
    applyLibraryPatches();
    expect(() => requirePatches()).not.toThrow();
  });

  it('find everything they change in the library that is installed', () => {
    expect(() => assertLibraryShape()).not.toThrow();
  });

  it('name what is missing, and what rests on it', () => {
    expect(() => assertSocketShape({})).toThrow('Baileys has no ws.socket.send, on which outbound-frame-gate rests');
  });

  it.each([
    ['@whiskeysockets/baileys', undefined],
    ['libsignal', undefined],
    ['whatsapp-rust-bridge', undefined],
    ['curve25519-js', 'libsignal'],
    ['lru-cache', '@whiskeysockets/baileys'],
  ])(
    'were made for the version of %s that is installed: README.md is gone through before another one',
    (name, from) => {
      const row = README.split('\n').find((line) => line.startsWith(`| \`${name}\``));
      expect(row?.split('|')[2]?.trim()).toBe(installed(name, from));
    },
  );
});
