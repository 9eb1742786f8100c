import { itemOf, openEndpoint, openTestBed, type TestBed } from '../testing/test-bed.js';

const SECRET = 'whsec_known_beforehand';

describe('webhooks', () => {
  let bed: TestBed;
  let endpoint: Awaited<ReturnType<typeof openEndpoint>>;
  beforeEach(async () => {
    endpoint = await openEndpoint();
    bed = await openTestBed({ webhook: { url: endpoint.url, secret: SECRET } });
  });
  afterEach(async () => {
    await bed.close();
    await endpoint.close();
  });

  const types = () => endpoint.received.map(({ event }) => event.type);
  const has = (type: string) => () => types().includes(type);

  it('are signed so that the client accepts them, byte by byte', async () => {
    await bed.stripe.customers.create({ name: 'Zoë' });
    await endpoint.until(has('customer.created'));
    const { payload, signature } = endpoint.received.find(({ event }) => event.type === 'customer.created') ?? {
      payload: '',
      signature: '',
    };
    expect(bed.stripe.webhooks.constructEvent(payload, signature, SECRET).data.object).toMatchObject({ name: 'Zoë' });
    expect(() => bed.stripe.webhooks.constructEvent(`${payload} `, signature, SECRET)).toThrow('signature');
    expect(() => bed.stripe.webhooks.constructEvent(payload, signature, 'whsec_other')).toThrow('signature');
  });

  it('tell a purchase with the events that billing waits for, and what an update changed', async () => {
    const { subscription } = await bed.subscriber();
    await bed.stripe.subscriptions.update(
      subscription.id,
      { items: [{ id: itemOf(subscription).id, quantity: 2 }], proration_behavior: 'none' },
      { idempotencyKey: 'raise' },
    );
    const isRaised = () => endpoint.received.some(({ payload }) => payload.includes('"idempotency_key": "raise"'));
    await endpoint.until(() => isRaised() && has('checkout.session.completed')() && has('invoice.paid')());
    expect(types()).toEqual(
      expect.arrayContaining(['customer.subscription.created', 'payment_intent.succeeded', 'charge.succeeded']),
    );
    const raised = endpoint.received.find(({ payload }) => payload.includes('"raise"'));
    expect(raised?.event).toMatchObject({
      type: 'customer.subscription.updated',
      data: { previous_attributes: { items: {} } },
    });
  });

  it('go only to endpoints that want them, and none to one that is disabled or deleted', async () => {
    const other = await openEndpoint();
    const made = await bed.stripe.webhookEndpoints.create({ url: other.url, enabled_events: ['product.created'] });
    await bed.stripe.customers.create({});
    await bed.stripe.products.create({ name: 'Seen' });
    await other.until(() => other.received.length > 0);
    await bed.stripe.webhookEndpoints.update(made.id, { disabled: true });
    await bed.stripe.products.create({ name: 'Not seen' });
    await bed.stripe.webhookEndpoints.del(made.id);
    await bed.stripe.products.create({ name: 'Not seen either' });
    await endpoint.until(() => types().filter((type) => type === 'product.created').length >= 3);
    expect(other.received.map(({ event }) => event.type)).toEqual(['product.created']);
    await other.close();
  });

  it('are tried again until they are accepted, and then no more', async () => {
    await bed.control('PATCH', '/webhooks', { retryAfterMs: [0, 0, 0] });
    endpoint.state.status = 500;
    const customer = await bed.stripe.customers.create({});
    await endpoint.until(() => types().filter((type) => type === 'customer.created').length === 2);
    endpoint.state.status = 200;
    const isDone = async () => (await bed.control<{ pendingWebhooks: number }>('GET', '')).pendingWebhooks === 0;
    while (!(await isDone()));
    const attempts = endpoint.received.filter(({ payload }) => payload.includes(customer.id));
    expect(attempts.length).toBeGreaterThanOrEqual(3);
    expect(new Set(attempts.map(({ event }) => event.id)).size).toBe(1);
    expect((await bed.stripe.events.list({ type: 'customer.created', delivery_success: true })).data).toHaveLength(1);
  });

  it('are held until they are released, doubled, and lost', async () => {
    await bed.control('PATCH', '/webhooks', { mode: 'hold', isDoubled: true });
    await bed.stripe.customers.create({ name: 'held' });
    await bed.control('PATCH', '/webhooks', { mode: 'lose' });
    await bed.stripe.customers.create({ name: 'lost' });
    expect(await bed.control('GET', '')).toMatchObject({ heldWebhooks: 1 });
    expect(types()).not.toContain('customer.created');
    expect(await bed.control('POST', '/webhooks/release', {})).toEqual({ released: 1 });
    await endpoint.until(() => types().filter((type) => type === 'customer.created').length === 2);
    expect(endpoint.received.every(({ payload }) => !payload.includes('lost'))).toBe(true);
  });

  it.each([
    ['as they are sent', { isShuffled: true }, { isShuffled: false }],
    ['when they are released', { isShuffled: false }, { isShuffled: true }],
  ])('are shuffled %s: what was sent in order arrives in another', async (_, rules, release) => {
    await bed.control('PATCH', '/webhooks', { mode: 'hold', ...rules });
    for (let number = 0; number < 12; number += 1)
      await bed.stripe.customers.create({ description: `number ${number}` });
    await bed.control('POST', '/webhooks/release', release);
    await endpoint.until(() => types().filter((type) => type === 'customer.created').length === 12);
    const order = endpoint.received
      .flatMap(({ payload }) => /"description": "number (\d+)"/.exec(payload)?.[1] ?? [])
      .map(Number);
    expect(order).not.toEqual([...order].sort((a, b) => a - b));
  });

  it('are signed with both secrets after a rotation, for as long as was requested', async () => {
    const [{ id } = { id: '' }] = (await bed.stripe.webhookEndpoints.list()).data;
    const { secret } = await bed.control<{ secret: string }>('POST', `/webhook_endpoints/${id}/roll`, {
      keepForMs: 60_000,
    });
    await bed.stripe.customers.create({});
    await endpoint.until(has('customer.created'));
    const last = endpoint.received.at(-1) ?? { payload: '', signature: '' };
    for (const one of [SECRET, secret])
      expect(bed.stripe.webhooks.constructEvent(last.payload, last.signature, one).type).toBe('customer.created');
    const { secret: third } = await bed.control<{ secret: string }>('POST', `/webhook_endpoints/${id}/roll`, {
      keepForMs: 0,
    });
    await bed.stripe.products.create({ name: 'After' });
    await endpoint.until(() => endpoint.received.some(({ payload }) => payload.includes('"After"')));
    const after = endpoint.received.find(({ payload }) => payload.includes('"After"')) ?? {
      payload: '',
      signature: '',
    };
    expect(bed.stripe.webhooks.constructEvent(after.payload, after.signature, third).type).toBe('product.created');
  });

  it('of an event can be sent once more with changed fields, such as a live event to a test installation', async () => {
    await bed.stripe.customers.create({});
    const [event] = (await bed.stripe.events.list({ type: 'customer.created' })).data;
    expect(await bed.control('POST', `/events/${event?.id}/send`, { livemode: true })).toEqual({ answers: [200] });
    expect(endpoint.received.at(-1)?.event).toMatchObject({ id: event?.id, livemode: true });
  });
});
