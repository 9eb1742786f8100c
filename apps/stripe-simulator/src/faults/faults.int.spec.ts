import { clientOf, openEndpoint, openTestBed, type TestBed } from '../testing/test-bed.js';

describe('faults', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await openTestBed();
  });
  afterEach(() => bed.close());

  const create = (key?: string) => bed.stripe.customers.create({}, key === undefined ? {} : { idempotencyKey: key });
  const count = async () => (await bed.stripe.customers.list({ limit: 100 })).data.length;

  it('fail one request in so many, drawn the same for the same seed, with nothing done', async () => {
    const draw = async () => {
      const seeded = await openTestBed({ seed: 5 });
      await seeded.control('POST', '/faults', { kind: 'fail', oneIn: 5, path: '/v1/customers', method: 'POST' });
      const outcomes = [];
      for (let number = 0; number < 40; number += 1)
        outcomes.push(
          await seeded.stripe.customers.create({}).then(
            () => 1,
            () => 0,
          ),
        );
      const made = (await seeded.stripe.customers.list({ limit: 100 })).data.length;
      await seeded.close();
      return { outcomes, made };
    };
    const [one, two] = [await draw(), await draw()];
    expect(one.outcomes).toEqual(two.outcomes);
    expect(one.made).toBe(one.outcomes.filter((outcome) => outcome === 1).length);
    expect(one.made).toBeGreaterThan(20);
    expect(one.made).toBeLessThan(40);
  });

  it('fail with nothing kept under the key: the same request works when it is sent again', async () => {
    await bed.control('POST', '/faults', { kind: 'fail', times: 1, status: 503 });
    await expect(create('k')).rejects.toMatchObject({ statusCode: 503, type: 'StripeAPIError' });
    await create('k');
    expect(await count()).toBe(1);
  });

  it('fail with the answer kept: under that key the failure comes again, under another it works', async () => {
    await bed.control('POST', '/faults', { kind: 'fail_kept', times: 1, method: 'POST' });
    await expect(create('k')).rejects.toMatchObject({ statusCode: 500 });
    await expect(create('k')).rejects.toMatchObject({ statusCode: 500 });
    await create('l');
    expect(await count()).toBe(1);
  });

  it('drop the answer after having acted', async () => {
    // The client repeats a request whose connection closed once, whatever its settings are.
    await bed.control('POST', '/faults', { kind: 'drop_answer', times: 2 });
    await expect(create('k')).rejects.toMatchObject({ type: 'StripeConnectionError' });
    expect(await count()).toBe(1);
  });

  it('limit the rate, which the client does not try again by itself', async () => {
    await bed.control('POST', '/faults', { kind: 'rate_limit', times: 1 });
    const patient = clientOf(bed.url, 'sk_test_simulated', { maxNetworkRetries: 2 });
    await expect(patient.customers.create({})).rejects.toMatchObject({ statusCode: 429, type: 'StripeRateLimitError' });
  });

  it('slow a request down by as much as they say', async () => {
    await bed.control('POST', '/faults', { kind: 'slow', delayMs: 300, times: 1 });
    const start = performance.now();
    await create();
    expect(performance.now() - start).toBeGreaterThanOrEqual(295);
  });

  it('are for a method and the beginning of a path only, and end when they are cleared', async () => {
    await bed.control('POST', '/faults', { kind: 'fail', method: 'POST', path: '/v1/subscriptions' });
    await create();
    await expect(bed.stripe.subscriptions.update('sub_none', {})).rejects.toMatchObject({ statusCode: 500 });
    await bed.control('DELETE', '/faults');
    await expect(bed.stripe.subscriptions.update('sub_none', {})).rejects.toMatchObject({ statusCode: 404 });
  });

  it('away: neither API nor pages answer and no webhook is sent, and all goes on afterwards', async () => {
    const endpoint = await openEndpoint();
    await bed.stripe.webhookEndpoints.create({ url: endpoint.url, enabled_events: ['customer.created'] });
    await bed.control('PATCH', '/webhooks', { mode: 'hold' });
    await create();
    await bed.control('POST', '/away', { isAway: true });
    await expect(create()).rejects.toMatchObject({ type: 'StripeConnectionError' });
    await expect(fetch(`${bed.url}/c/pay/cs_test_1`)).rejects.toThrow('fetch failed');
    await bed.control('POST', '/webhooks/release', {});
    expect(await bed.control('GET', '')).toMatchObject({ isAway: true, pendingWebhooks: 1 });
    expect(endpoint.received).toEqual([]);
    await bed.control('POST', '/away', { isAway: false });
    await endpoint.until(() => endpoint.received.length === 1);
    expect(await count()).toBe(1);
    await endpoint.close();
  });

  it('are refused when they are misspelt', async () => {
    await expect(bed.control('POST', '/faults', { kind: 'break' })).rejects.toThrow('400');
    await expect(bed.control('POST', '/faults', { kind: 'fail', onein: 5 })).rejects.toThrow('onein');
  });
});
