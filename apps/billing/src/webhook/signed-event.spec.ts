import { GatewayError } from '@dormouse/gateway-contract';
import { Stripe } from 'stripe';
import { readSignedEvent } from './signed-event.js';

const SECRET = 'whsec_current';
const EARLIER = 'whsec_earlier';
const stripe = new Stripe('sk_test_spec');

function posted(changed: object = {}, { secret = SECRET, timestamp = Math.floor(Date.now() / 1_000) } = {}) {
  const event = {
    id: 'evt_1',
    object: 'event',
    type: 'customer.subscription.updated',
    created: 1_700_000_000,
    livemode: false,
    data: { object: { id: 'sub_1', object: 'subscription', customer: 'cus_1' } },
    ...changed,
  };
  const payload = JSON.stringify(event);
  const signature = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return { body: Buffer.from(payload), signature };
}

function read({ body, signature }: { body: unknown; signature: string | string[] | undefined }, isTest = true) {
  return readSignedEvent(stripe, { secrets: [SECRET, EARLIER], isTest }, body, signature);
}

/** What a call is refused with: its details, or nothing. */
function refusalOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return error.details;
    throw error;
  }
}

describe('readSignedEvent', () => {
  it('takes what the current or the earlier secret signed, and keeps id, type, customer and time alone', () => {
    const expected = {
      id: 'evt_1',
      type: 'customer.subscription.updated',
      customerId: 'cus_1',
      created: new Date(1_700_000_000_000),
    };
    expect(read(posted())).toEqual(expected);
    expect(read(posted({}, { secret: EARLIER }))).toEqual(expected);
  });

  it('finds the customer of an event about a customer, of one that is expanded, and none where there is none', () => {
    const customer = { type: 'customer.updated', data: { object: { id: 'cus_2', object: 'customer' } } };
    expect(read(posted(customer)).customerId).toBe('cus_2');
    const expanded = { type: 'invoice.paid', data: { object: { id: 'in_1', customer: { id: 'cus_3' } } } };
    expect(read(posted(expanded)).customerId).toBe('cus_3');
    expect(read(posted({ type: 'price.updated', data: { object: { id: 'price_1' } } })).customerId).toBeNull();
  });

  it('refuses what is forged, changed, stale, unsigned, signed twice in two headers, or no bytes', () => {
    const good = posted();
    expect(refusalOf(() => read(posted({}, { secret: 'whsec_of_somebody_else' })))).toContain('Stripe-Signature');
    expect(refusalOf(() => read({ ...good, body: Buffer.concat([good.body, Buffer.from(' ')]) }))).toContain(
      'Stripe-Signature',
    );
    const stale = posted({}, { timestamp: Math.floor(Date.now() / 1_000) - 301 });
    expect(refusalOf(() => read(stale))).toContain('older than five minutes');
    expect(refusalOf(() => read({ ...good, signature: undefined }))).toContain('Stripe-Signature');
    expect(refusalOf(() => read({ ...good, signature: [good.signature, good.signature] }))).toContain(
      'Stripe-Signature',
    );
    expect(refusalOf(() => read({ ...good, body: good.body.toString() }))).toContain('body');
  });

  it('refuses a live event at a test installation, and a test event at a live one', () => {
    expect(refusalOf(() => read(posted({ livemode: true })))).toContain('event of live mode');
    expect(refusalOf(() => read(posted(), false))).toContain('event of test mode');
    expect(read(posted({ livemode: true }), false).id).toBe('evt_1');
  });
});
