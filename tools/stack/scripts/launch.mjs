// Builds if need be, then runs a command: launch.mjs <start|sandbox|bench|drill|schema|billing-setup> [options]. Standard output belongs to
// the command alone. npm passes signals on to us (package.json runs us with `exec`, in place of a shell that would not);
// an npm that was killed cannot, so its end is as good as a SIGTERM.
import { join } from 'node:path';
import { build, root } from './build.mjs';

const COMMANDS = {
  start: { script: 'tools/stack/dist/commands/start.js', needs: 'servers' },
  sandbox: { script: 'tools/stack/dist/commands/sandbox.js', needs: 'servers' },
  'release-snapshot': { script: 'tools/stack/dist/repository/release-snapshot.js', needs: 'all' },
  schema: { script: 'tools/stack/dist/commands/schema.js', needs: 'servers' },
  'billing-setup': { script: 'apps/billing/dist/set-up-stripe.js', needs: 'servers' },
  drill: { script: 'tools/drills/dist/main.js', needs: 'all' },
  bench: { script: 'tools/bench/dist/main.js', needs: 'all' },
};
const [name, ...rest] = process.argv.slice(2);
const command = COMMANDS[name];
if (command === undefined) {
  console.error(`Which command? ${Object.keys(COMMANDS).join(', ')}`);
  process.exit(2);
}
const ORPHANED_POLL_MS = 500;
if (process.env.npm_lifecycle_event !== undefined) {
  const npm = process.ppid;
  const poll = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(poll);
    process.kill(process.pid, 'SIGTERM');
  }, ORPHANED_POLL_MS);
  poll.unref();
}
try {
  await build(command.needs);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const script = join(root, command.script);
process.argv = [process.execPath, script, ...rest];
await import(script);
