/** `npm run bench -- <name> [options]`: each benchmark measures the running stack beside bare Baileys in one run. */
import { benchNetwork } from './network-bench.js';
import { benchSend } from './send-bench.js';

const BENCHMARKS: Record<string, { about: string; run: () => Promise<void> }> = {
  network: { about: 'the simulated network by itself: memory, linking, logging in, messages', run: benchNetwork },
  send: { about: 'POST /messages/text through the whole stack, beside bare Baileys', run: benchSend },
};

const [name] = process.argv.slice(2);
const benchmark = name === undefined ? undefined : BENCHMARKS[name];
if (!benchmark) {
  console.error(name === undefined ? 'Which benchmark?' : `There is no benchmark called ${name}.`);
  for (const [known, { about }] of Object.entries(BENCHMARKS)) console.error(`  npm run bench -- ${known}   ${about}`);
  process.exit(2);
}
await benchmark.run();
// Bare Baileys leaves timers of up to a minute behind a socket that was ended.
process.exit(0);
