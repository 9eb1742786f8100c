import { openLog, Probes } from '@dormouse/bootstrap';
import { claimTestRedis, createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from '../billing.js';
import { Regions } from '../regions/regions.js';
import { setUpStripe } from '../setup/setup.js';
import { RunningStripeSide } from '../test-stripe-side.js';

jest.setTimeout(60_000);

const SECRET = 'a secret of thirty-two characters';

describe('billing over HTTP', () => {
  let running: RunningStripeSide;
  let app: NestFastifyApplication;
  let redis: Redis;
  let regions: Regions;
  let stores: TestStore[];
  let webhookSecret: string;

  beforeAll(async () => {
    running = await RunningStripeSide.open();
    stores = await Promise.all([createTestDatabase('regional'), claimTestRedis()]);
    const [regional, redisStore] = stores;
    redis = openRedis({ url: redisStore?.url ?? '', name: 'billing-spec' });
    regions = new Regions(new Map([['sg', { databaseUrl: regional?.url ?? '' }]]), 2);
    const probes = new Probes({ app: 'billing', checks: {} });
    const secrets: string[] = [];
    app = await createApp(
      {
        ...{ database: running.database, redis, regions, regionPollMs: 200, secret: SECRET },
        rules: { isOn: true, freeNumbers: 1, graceMs: 259_200_000 },
        stripe: { ...running.settings, webhookSecrets: secrets },
        nowMs: () => Date.now(),
        metrics: probes.metrics,
        log: openLog({ name: 'spec', level: 'silent' }),
      },
      { site: { docsUrl: 'https://docs.test', supportAddress: 'help@test' }, probes },
    );
    await app.listen(0, '127.0.0.1');
    const webhookUrl = `${await app.getUrl()}/stripe/webhook`;
    webhookSecret =
      (await setUpStripe(running.stripe, { unitAmount: 400, currency: 'usd', webhookUrl })).webhookSecret ?? '';
    secrets.push(webhookSecret);
  });
  afterAll(async () => {
    await app.close();
    await closeRedis(redis);
    await regions.close();
    await running.close();
    await Promise.all(stores.map((store) => store.drop()));
  });

  const post = (url: string, payload: string, headers: Record<string, string>) =>
    app.inject({ method: 'POST', url, payload, headers: { 'content-type': 'application/json', ...headers } });

  const call = async (name: string, body: object, secret = SECRET) => {
    const response = await post(`/internal/billing/${name}`, JSON.stringify(body), {
      authorization: `Bearer ${secret}`,
    });
    return { status: response.statusCode, body: JSON.parse(response.payload) as Record<string, unknown> };
  };

  async function storedEvents(): Promise<number> {
    const { rows } = await running.database.pool.query<{ count: string }>('SELECT count(*) FROM stripe_events');
    return Number(rows[0]?.count);
  }

  it('serves a number that is paid for on the hosted page after one webhook, without anybody looking', async () => {
    const accountId = running.newAccount();
    await running.link(accountId, 2);
    const { url } = await running.checkOut(accountId);
    await running.pay(url);
    let record = await call('read', { accountId });
    while (record.body['bought'] !== 1) {
      await new Promise((resolve) => setImmediate(resolve));
      record = await call('read', { accountId });
    }
    expect(record.body).toMatchObject({ plan: 'paid', status: 'active', numbers: 2, free: 1 });
    const standings = async () =>
      (
        await running.database.pool.query<{ standing: string }>(
          'SELECT standing FROM channel_standings WHERE account_id = $1',
          [accountId],
        )
      ).rows.map(({ standing }) => standing);
    while ((await standings()).join() !== 'good,good') await new Promise((resolve) => setImmediate(resolve));
  });

  it('stores an event once, however often it comes', async () => {
    const events = await running.stripe.events.list({ limit: 1 });
    const before = await storedEvents();
    const id = events.data[0]?.id ?? '';
    await running.control('POST', `/events/${id}/send`);
    await running.control('POST', `/events/${id}/send`);
    expect((await storedEvents()) - before).toBeLessThanOrEqual(1);
  });

  it('refuses forged, stale and unsigned events, and live ones at a test installation, with 400, and stores nothing', async () => {
    const payload = JSON.stringify({
      ...{ id: 'evt_forged', object: 'event', type: 'invoice.paid', created: 1, livemode: false },
      data: { object: { id: 'in_1', customer: 'cus_1' } },
    });
    const signed = (secret: string, body = payload, timestamp = Math.floor(Date.now() / 1_000)) =>
      running.stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
    const live = payload.replace('"livemode":false', '"livemode":true');
    const tries: [string, Record<string, string>][] = [
      [payload, {}],
      [payload, { 'stripe-signature': signed('whsec_of_somebody_else') }],
      [payload, { 'stripe-signature': signed(webhookSecret, payload, 1_700_000_000) }],
      [`${payload} `, { 'stripe-signature': signed(webhookSecret) }],
      [live, { 'stripe-signature': signed(webhookSecret, live) }],
      ['not json', { 'stripe-signature': signed(webhookSecret, 'not json') }],
    ];
    const before = await storedEvents();
    for (const [body, headers] of tries) {
      const response = await post('/stripe/webhook', body, headers);
      expect([response.statusCode, (JSON.parse(response.payload) as { error: { code: number } }).error.code]).toEqual([
        400, 400,
      ]);
    }
    expect(await storedEvents()).toBe(before);
    const good = await post('/stripe/webhook', payload, { 'stripe-signature': signed(webhookSecret) });
    expect(good.statusCode).toBe(200);
    expect(await storedEvents()).toBe(before + 1);
  });

  it('lets in the control plane alone, and names what is wrong with its bodies', async () => {
    const accountId = running.newAccount();
    expect((await call('read', { accountId }, 'another secret')).status).toBe(401);
    expect((await app.inject({ method: 'POST', url: '/internal/billing/read' })).statusCode).toBe(401);
    const { status, body } = await call('preview', { accountId, preview: { numbers: 0 } });
    expect([status, body]).toMatchObject([400, { error: { details: expect.stringContaining('numbers') as string } }]);
  });

  it('answers 503 with the envelope and Retry-After while Stripe is away, and reading goes on', async () => {
    const accountId = running.newAccount();
    await running.control('POST', '/away', { isAway: true });
    const body = JSON.stringify({ accountId, preview: { numbers: 1 } });
    const fresh = await post(
      '/internal/billing/checkout',
      JSON.stringify({
        ...{ accountId, checkout: {}, accountName: 'Spec', email: null },
        requester: { actor: { kind: 'user', id: 'usr_1' } },
      }),
      { authorization: `Bearer ${SECRET}` },
    );
    expect([fresh.statusCode, fresh.headers['retry-after']]).toEqual([503, '5']);
    expect(JSON.parse(fresh.payload)).toMatchObject({
      error: { code: 503, message: 'the payment provider does not answer' },
    });
    expect((await call('read', { accountId })).status).toBe(200);
    await running.control('POST', '/away', { isAway: false });
    expect((await post('/internal/billing/preview', body, { authorization: `Bearer ${SECRET}` })).statusCode).toBe(200);
  });
});
