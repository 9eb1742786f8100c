import { parseArgs } from 'node:util';
import { fastCurve, fastSignatures } from '../phone/fast-curve.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator } from '../simulator.js';
import { RandomRun } from './random-run.js';

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
write(`seed ${values.seed}`);
const simulator = await startSimulator();
const run = new RandomRun(simulator, {
  seed: Number(values.seed),
  clients: Number(values.clients),
  phones: Number(values.phones),
  operations: Number.MAX_SAFE_INTEGER,
  limitMs: Number(values.minutes) * 60_000,
  settleMs: 120_000,
});
const result = await run.run((operations) => write(`${operations} operations`));
write(JSON.stringify(result, undefined, 2));
await simulator.stop();
const clean = [result.missing, result.doubled, result.wrong, result.unreadable, result.unconfirmed].every(
  ({ length }) => length === 0,
);
process.exit(clean ? 0 : 1);
