import type { SubscriptionFacts } from '../customers/subscription-facts.js';
import { newCardOf } from './new-cards.js';

const facts = (changed: Partial<SubscriptionFacts> = {}): SubscriptionFacts => ({
  ...{ id: 'sub_1', itemId: 'si_1', status: 'active', pausedKind: null, quantity: 1, bought: 1, unitAmount: 400 },
  ...{ currency: 'usd', periodStart: 0, periodEnd: 1, created: 0, cancelAtPeriodEnd: false, pending: null },
  ...{ paymentMethod: 'pm_old', customerPaymentMethod: null },
  ...changed,
});

describe('newCardOf', () => {
  it('is the default that the customer was given since, and nothing when it is read again', () => {
    const given = facts({ customerPaymentMethod: 'pm_new' });
    expect(newCardOf(facts(), given)).toBe('pm_new');
    expect(newCardOf(given, given)).toBeUndefined();
  });

  it('is the card that the subscription was given, as on the page of an invoice: not an older default of the customer', () => {
    const before = facts({ customerPaymentMethod: 'pm_older' });
    expect(newCardOf(before, facts({ customerPaymentMethod: 'pm_older', paymentMethod: 'pm_page' }))).toBe('pm_page');
  });

  it('is none where a default was taken away, where a subscription is a new one, and where nothing was known before', () => {
    const given = facts({ customerPaymentMethod: 'pm_new' });
    expect(newCardOf(given, facts())).toBeUndefined();
    expect(newCardOf(facts({ id: 'sub_0' }), given)).toBeUndefined();
    expect(newCardOf(null, given)).toBeUndefined();
    const { customerPaymentMethod: _, ...stored } = facts();
    expect(newCardOf(JSON.parse(JSON.stringify(stored)) as SubscriptionFacts, given)).toBeUndefined();
  });
});
