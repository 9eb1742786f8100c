import { runMoney } from './test-money-program.js';

jest.setTimeout(180_000);

/** Of some four days each; `npm run bench -- money` runs fourteen months of them. */
const STEPS = 18;

describe('months of money while everything goes wrong', () => {
  it.each([8])(
    'charge nobody twice, refuse no number that is paid for at any time, and end with what Stripe and the numbers give: seed %d',
    async (seed) => {
      const { faults, differing, deaths, statuses, paidInvoices } = await runMoney({ seed, steps: STEPS });
      if (faults.length > 0) throw new Error(faults.join('\n'));
      expect(differing).toEqual([]);
      expect([...statuses]).toEqual(expect.arrayContaining(['canceled', 'past_due', 'paused']));
      expect(deaths.size).toBeGreaterThan(STEPS);
      expect(paidInvoices).toBeGreaterThan(3);
    },
  );
});
