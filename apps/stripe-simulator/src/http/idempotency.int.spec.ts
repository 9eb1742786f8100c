import { clientOf, itemOf, openTestBed, type TestBed } from '../testing/test-bed.js';

describe('idempotency keys', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await openTestBed();
  });
  afterEach(() => bed.close());

  /** A raw request, so that headers and in-flight answers can be seen. */
  const post = (path: string, body: string, key: string) =>
    fetch(`${bed.url}${path}`, {
      method: 'POST',
      headers: {
        ...{ authorization: 'Bearer sk_test_simulated', 'content-type': 'application/x-www-form-urlencoded' },
        'idempotency-key': key,
      },
      body,
    });
  const customers = async () => (await bed.stripe.customers.list({ limit: 100 })).data.length;

  it('give the same answer again and do it once, whatever the order of the parameters', async () => {
    const first = await post('/v1/customers', 'email=a@b.co&name=A', 'k');
    const again = await post('/v1/customers', 'name=A&email=a@b.co', 'k');
    expect(await again.json()).toEqual(await first.json());
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('original-request')).toBe(first.headers.get('request-id'));
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(await customers()).toBe(1);
  });

  it.each([
    ['another body', '/v1/customers', 'email=c@b.co'],
    ['another endpoint', '/v1/products', 'name=A'],
  ])('are refused with 400 for %s', async (_, path, body) => {
    await post('/v1/customers', 'email=a@b.co', 'k');
    const refused = await post(path, body, 'k');
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { type: 'idempotency_error' } });
  });

  it('are refused with 409 while the first request is under way, which the client tries again until it gets that answer', async () => {
    await bed.control('POST', '/faults', { kind: 'hold', method: 'POST', path: '/v1/customers', times: 1 });
    const first = bed.stripe.customers.create({ email: 'a@b.co' }, { idempotencyKey: 'k' });
    while ((await bed.control<{ heldRequests: number }>('GET', '')).heldRequests === 0);
    const second = await post('/v1/customers', 'email=a@b.co', 'k');
    expect(second.status).toBe(409);
    expect(second.headers.get('stripe-should-retry')).toBe('true');
    expect(await second.json()).toMatchObject({ error: { code: 'idempotency_key_in_use' } });
    const patient = clientOf(bed.url, 'sk_test_simulated', { maxNetworkRetries: 5 });
    const third = patient.customers.create({ email: 'a@b.co' }, { idempotencyKey: 'k' });
    await bed.control('POST', '/requests/release', {});
    expect((await third).id).toBe((await first).id);
    expect(await customers()).toBe(1);
  });

  it('keep errors of what was begun, and forget requests that were never begun', async () => {
    const declined = () => post('/v1/payment_methods/pm_card_chargeDeclined/attach', 'customer=cus_none', 'd');
    expect((await declined()).status).toBe(400);
    expect((await declined()).headers.get('idempotent-replayed')).toBe('true');
    expect((await post('/v1/customers', 'unknown=1', 'v')).status).toBe(400);
    expect((await post('/v1/customers', 'email=a@b.co', 'v')).status).toBe(200);
  });

  it('charge once when the answer is lost: the client tries again and learns what was done', async () => {
    const { subscription } = await bed.subscriber();
    await bed.control('POST', '/faults', { kind: 'drop_answer', path: '/v1/subscriptions', method: 'POST', times: 1 });
    const patient = clientOf(bed.url, 'sk_test_simulated', { maxNetworkRetries: 2 });
    const changed = await patient.subscriptions.update(subscription.id, {
      ...{ items: [{ id: itemOf(subscription).id, quantity: 2 }], proration_behavior: 'always_invoice' },
    });
    expect(itemOf(changed).quantity).toBe(2);
    expect((await bed.stripe.charges.list({ limit: 100 })).data.map(({ amount }) => amount)).toEqual([400, 400]);
  });

  it('are forgotten after a day', async () => {
    await post('/v1/customers', 'email=a@b.co', 'k');
    await bed.advance(86_401);
    expect((await post('/v1/customers', 'email=c@b.co', 'k')).status).toBe(200);
  });
});
