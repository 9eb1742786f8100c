import { TestRegion } from './test-billing.js';
import { MoneyOracle } from './test-money-oracle.js';
import { MoneyRun } from './test-money-run.js';
import { seeded } from './test-random.js';
import { RunningStripeSide } from './test-stripe-side.js';

const ACCOUNTS = 2;
const MONTH_MS = 30.4 * 86_400_000;

export interface MoneyTerms {
  seed: number;
  steps: number;
  /** Called after each step. */
  onStep?: (step: number) => void;
}

/** What a run has come to. */
export interface MoneyOutcome {
  months: number;
  /** What is wrong, in sentences; with what happened before. Empty: nothing. */
  faults: string[];
  /** Where billing died, such as `after finish-stripe-intent`, and how often. */
  deaths: ReadonlyMap<string, number>;
  /** Statements and calls of Stripe that billing came to. */
  acts: ReadonlySet<string>;
  statuses: ReadonlySet<string>;
  paidInvoices: number;
  /** What a sweep still found in the end. */
  differing: unknown[];
}

/** Runs months of money (`test-money-run.ts`) on stores and a simulated Stripe of its own, until something is wrong or all steps are done. */
export async function runMoney({ seed, steps, onStep }: MoneyTerms): Promise<MoneyOutcome> {
  const [running, sg, eu] = await Promise.all([RunningStripeSide.open(), TestRegion.open('sg'), TestRegion.open('eu')]);
  const run = await MoneyRun.open(running, [sg, eu], seeded(seed), ACCOUNTS);
  const startedAtMs = run.nowMs();
  const oracle = new MoneyOracle(run);
  const faults: string[] = [];
  const check = async (): Promise<void> => {
    if (faults.length === 0) faults.push(...(await oracle.faults()));
  };
  try {
    faults.push(...(await oracle.faultsAtRest()));
    for (let step = 1; step <= steps && faults.length === 0; step += 1) {
      await run.step(check);
      if (faults.length === 0) faults.push(...(await oracle.faultsAtRest()));
      onStep?.(step);
    }
    if (faults.length > 0) faults.push('after:', ...run.story);
    return {
      ...{ faults, deaths: run.deaths, acts: run.acts, statuses: oracle.statuses, paidInvoices: oracle.invoices.size },
      months: (run.nowMs() - startedAtMs) / MONTH_MS,
      differing: (await running.side.sweep.run()).differing,
    };
  } finally {
    await run.close();
    await Promise.all([running.close(), sg.close(), eu.close()]);
  }
}
