import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OPERATOR_KEY, RunningControlPlane } from '../test-control-plane.js';

jest.setTimeout(60_000);

const SECRET = 'a secret of billing for specs only';
const RECORD = {
  ...{ plan: 'paid', status: 'active', numbers: 3, free: 1, bought: 2, limit: 2, period_end: 1_800_000_000 },
  ...{ price: { amount: 400, currency: 'usd' }, cancel_at_period_end: false, open: [] },
  next_invoice: { at: 1_800_000_000, numbers: 2, amount: 800, currency: 'usd' },
};

/** What billing received, and what it answers next. */
interface Played {
  path: string;
  authorization: string | undefined;
  body: Record<string, unknown>;
}

describe('GET /billing and what is bought', () => {
  let server: Server;
  let off: RunningControlPlane;
  let on: RunningControlPlane;
  let away: RunningControlPlane;
  const received: Played[] = [];
  let answer: { status: number; body: string; headers?: Record<string, string> } = { status: 200, body: '{}' };

  async function play(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    received.push({ path: request.url ?? '', authorization: request.headers.authorization, body });
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
  }

  beforeAll(async () => {
    server = createServer((request, response) => void play(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    [off, on, away] = await Promise.all([
      RunningControlPlane.open(),
      RunningControlPlane.open({}, {}, { url, secret: SECRET, timeoutMs: 5_000 }),
      RunningControlPlane.open({}, {}, { url: 'http://127.0.0.1:9', secret: SECRET, timeoutMs: 5_000 }),
    ]);
  });
  afterAll(async () => {
    server.close();
    await Promise.all([off.close(), on.close(), away.close()]);
  });

  const answering = (status: number, body: object | string, headers?: Record<string, string>): void => {
    answer = { status, body: typeof body === 'string' ? body : JSON.stringify(body), ...(headers && { headers }) };
  };

  it('answers that billing is off where it is, lists no invoices, and refuses to sell with a sentence', async () => {
    const { accountKey } = await off.newAccount();
    const read = await off.call(accountKey, 'GET', '/api/v1/billing');
    expect([read.status, read.body]).toMatchObject([200, { plan: 'off', bought: 0, open: [] }]);
    const invoices = await off.call(accountKey, 'GET', '/api/v1/billing/invoices');
    expect(invoices).toMatchObject({ status: 200, body: { invoices: [], next: null } });
    for (const [method, path, body] of [
      ['PATCH', '/api/v1/billing', { limit: 1 }],
      ['POST', '/api/v1/billing/preview', { numbers: 1 }],
      ['POST', '/api/v1/billing/checkout', {}],
      ['POST', '/api/v1/billing/portal', {}],
    ] as const) {
      const refused = await off.call(accountKey, method, path, { body });
      expect(refused).toMatchObject({
        status: 409,
        body: {
          error: { code: 409, message: 'billing is off', details: expect.stringContaining('every number') as string },
        },
      });
    }
  });

  it('names the account and who asks, under the secret, and passes on the record', async () => {
    const { accountKey, accountId, keyId } = await on.newAccount();
    answering(200, RECORD);
    expect((await on.call(accountKey, 'GET', '/api/v1/billing')).body).toEqual(RECORD);
    expect(received.at(-1)).toEqual({
      path: '/internal/billing/read',
      authorization: `Bearer ${SECRET}`,
      body: { accountId },
    });
    await on.call(accountKey, 'PATCH', '/api/v1/billing', {
      body: { limit: 3, preview: 'pre_1', accountId: 'acc_other' },
    });
    expect(received.at(-1)?.body).toMatchObject({
      accountId,
      change: { limit: 3, preview: 'pre_1' },
      requester: { actor: { kind: 'key', id: keyId } },
    });
    answering(200, { url: 'https://checkout.test/1' });
    const page = await on.call(accountKey, 'POST', '/api/v1/billing/checkout', { body: {} });
    expect([page.status, page.body]).toEqual([200, { url: 'https://checkout.test/1' }]);
    expect(received.at(-1)?.body).toMatchObject({ accountId, accountName: 'Spec', email: null, checkout: {} });
    expect(on.logged.join()).not.toContain('checkout.test');
    expect(on.logged.join()).not.toContain(SECRET);
  });

  it('names the channels of the numbers that count, those of its own account alone', async () => {
    const { accountKey, accountId } = await on.newAccount();
    const other = await on.newAccount();
    const add = (id: string, of: string) =>
      on.database.pool.query(
        `INSERT INTO channels (id, account_id, region, name, unsettled_since) VALUES ($1, $2, 'sg', 'Name of ' || $1::text, NULL)`,
        [id, of],
      );
    await Promise.all([add('OWN-11111', accountId), add('OTHER-11111', other.accountId)]);
    const number = { region: 'sg', first_linked_at: 1_800_000_000, place: 'free', standing: 'good' };
    answering(200, { numbers: ['OWN-11111', 'OTHER-11111'].map((channel) => ({ channel, ...number })), total: 2 });
    const { body } = await on.call(accountKey, 'GET', '/api/v1/billing/numbers?count=2&offset=1');
    expect(body).toEqual({
      numbers: [
        { channel: 'OWN-11111', ...number, name: 'Name of OWN-11111' },
        { channel: 'OTHER-11111', ...number },
      ],
      total: 2,
    });
    expect(received.at(-1)).toMatchObject({
      path: '/internal/billing/numbers',
      body: { accountId, count: 2, offset: 1 },
    });
    const free = await off.newAccount();
    expect((await off.call(free.accountKey, 'GET', '/api/v1/billing/numbers')).body).toEqual({ numbers: [], total: 0 });
  });

  it.each([
    ['PATCH', '/api/v1/billing', { limit: -1 }, 'limit'],
    ['PATCH', '/api/v1/billing', { limit: 1.5 }, 'limit'],
    ['PATCH', '/api/v1/billing', {}, 'limit'],
    ['POST', '/api/v1/billing/preview', { numbers: 0 }, 'numbers'],
    ['POST', '/api/v1/billing/checkout', { numbers: 'two' }, 'numbers'],
  ] as const)('%s %s refuses %j and names the field', async (method, path, body, field) => {
    const { accountKey } = await on.newAccount();
    const before = received.length;
    const { status, body: envelope } = await on.call(accountKey, method, path, { body });
    expect([status, envelope]).toMatchObject([
      400,
      { error: { details: expect.stringContaining(`${field}: `) as string } },
    ]);
    expect(received).toHaveLength(before);
  });

  it('passes on a refusal with its sentence and Retry-After', async () => {
    const { accountKey } = await on.newAccount();
    const envelope = {
      code: 503,
      message: 'the payment provider does not answer',
      details: 'repeat',
      href: '',
      support: '',
    };
    answering(503, { error: envelope }, { 'retry-after': '5' });
    const refused = await on.call(accountKey, 'POST', '/api/v1/billing/portal', { body: {} });
    expect([refused.status, refused.headers['retry-after'], refused.body]).toMatchObject([
      503,
      '5',
      { error: { message: 'the payment provider does not answer', details: 'repeat' } },
    ]);
  });

  it('answers 503 while billing is away, refuses its secret, or answers something strange; the rest goes on', async () => {
    const { accountKey } = await away.newAccount();
    const gone = await away.call(accountKey, 'GET', '/api/v1/billing');
    expect([gone.status, gone.headers['retry-after']]).toEqual([503, '5']);
    expect((await away.call(accountKey, 'GET', '/api/v1/channels')).status).toBe(200);
    const { accountKey: other } = await on.newAccount();
    for (const [status, body] of [
      [401, { error: { code: 401, message: 'secret missing', href: '', support: '' } }],
      [200, { plan: 'a plan of tomorrow' }],
      [200, 'no json'],
      [500, 'no envelope'],
    ] as const) {
      answering(status, body);
      expect((await on.call(other, 'GET', '/api/v1/billing')).status).toBe(503);
    }
  });

  it('has operators give an account free numbers, and nobody else', async () => {
    const { accountKey, accountId } = await on.newAccount();
    const path = `/api/v1/fleet/accounts/${accountId}/free-numbers`;
    const given = { free: 6, given: [] };
    answering(200, given);
    const body = { numbers: 5, reason: 'a promise', ends_at: 1_900_000_000 };
    expect(await on.call(OPERATOR_KEY, 'PUT', path, { body })).toMatchObject({ status: 200, body: given });
    expect(received.at(-1)).toMatchObject({
      path: '/internal/billing/give-free-numbers',
      body: { accountId, given: body, requester: { actor: { kind: 'operator', id: 'ada' } } },
    });
    expect((await on.call(OPERATOR_KEY, 'GET', path)).body).toEqual(given);
    expect((await on.call(OPERATOR_KEY, 'DELETE', path)).status).toBe(200);
    expect(received.at(-1)?.path).toBe('/internal/billing/end-free-numbers');
    const before = received.length;
    expect((await on.call(accountKey, 'PUT', path, { body })).status).toBe(403);
    expect((await on.call(OPERATOR_KEY, 'GET', '/api/v1/fleet/accounts/nobody/free-numbers')).status).toBe(404);
    const refused = await on.call(OPERATOR_KEY, 'PUT', path, { body: { numbers: 0, reason: 'x' } });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { details: expect.stringMatching(/^numbers: /) as string } },
    });
    expect(received).toHaveLength(before);
    const { accountId: free } = await off.newAccount();
    expect((await off.call(OPERATOR_KEY, 'GET', `/api/v1/fleet/accounts/${free}/free-numbers`)).status).toBe(409);
  });
});
