import { bannersOf, type BillingRecord } from './banners.js';

const NOW_S = 1_800_000_000;
const renewal = {
  kind: 'renewal',
  amount: 800,
  currency: 'usd',
  url: 'https://pay.test/1',
  until: NOW_S + 60,
} as const;
const paid: BillingRecord = {
  plan: 'paid',
  status: 'active',
  numbers: 3,
  free: 1,
  bought: 2,
  limit: 2,
  price: { amount: 400, currency: 'usd' },
  period_end: NOW_S + 86_400,
  cancel_at_period_end: false,
  next_invoice: null,
  open: [],
};

describe('banners of what is paid', () => {
  it('are none while every number is paid for, and none where nothing is charged', () => {
    expect(bannersOf(paid, NOW_S)).toEqual([]);
    expect(bannersOf({ ...paid, plan: 'off', numbers: null, free: null, bought: 0 }, NOW_S)).toEqual([]);
    expect(bannersOf({ ...paid, numbers: 1, free: 5, bought: 0 }, NOW_S)).toEqual([]);
  });

  it('announce the end of grace while nothing is refused, and what is refused after it', () => {
    const failed = { ...paid, status: 'past_due', open: [renewal] };
    expect(bannersOf(failed, NOW_S)).toEqual([{ what: 'grace', payment: renewal, until: NOW_S + 60, refused: 2 }]);
    expect(bannersOf(failed, NOW_S + 60)).toEqual([{ what: 'unpaid', payment: renewal, refused: 2 }]);
    expect(bannersOf({ ...failed, status: 'unpaid' }, NOW_S)).toEqual([
      { what: 'unpaid', payment: renewal, refused: 2 },
    ]);
  });

  it('count the grace of the oldest renewal', () => {
    const open = [{ ...renewal, until: NOW_S + 500 }, renewal];
    expect(bannersOf({ ...paid, open }, NOW_S)).toMatchObject([{ what: 'grace', until: NOW_S + 60 }]);
  });

  it('count the numbers beyond the free ones and those that were bought, and name a payment that they wait for', () => {
    const waiting = { ...renewal, kind: 'numbers' } as const;
    expect(bannersOf({ ...paid, numbers: 5, open: [waiting] }, NOW_S)).toEqual([
      { what: 'waiting', payment: waiting },
      { what: 'beyond', refused: 2 },
    ]);
  });

  it('announce the end of a cancelled subscription, if numbers need it', () => {
    const ending = { ...paid, cancel_at_period_end: true };
    expect(bannersOf(ending, NOW_S)).toEqual([{ what: 'ending', at: NOW_S + 86_400, refused: 2 }]);
    expect(bannersOf({ ...ending, numbers: 1 }, NOW_S)).toEqual([]);
  });
});
