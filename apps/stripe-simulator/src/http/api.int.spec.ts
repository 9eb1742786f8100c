import type Stripe from 'stripe';
import { clientOf, openTestBed, type TestBed } from '../testing/test-bed.js';

describe('the API on the wire', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await openTestBed();
  });
  afterAll(() => bed.close());

  it.each([
    ['no key', {}, 401, 'You did not provide an API key.'],
    ['a wrong key', { authorization: 'Bearer sk_test_wrong0000' }, 401, 'Invalid API Key provided: sk_test_****0000'],
    ['a wrong key of the same length', { authorization: 'Bearer sk_test_simulateX' }, 401, 'Invalid API Key provided'],
    [
      'another version',
      { authorization: 'Bearer sk_test_simulated', 'stripe-version': '2020-08-27' },
      400,
      'Invalid Stripe API version: 2020-08-27',
    ],
  ])('%s is refused', async (_, headers, status, message) => {
    const response = await fetch(`${bed.url}/v1/customers`, { headers });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.stringContaining(message) },
    });
    expect(response.headers.get('request-id')).toMatch(/^req_/);
  });

  it('what it does not know is 404, not an empty answer', async () => {
    await expect(bed.stripe.coupons.list()).rejects.toMatchObject({
      statusCode: 404,
      message: expect.stringContaining('Unrecognized request URL (GET: /v1/coupons)'),
    });
  });

  it.each([
    ['payment_method_types', { payment_method_types: ['card'] }],
    ['ui_mode of an earlier version', { ui_mode: 'hosted' }],
    ['mode', { mode: 'payment' }],
  ])('Checkout refuses %s', async (_, extra) => {
    const params: Stripe.Checkout.SessionCreateParams = {
      ...{
        mode: 'subscription',
        success_url: 'https://a.example/',
        line_items: [{ price: bed.price.id, quantity: 1 }],
      },
      ...extra,
    };
    await expect(bed.stripe.checkout.sessions.create(params)).rejects.toMatchObject({
      statusCode: 400,
      type: 'StripeInvalidRequestError',
    });
  });

  it('pages through lists, newest first, without a gap, also backwards', async () => {
    const made = [];
    for (let number = 0; number < 7; number += 1)
      made.unshift((await bed.stripe.customers.create({ description: String(number) })).id);
    const all = [];
    for await (const { id } of bed.stripe.customers.list({ limit: 3 })) all.push(id);
    expect(all).toEqual(made);
    const back = await bed.stripe.customers.list({ limit: 2, ending_before: made[4] });
    expect(back.data.map(({ id }) => id)).toEqual(made.slice(2, 4));
    expect(back.has_more).toBe(true);
    await expect(bed.stripe.customers.list({ starting_after: 'cus_none' })).rejects.toMatchObject({
      code: 'resource_missing',
      param: 'starting_after',
    });
    await expect(bed.stripe.customers.list({ limit: 101 })).rejects.toMatchObject({ param: 'limit' });
  });

  it('expands ids, through lists and over levels, and refuses what is no id', async () => {
    const { customer, subscription } = await bed.subscriber();
    const [expanded] = (
      await bed.stripe.subscriptions.list({
        customer: customer.id,
        expand: ['data.customer', 'data.latest_invoice.payments'],
      })
    ).data;
    expect(expanded?.customer).toMatchObject({ email: 'owner@example.com', metadata: { account: '7' } });
    expect(expanded?.latest_invoice).toMatchObject({ payments: { data: [{ status: 'paid', amount_paid: 400 }] } });
    const invoice = await bed.stripe.invoices.retrieve(subscription.latest_invoice as string, {
      expand: ['payments.data.payment.payment_intent'],
    });
    expect(invoice.payments?.data[0]?.payment.payment_intent).toMatchObject({ status: 'succeeded', amount: 400 });
    const sub = await bed.stripe.subscriptions.retrieve(subscription.id, { expand: ['items.data.price.product'] });
    expect(sub.items.data[0]?.price.product).toMatchObject({ name: 'Further number' });
    for (const path of ['status', 'nothing', 'customer.email', 'a.b.c.d.e'])
      await expect(bed.stripe.subscriptions.retrieve(subscription.id, { expand: [path] })).rejects.toMatchObject({
        statusCode: 400,
      });
  });

  it('finds by search only what has been there for a while, as search is documented', async () => {
    const query = "metadata['account']:'search'";
    let wall = Date.now();
    const slow = await openTestBed({ wallMs: () => wall });
    await slow.stripe.customers.create({ metadata: { account: 'search' } });
    expect((await slow.stripe.customers.search({ query })).data).toEqual([]);
    wall += 1000;
    expect((await slow.stripe.customers.search({ query })).data).toHaveLength(1);
    await slow.close();
  });

  it('moves a lookup key only when that is requested', async () => {
    const params = {
      product: bed.price.product as string,
      currency: 'usd',
      unit_amount: 900,
      lookup_key: 'number',
      recurring: { interval: 'month' },
    } as const;
    await expect(bed.stripe.prices.create(params)).rejects.toMatchObject({ param: 'lookup_key' });
    const made = await bed.stripe.prices.create({ ...params, transfer_lookup_key: true });
    expect((await bed.stripe.prices.list({ lookup_keys: ['number'] })).data.map(({ id }) => id)).toEqual([made.id]);
  });

  it('with a live key makes live objects', async () => {
    const live = await openTestBed({ secretKey: 'sk_live_simulated' });
    expect(await clientOf(live.url, 'sk_live_simulated').customers.create({})).toMatchObject({ livemode: true });
    await live.close();
  });
});
