import { prorate, share } from './proration.js';

const DAY = 86_400;
/** A period of 30 days, so that numbers can be worked out by hand. */
const period = { start: 0, end: 30 * DAY };
const two = { quantity: 2, amount: 800, ...period };

describe('proration', () => {
  it('of two to three numbers after ten of thirty days credits two thirds of 8.00 and debits two thirds of 12.00', () => {
    const change = prorate({ unitAmount: 400, from: 2, to: 3, billed: two, period, at: 10 * DAY });
    expect(change).toEqual({ creditQuantity: 2, credit: -533, debit: 800 });
  });

  it.each([
    // One second of 2,592,000 is 0.03 cents of 8.00: nothing; 1620 seconds are half a cent.
    ['one second before the end', period.end - 1, 0, 0],
    ['1,620 seconds before the end', period.end - 1620, -1, 1],
    ['at the end', period.end, 0, 0],
    ['at the start', 0, -800, 1200],
    ['before the start, as at the start', -5, -800, 1200],
  ])('%s', (_, at, credit, debit) => {
    expect(prorate({ unitAmount: 400, from: 2, to: 3, billed: two, period, at })).toMatchObject({ credit, debit });
  });

  it('credits no more units than were billed: what was raised without a charge is not paid back', () => {
    const change = prorate({ unitAmount: 400, from: 5, to: 1, billed: two, period, at: 15 * DAY });
    expect(change).toEqual({ creditQuantity: 2, credit: -400, debit: 200 });
  });

  it('credits only the units that are still there of those that were billed', () => {
    const change = prorate({ unitAmount: 400, from: 1, to: 2, billed: two, period, at: 15 * DAY });
    expect(change).toEqual({ creditQuantity: 1, credit: -200, debit: 400 });
  });

  it('credits what the rest of the period was billed at, not what the price would be', () => {
    const billed = { quantity: 1, amount: 100, start: 20 * DAY, end: 30 * DAY };
    expect(prorate({ unitAmount: 400, from: 1, to: 0, billed, period, at: 25 * DAY })).toMatchObject({
      credit: -50,
      debit: 0,
    });
  });

  it('of what was never billed credits nothing', () => {
    expect(prorate({ unitAmount: 400, from: 0, to: 1, billed: undefined, period, at: 0 })).toEqual({
      ...{ creditQuantity: 0, credit: 0, debit: 400 },
    });
  });
});

describe('a share', () => {
  it.each([
    [1, 1, 2, 1],
    [-1, 1, 2, -1],
    [100, 1, 3, 33],
    [200, 1, 3, 67],
    [400, 0, 5, 0],
    [400, 5, 0, 0],
  ])('of %d, %d of %d, is %d: half a cent goes away from zero', (amount, part, whole, expected) => {
    expect(share(amount, part, whole)).toBe(expected);
  });

  it('is exact where floating point is not', () => {
    expect(share(9_007_199_254_740_991, 3, 3)).toBe(9_007_199_254_740_991);
  });
});
