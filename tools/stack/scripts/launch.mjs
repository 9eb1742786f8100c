// Builds what is not built or not fresh, then runs the command: launch.mjs <start|sandbox|bench> [options].
// Plain JavaScript, because it is what runs before there is anything built. All output of the build goes to standard
// error: standard output belongs to the command.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const COMMANDS = {
  start: 'tools/stack/dist/start.js',
  sandbox: 'tools/stack/dist/sandbox.js',
  bench: 'tools/bench/dist/main.js',
};
const [name, ...rest] = process.argv.slice(2);
const script = COMMANDS[name];
if (script === undefined) {
  console.error(`Which command? ${Object.keys(COMMANDS).join(', ')}`);
  process.exit(2);
}

/** Runs a Node script in its own process group; a signal to us ends the whole group. */
function run(file, ...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, ...args], { cwd: root, stdio: ['ignore', 2, 2], detached: true });
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGTERM');
      } catch {
        // ended already
      }
      process.exit(130);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, end);
    child.once('error', reject);
    child.once('exit', (code) => {
      for (const signal of signals) process.removeListener(signal, end);
      if (code === 0) resolve();
      else reject(new Error('The build failed.'));
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

try {
  const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
  // An installation without development packages has been built before.
  if (existsSync(compiler)) {
    if (clientsAreStale()) await run(join(root, 'libs/database/scripts/generate.mjs'));
    const apps = readdirSync(join(root, 'apps')).filter((app) => existsSync(join(root, 'apps', app, 'src/main.ts')));
    const projects = [...apps.map((app) => `apps/${app}`), 'tools/stack', ...(name === 'bench' ? ['tools/bench'] : [])];
    await run(compiler, '-b', ...projects);
  }
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
process.argv = [process.execPath, join(root, script), ...rest];
await import(join(root, script));
