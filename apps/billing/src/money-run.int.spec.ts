import { jest } from '@jest/globals';
import { TestRegion } from './test-billing.js';
import { MoneyOracle } from './test-money-oracle.js';
import { MoneyRun, seeded } from './test-money-run.js';
import { RunningStripeSide } from './test-stripe-side.js';

jest.setTimeout(180_000);

/** Of some four days each. */
const STEPS = 12;

describe('months of money while everything goes wrong', () => {
  it.each([1])(
    'end with the standings, quantities and invoices that Stripe and the numbers give, and nothing for the sweep: seed %d',
    async (seed) => {
      const [running, sg, eu] = await Promise.all([
        RunningStripeSide.open(),
        TestRegion.open('sg'),
        TestRegion.open('eu'),
      ]);
      const run = new MoneyRun(running, [sg, eu], seeded(seed));
      const oracle = new MoneyOracle(run);
      try {
        await run.start(2);
        expect(await oracle.faults()).toEqual([]);
        for (let step = 1; step <= STEPS; step += 1) {
          await run.step();
          const faults = await oracle.faults();
          if (faults.length > 0) throw new Error([...faults, 'after:', ...run.story].join('\n'));
        }
        expect((await running.side.sweep.run()).differing).toEqual([]);
        expect(oracle.statuses).toContain('past_due');
        expect(run.deaths).toBeGreaterThan(STEPS);
        expect(oracle.invoices).toBeGreaterThan(3);
      } finally {
        await run.close();
        await Promise.all([running.close(), sg.close(), eu.close()]);
      }
    },
  );
});
