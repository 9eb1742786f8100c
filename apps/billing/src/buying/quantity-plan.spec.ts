import fc from 'fast-check';
import type { SubscriptionFacts } from '../customers/subscription-facts.js';
import { nextQuantityStep, type Wish } from './quantity-plan.js';

function subscription(changed: Partial<SubscriptionFacts> = {}): SubscriptionFacts {
  return {
    id: 'sub_1',
    itemId: 'si_1',
    status: 'active',
    pausedKind: null,
    quantity: 2,
    bought: 2,
    unitAmount: 400,
    currency: 'usd',
    periodStart: 1_000,
    periodEnd: 2_000,
    created: 1_000,
    cancelAtPeriodEnd: false,
    pending: null,
    paymentMethod: 'pm_1',
    customerPaymentMethod: null,
    ...changed,
  };
}

function wish(changed: Partial<Wish> = {}): Wish {
  return { subscription: subscription(), furtherNumbers: 2, buyLimit: 0, declined: null, ...changed };
}

describe('nextQuantityStep', () => {
  it('does nothing when the places are those that the numbers need, and for an account that has no subscription', () => {
    expect(nextQuantityStep(wish())).toBeUndefined();
    expect(nextQuantityStep(wish({ subscription: null, furtherNumbers: 9, buyLimit: 9 }))).toBeUndefined();
  });

  it('lowers the quantity of the next period when numbers were deleted, and remembers the places paid for', () => {
    expect(nextQuantityStep(wish({ furtherNumbers: 0 }))).toEqual({ kind: 'free', quantity: 0, paidPlaces: 2 });
  });

  it('gives a place that is paid for to the next number without a charge, whatever the limit', () => {
    const lowered = subscription({ quantity: 0, bought: 2 });
    expect(nextQuantityStep(wish({ subscription: lowered, furtherNumbers: 1 }))).toEqual({
      kind: 'free',
      quantity: 1,
      paidPlaces: 2,
    });
  });

  it('uses up the places that are paid for before it buys more', () => {
    const lowered = subscription({ quantity: 1, bought: 2 });
    const first = nextQuantityStep(wish({ subscription: lowered, furtherNumbers: 4, buyLimit: 9 }));
    expect(first).toEqual({ kind: 'free', quantity: 2, paidPlaces: 2 });
    expect(nextQuantityStep(wish({ furtherNumbers: 4, buyLimit: 9 }))).toEqual({ kind: 'purchase', quantity: 4 });
  });

  it('buys up to the limit and not beyond; a limit of 0 buys nothing', () => {
    expect(nextQuantityStep(wish({ furtherNumbers: 5, buyLimit: 3 }))).toEqual({ kind: 'purchase', quantity: 3 });
    expect(nextQuantityStep(wish({ furtherNumbers: 5, buyLimit: 0 }))).toBeUndefined();
  });

  it.each(['past_due', 'unpaid', 'paused', 'incomplete', 'canceled', 'a status of tomorrow'])(
    'buys nothing while the subscription is %s',
    (status) => {
      const step = nextQuantityStep(wish({ subscription: subscription({ status }), furtherNumbers: 5, buyLimit: 9 }));
      expect(step).toBeUndefined();
    },
  );

  it('waits while a purchase waits for payment', () => {
    const pending = { quantity: 3, expiresAt: 1_500, invoiceId: 'in_1' };
    const waiting = wish({ subscription: subscription({ pending }), furtherNumbers: 4, buyLimit: 9 });
    expect(nextQuantityStep(waiting)).toBeUndefined();
  });

  it('does not repeat a purchase that the card refused, but tries another card and another quantity', () => {
    const declined = { quantity: 3, paymentMethod: 'pm_1' };
    const refused = wish({ furtherNumbers: 3, buyLimit: 9, declined });
    expect(nextQuantityStep(refused)).toBeUndefined();
    const otherCard = { ...refused, subscription: subscription({ paymentMethod: 'pm_2' }) };
    expect(nextQuantityStep(otherCard)).toEqual({ kind: 'purchase', quantity: 3 });
    expect(nextQuantityStep({ ...refused, furtherNumbers: 4 })).toEqual({ kind: 'purchase', quantity: 4 });
  });

  it('charges for each place once within a period, however numbers come and go', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 30 }),
        fc.integer({ min: 0, max: 12 }),
        (history, limit) => {
          let facts = subscription({ quantity: 0, bought: 0 });
          let charged = 0;
          for (const furtherNumbers of history) {
            for (let steps = 0; ; steps += 1) {
              const step = nextQuantityStep(wish({ subscription: facts, furtherNumbers, buyLimit: limit }));
              if (!step) break;
              if (steps > 3) throw new Error('it does not come to rest');
              if (step.kind === 'purchase') charged += step.quantity - facts.quantity;
              facts = { ...facts, quantity: step.quantity, bought: Math.max(facts.bought, step.quantity) };
            }
            expect(facts.quantity).toBe(Math.min(furtherNumbers, facts.bought));
          }
          expect(charged).toBe(Math.min(limit, Math.max(0, ...history)));
        },
      ),
    );
  });
});
