import type { Standing } from '@dormouse/channel-directory';
import fc from 'fast-check';
import {
  nextChangeByClock,
  positionOf,
  standingAt,
  standingsOf,
  type Position,
  type SubscriptionState,
} from './standing.js';

const GRACE_MS = 259_200_000;
const NOW_MS = Date.UTC(2027, 0, 10);
const STORED = undefined;

function subscription(changed: Partial<SubscriptionState> = {}): SubscriptionState {
  return { status: 'active', pausedKind: null, bought: 1, oldestUnpaidAtMs: null, asOfMs: NOW_MS, ...changed };
}

type Row = [what: string, state: SubscriptionState | null, covered: Standing | undefined, beyond: Standing | undefined];

const OVER = 'over_free_allowance';
const TABLE: Row[] = [
  ['none', null, OVER, OVER],
  ['incomplete', subscription({ status: 'incomplete' }), OVER, OVER],
  ['incomplete_expired', subscription({ status: 'incomplete_expired' }), OVER, OVER],
  ['canceled', subscription({ status: 'canceled' }), OVER, OVER],
  ['paused on request', subscription({ status: 'paused', pausedKind: 'requested' }), OVER, OVER],
  ['active, also when it ends at the end of the period', subscription(), 'good', OVER],
  ['trialing', subscription({ status: 'trialing' }), 'good', OVER],
  ['past_due without an invoice that is known', subscription({ status: 'past_due' }), 'good', OVER],
  ['past_due within grace', pastDue(GRACE_MS - 1), 'good', OVER],
  ['past_due after grace', pastDue(GRACE_MS), 'past_due', OVER],
  [
    'past_due, not read since its grace ended',
    { ...pastDue(2 * GRACE_MS), asOfMs: NOW_MS - GRACE_MS - 1 },
    'good',
    OVER,
  ],
  ['past_due, read at a time that is not known', { ...pastDue(2 * GRACE_MS), asOfMs: null }, 'good', OVER],
  ['unpaid', subscription({ status: 'unpaid', oldestUnpaidAtMs: NOW_MS }), 'past_due', OVER],
  ['paused for failed payment', subscription({ status: 'paused', pausedKind: 'payment_failed' }), 'past_due', OVER],
  ['paused, for a reason that is not known', subscription({ status: 'paused' }), STORED, STORED],
  ['a status that this version does not know', subscription({ status: 'on_the_moon' }), STORED, STORED],
];

function pastDue(forMs: number): SubscriptionState {
  return subscription({ status: 'past_due', oldestUnpaidAtMs: NOW_MS - forMs });
}

describe('the standing of a number', () => {
  describe.each(TABLE)('with a subscription that is %s', (_what, state, covered, beyond) => {
    it.each([
      ['free', 'good'],
      ['covered', covered],
      ['beyond', beyond],
    ] as [Position, Standing | undefined][])('%s: %s', (position, expected) => {
      expect(standingAt(position, state, GRACE_MS)).toBe(expected);
    });
  });

  it('follows the order of first links: free ones, then those that were bought, then the rest', () => {
    const account = { freeNumbers: 2, subscription: subscription({ bought: 1 }) };
    expect([0, 1, 2, 3].map((index) => positionOf(index, account))).toEqual(['free', 'free', 'covered', 'beyond']);
    expect(positionOf(1, { freeNumbers: 1, subscription: null })).toBe('beyond');
  });

  it('stays as it is stored while the status is not known, and a new number is good', () => {
    const account = { freeNumbers: 1, subscription: subscription({ status: 'on_the_moon', bought: 2 }) };
    const stored = ['good', 'past_due', 'good', OVER, undefined] as const;
    expect(standingsOf(account, stored, { isOn: true, graceMs: GRACE_MS })).toEqual([
      'good',
      'past_due',
      'good',
      OVER,
      'good',
    ]);
  });

  it('is good for every number while billing is off, whatever is stored', () => {
    const account = { freeNumbers: 0, subscription: subscription({ status: 'unpaid' }) };
    const standings = standingsOf(account, ['past_due', OVER, undefined], { isOn: false, graceMs: 0 });
    expect(standings).toEqual(['good', 'good', 'good']);
  });

  describe('for whatever is stored', () => {
    const known = TABLE.flatMap(([, state]) => (state ? [state.status] : []));
    const states = fc.record({
      status: fc.oneof(fc.constantFrom(...known), fc.string()),
      pausedKind: fc.constantFrom(null, 'requested', 'payment_failed', 'other'),
      bought: fc.nat(20),
      oldestUnpaidAtMs: fc.option(fc.integer({ min: NOW_MS - 2 * GRACE_MS, max: NOW_MS }), { nil: null }),
      asOfMs: fc.option(fc.integer({ min: NOW_MS - 2 * GRACE_MS, max: NOW_MS }), { nil: null }),
    });
    const standings = fc.constantFrom<Standing | undefined>('good', 'past_due', OVER, undefined);
    const accounts = fc.record({
      subscription: fc.option(states, { nil: null }),
      freeNumbers: fc.integer({ min: 1, max: 5 }),
    });
    const stored = fc.array(standings, { minLength: 1, maxLength: 30 });
    const rules = { isOn: true, graceMs: GRACE_MS };
    const refused = (all: readonly Standing[]) => all.filter((one) => one !== 'good').length;

    it('never refuses a free number', () => {
      fc.assert(
        fc.property(accounts, stored, (account, before) => {
          const free = standingsOf(account, before, rules).slice(0, account.freeNumbers);
          expect(refused(free)).toBe(0);
        }),
      );
    });

    it('never refuses a number that is paid for', () => {
      fc.assert(
        fc.property(accounts, stored, fc.constantFrom('active', 'trialing', 'past_due'), (account, before, status) => {
          const paid = subscription({ ...account.subscription, status, oldestUnpaidAtMs: null });
          const places = account.freeNumbers + paid.bought;
          const after = standingsOf({ ...account, subscription: paid }, before, rules);
          expect(refused(after.slice(0, places))).toBe(0);
        }),
      );
    });

    it('never refuses more numbers because more was bought, or given', () => {
      fc.assert(
        fc.property(accounts, stored, fc.nat(10), fc.nat(10), (account, before, bought, given) => {
          const more = account.subscription && {
            ...account.subscription,
            bought: account.subscription.bought + bought,
          };
          const after = { subscription: more, freeNumbers: account.freeNumbers + given };
          expect(refused(standingsOf(after, before, rules))).toBeLessThanOrEqual(
            refused(standingsOf(account, before, rules)),
          );
        }),
      );
    });

    it('is the same when it is computed again from its own result', () => {
      fc.assert(
        fc.property(accounts, stored, (account, before) => {
          const once = standingsOf(account, before, rules);
          expect(standingsOf(account, once, rules)).toEqual(once);
        }),
      );
    });
  });

  it('changes by the clock alone at the end of the next gift, and at no other time', () => {
    expect(nextChangeByClock([NOW_MS + 5, NOW_MS + 9, NOW_MS - 5], NOW_MS)).toBe(NOW_MS + 5);
    expect(nextChangeByClock([NOW_MS - 5], NOW_MS)).toBeNull();
  });
});
