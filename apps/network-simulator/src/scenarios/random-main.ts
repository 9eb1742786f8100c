import { parseArgs } from 'node:util';
import { fastCurve, fastSignatures } from '../phones/fast-curve.js';
import { fastDerivation } from '../phones/fast-derivation.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator } from '../simulator.js';
import { RandomHistory } from './random-history.js';
import { isClean, RandomRun } from './random-run.js';

/** `node dist/scenarios/random-main.js --minutes 10 --clients 20 --phones 20 [--seed N]`: a long run; the seed is printed. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '20' },
    phones: { type: 'string', default: '20' },
  },
});
const write = (line: string): boolean => process.stdout.write(`${line}\n`);
quietLibsignal();
fastCurve();
fastSignatures();
fastDerivation();
write(`seed ${values.seed}`);
const history = new RandomHistory();
const simulator = await startSimulator({ log: history.log });
const run = new RandomRun(
  simulator,
  {
    seed: Number(values.seed),
    clients: Number(values.clients),
    phones: Number(values.phones),
    operations: Number.MAX_SAFE_INTEGER,
    limitMs: Number(values.minutes) * 60_000,
    settleMs: 120_000,
  },
  history,
);
const result = await run.run((operations) => write(`${operations} operations`));
const { traces, ...figures } = result;
write(JSON.stringify(figures, undefined, 2));
for (const [id, lines] of Object.entries(traces)) write([`What is known of ${id}:`, ...lines].join('\n  '));
await simulator.stop();
process.exit(isClean(result) ? 0 : 1);
