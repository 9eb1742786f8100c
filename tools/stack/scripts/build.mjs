// Builds what is not built or not fresh. Plain JavaScript, because it runs before there is anything built.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a Node script in a process group of its own and resolves with its exit code. A signal to us ends the whole
 * group, and so does the time limit. Its standard output goes to our standard error by default.
 */
export function runScript(file, args, { stdout = 2, env = process.env, withinMs, nodeArgs = [] } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...nodeArgs, file, ...args], {
      cwd: root,
      env,
      stdio: ['ignore', stdout, 2],
      detached: true,
    });
    const endGroup = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // ended already
      }
    };
    const onSignal = (signal) => {
      endGroup(signal);
      setTimeout(() => endGroup('SIGKILL'), 8_000).unref();
      child.once('exit', () => process.exit(130));
    };
    const timer =
      withinMs &&
      setTimeout(() => {
        console.error(`${file} is ended: it took longer than ${Math.round(withinMs / 60_000)} minutes.`);
        endGroup('SIGTERM');
        setTimeout(() => endGroup('SIGKILL'), 8_000).unref();
      }, withinMs);
    for (const signal of SIGNALS) process.on(signal, onSignal);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      for (const signal of SIGNALS) process.removeListener(signal, onSignal);
      resolve(code ?? 1);
    });
  });
}

function clientsAreStale() {
  return ['global', 'regional'].some((scope) => {
    const client = join(root, `libs/database/src/generated/${scope}/client.ts`);
    const schema = join(root, `prisma/${scope}/schema.prisma`);
    return !existsSync(client) || statSync(client).mtimeMs < statSync(schema).mtimeMs;
  });
}

/** Times of the newest file below some paths. */
function newest(paths) {
  const times = paths.flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isDirectory()) return found ? [found.mtimeMs] : [];
    return [newest(readdirSync(path).map((name) => join(path, name)))];
  });
  return Math.max(0, ...times);
}

/** The documentation is older than its texts, its generator, or the contracts that its references are made of. */
function documentationIsStale() {
  const docs = join(root, 'apps/docs');
  const compiled = readdirSync(join(docs, 'dist'))
    .filter((name) => name !== 'site')
    .map((name) => join(docs, 'dist', name));
  const contracts = ['gateway-contract', 'management-contract'].map((name) => join(root, 'libs', name, 'dist'));
  const sources = [join(docs, 'content'), join(docs, 'assets'), join(root, 'docs'), ...compiled, ...contracts];
  return newest([join(docs, 'dist/site/index.html')]) < newest(sources);
}

/** Projects below a folder that have this file. */
function projects(folder, file) {
  return readdirSync(join(root, folder))
    .map((name) => `${folder}/${name}`)
    .filter((project) => existsSync(join(root, project, file)));
}

/**
 * Generates the database clients, compiles, and makes the documentation, as far as either is needed (half a second if nothing is).
 * @param wanted 'servers': what the launcher starts; 'all': every project
 * @throws when something does not compile
 */
export async function build(wanted) {
  const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
  // An installation without development packages was built before.
  if (!existsSync(compiler)) return;
  if (clientsAreStale() && (await runScript(join(root, 'libs/database/scripts/generate.mjs'), [])) !== 0) {
    throw new Error('The database clients could not be generated.');
  }
  const servers = [...projects('apps', 'src/main.ts'), 'tools/stack'];
  const all = ['apps', 'libs', 'tools'].flatMap((folder) => projects(folder, 'tsconfig.json'));
  if ((await runScript(compiler, ['-b', ...(wanted === 'all' ? all : servers)])) !== 0) {
    throw new Error('The build failed.');
  }
  if (documentationIsStale() && (await runScript(join(root, 'apps/docs/dist/build.js'), [])) !== 0) {
    throw new Error('The documentation could not be built.');
  }
}
