/**
 * Fourteen months of money while everything goes wrong, once for each seed: `npm run bench -- money [--steps N] [seed ...]`. The
 * program and what must hold are billing's own (apps/billing/src/test-money-run.ts); `npm test` runs the beginning of it.
 */
import { parseArgs } from 'node:util';
import { runMoney, type MoneyOutcome } from '@dormouse/billing/test-money-program';
import startTestStores, { stopTestStores } from '@dormouse/stack/test-store-servers';
import { progress } from './bench-stack.js';

/** Of 4.5 days on average: fourteen months. */
const STEPS = 95;
const PROGRESS_EVERY = 10;

export async function benchMoney(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    options: { steps: { type: 'string', default: String(STEPS) } },
    allowPositionals: true,
  });
  const steps = Number(values.steps);
  const given = positionals.map(Number);
  if (![steps, ...given].every((number) => Number.isSafeInteger(number) && number > 0)) {
    throw new Error('seeds and --steps must be whole numbers of 1 or more');
  }
  const seeds = given.length > 0 ? given : Array.from({ length: 3 }, () => 1 + Math.floor(Math.random() * 1e6));
  await startTestStores();
  try {
    for (const seed of seeds) {
      const startedAtMs = performance.now();
      const onStep = (step: number): void => {
        if (step % PROGRESS_EVERY === 0) progress(`seed ${seed}: step ${step} of ${steps}`);
      };
      report(seed, await runMoney({ seed, steps, onStep }), (performance.now() - startedAtMs) / 1_000);
    }
  } finally {
    await stopTestStores();
  }
}

function report(seed: number, outcome: MoneyOutcome, seconds: number): void {
  const { months, faults, deaths, acts, statuses, paidInvoices, differing } = outcome;
  const died = [...deaths.values()].reduce((sum, times) => sum + times, 0);
  const isGood = faults.length === 0 && differing.length === 0;
  console.log(
    `seed ${seed}: ${isGood ? 'nothing wrong' : 'WRONG'}; ${months.toFixed(1)} months in ${seconds.toFixed(0)} s, ` +
      `${paidInvoices} invoices paid, ${died} deaths at ${deaths.size} of ${2 * acts.size} places, ` +
      `statuses ${[...statuses].sort().join(', ')}, the sweep found ${differing.length}`,
  );
  if (isGood) return;
  for (const line of [...faults, ...differing.map((one) => JSON.stringify(one))]) console.log(`  ${line}`);
  process.exitCode = 1;
}
