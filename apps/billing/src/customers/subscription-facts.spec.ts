import type { Stripe } from 'stripe';
import { ACCOUNT_KEY, PRICE_LOOKUP_KEY } from '../stripe/catalogue.js';
import { customerFacts, fingerprintOf } from './subscription-facts.js';

const PERIOD_END = 2_000;

/** A subscription as Stripe would send it, as far as it is read. */
function subscription(changed: object = {}, item: object = {}): Stripe.Subscription {
  const price = {
    id: 'price_1',
    lookup_key: PRICE_LOOKUP_KEY,
    product: 'dormouse_number',
    unit_amount: 400,
    currency: 'usd',
  };
  const given = {
    id: 'sub_1',
    customer: 'cus_1',
    status: 'active',
    created: 100,
    metadata: { [ACCOUNT_KEY]: 'acc_1' },
    items: {
      data: [{ id: 'si_1', quantity: 2, price, current_period_start: 1_000, current_period_end: PERIOD_END, ...item }],
    },
    cancel_at: null,
    cancel_at_period_end: false,
    pending_update: null,
    latest_invoice: 'in_1',
    default_payment_method: 'pm_1',
    ...changed,
  };
  return JSON.parse(JSON.stringify(given)) as Stripe.Subscription;
}

function invoice(id: string, finalizedAt: number, of = 'sub_1'): Stripe.Invoice {
  const given = {
    id,
    amount_remaining: 400,
    currency: 'usd',
    created: 1,
    hosted_invoice_url: `https://pay.test/${id}`,
    status_transitions: { finalized_at: finalizedAt },
    parent: { subscription_details: { subscription: of } },
  };
  return JSON.parse(JSON.stringify(given)) as Stripe.Invoice;
}

const factsOf = (...subscriptions: Stripe.Subscription[]) => customerFacts(subscriptions, []).subscription;

describe('customerFacts', () => {
  it('passes on a status that it does not know, and a kind of pause', () => {
    expect(factsOf(subscription({ status: 'a status of tomorrow' }))?.status).toBe('a status of tomorrow');
    const pausedBy = (type: string) =>
      factsOf(subscription({ status: 'paused', status_details: { paused: { subscription: { type } } } }))?.pausedKind;
    expect(pausedBy('pause_requested')).toBe('requested');
    expect(pausedBy('final_payment_failure')).toBe('payment_failed');
    expect(pausedBy('first_payment_failure')).toBe('payment_failed');
    expect(pausedBy('a kind of tomorrow')).toBe('a kind of tomorrow');
    expect(factsOf(subscription({ status: 'paused' }))?.pausedKind).toBeNull();
  });

  it('keeps the places that were paid for bought until the period ends, and no longer', () => {
    const paid = (until: number) => ({
      metadata: { [ACCOUNT_KEY]: 'acc_1', paid_places: '5', paid_until: String(until) },
    });
    expect(factsOf(subscription(paid(PERIOD_END)))).toMatchObject({ quantity: 2, bought: 5 });
    expect(factsOf(subscription(paid(PERIOD_END - 500)))).toMatchObject({ quantity: 2, bought: 2 });
    expect(factsOf(subscription({ metadata: { paid_places: 'many', paid_until: String(PERIOD_END) } }))?.bought).toBe(
      2,
    );
  });

  it('counts the oldest open invoice as overdue, and never that of a purchase which waits for payment', () => {
    const pending = { expires_at: 1_900, subscription_items: [{ id: 'si_1', quantity: 3 }] };
    const waiting = subscription({ pending_update: pending, latest_invoice: 'in_3' });
    const facts = customerFacts(
      [waiting],
      [invoice('in_3', 30), invoice('in_2', 20), invoice('in_1', 10), invoice('in_0', 1, 'sub_other')],
    );
    expect(facts.overdue.map(({ id }) => id)).toEqual(['in_1', 'in_2']);
    expect(facts.pendingInvoice?.id).toBe('in_3');
    expect(facts.subscription?.pending).toEqual({ quantity: 3, expiresAt: 1_900, invoiceId: 'in_3' });
    expect(facts.subscription?.bought).toBe(2);
  });

  it('takes the older of two that run, and names the newer as one that must not be', () => {
    const older = subscription({ id: 'sub_a', created: 1, status: 'past_due' });
    const newer = subscription({ id: 'sub_b', created: 2 });
    const facts = customerFacts([newer, older], []);
    expect(facts.subscription?.id).toBe('sub_a');
    expect(facts.duplicates).toEqual(['sub_b']);
  });

  it('takes one that runs rather than older ones that ended, and of those that ended the last', () => {
    const ended = subscription({ id: 'sub_a', created: 1, status: 'canceled' });
    const later = subscription({ id: 'sub_b', created: 2, status: 'incomplete_expired' });
    expect(customerFacts([ended, later], []).subscription?.id).toBe('sub_b');
    const facts = customerFacts([ended, later, subscription({ id: 'sub_c', created: 3 })], []);
    expect([facts.subscription?.id, facts.duplicates]).toEqual(['sub_c', []]);
  });

  it('ignores what was sold to the customer beside numbers', () => {
    const other = subscription({ metadata: {} }, { price: { lookup_key: 'other', product: 'other' } });
    expect(customerFacts([other], [])).toEqual({
      subscription: null,
      overdue: [],
      pendingInvoice: null,
      duplicates: [],
    });
  });
});

describe('fingerprintOf', () => {
  it('differs when anything that is sold or open differs, and not by the order in which Stripe lists it', () => {
    const same = fingerprintOf(customerFacts([subscription()], [invoice('in_1', 1), invoice('in_2', 2)]));
    expect(fingerprintOf(customerFacts([subscription()], [invoice('in_2', 2), invoice('in_1', 1)]))).toBe(same);
    expect(fingerprintOf(customerFacts([subscription()], [invoice('in_1', 1)]))).not.toBe(same);
    expect(fingerprintOf(customerFacts([subscription({}, { quantity: 3 })], []))).not.toBe(same);
    expect(fingerprintOf(customerFacts([subscription({ cancel_at_period_end: true })], []))).not.toBe(same);
  });

  it('is the same for none and for one that ended, which Stripe does not list for ever', () => {
    const none = fingerprintOf(customerFacts([], []));
    expect(fingerprintOf(customerFacts([subscription({ status: 'canceled' })], [invoice('in_1', 1)]))).toBe(none);
  });
});
