import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { hostileRequests, operationsOf, type HostileRequest } from '@dormouse/stack/test-hostile-requests';
import fc from 'fast-check';
import { schemaViolation } from './harness/contract.js';
import type { GatewayClient, GatewayResponse } from './harness/gateway-client.js';
import { RunningStack, type LinkedChannel } from './harness/running-stack.js';

interface Envelope {
  error: { code: number; message: string; details?: string; href: string; support: string };
}

/** All but that of health: limits are counted before anything else is looked at. */
const FEW_RATE_LIMITS = {
  RATE_SENDS: 'off',
  RATE_MESSAGE_ACTS: 'off',
  RATE_CONTACT_CHECKS: 'off',
  RATE_GROUP_WRITES: 'off',
  RATE_OTHER: 'off',
};

describe('bad requests get the error envelope and a sentence that helps', () => {
  let running: RunningStack;
  let client: GatewayClient;
  let token: string;

  beforeAll(async () => {
    running = await RunningStack.start({ env: { 'edge-api': FEW_RATE_LIMITS } });
    const channel = await running.management.createChannel('envelopes');
    token = channel.token;
    client = running.client(token);
  }, 120_000);

  afterAll(() => running.stop(), 60_000);

  const expectEnvelope = (response: GatewayResponse<Envelope>, status: number, anchor: string): void => {
    expect(response.status).toBe(status);
    expect(schemaViolation('ResponseError', response.body)).toBeUndefined();
    expect(response.body.error.code).toBe(status);
    expect(response.body.error.href).toMatch(new RegExp(`/errors#${anchor}$`));
    expect(response.headers['x-request-id']).toBeTruthy();
  };

  it.each([
    ['a plus sign', '+15550001111'],
    ['spaces', '1555 000 1111'],
    ['a foreign suffix', '15550001111@c.us'],
    ['a channel of the network', '120363000000000001@newsletter'],
    ['letters', 'ada'],
    ['nothing', ''],
  ])('recipient with %s: 400 naming "to"', async (_, to) => {
    const response = await client.post<Envelope>('/messages/text', { to, body: 'x' });
    expectEnvelope(response, 400, 'bad-request');
    expect(response.body.error.details).toMatch(/^to: /);
  });

  it('a missing body: 400 naming it', async () => {
    const response = await client.post<Envelope>('/messages/text', { to: '15550001111' });
    expectEnvelope(response, 400, 'bad-request');
    expect(response.body.error.details).toBe('body: required');
  });

  it('form data where JSON is expected: 400', async () => {
    const response = await client.request<Envelope>('POST', '/messages/text', {
      raw: { body: 'to=15550001111&body=x', contentType: 'application/x-www-form-urlencoded' },
    });
    expectEnvelope(response, 400, 'bad-request');
    expect(response.body.error.details).toBe('body: JSON expected');
  });

  it('multipart where JSON is expected: 400', async () => {
    const boundary = 'x-boundary';
    const response = await client.request<Envelope>('POST', '/messages/text', {
      raw: {
        body: `--${boundary}\r\ncontent-disposition: form-data; name="to"\r\n\r\n15550001111\r\n--${boundary}--\r\n`,
        contentType: `multipart/form-data; boundary=${boundary}`,
      },
    });
    expectEnvelope(response, 400, 'bad-request');
    expect(response.body.error.details).toBe('body: JSON expected');
  });

  it('JSON that does not parse: 400', async () => {
    const response = await client.request<Envelope>('POST', '/messages/text', {
      raw: { body: '{"to": ', contentType: 'application/json' },
    });
    expectEnvelope(response, 400, 'bad-request');
  });

  it('no token: 401', async () => {
    expectEnvelope(await running.client(undefined).get<Envelope>('/chats'), 401, 'unauthorized');
  });

  it('a truncated token: 401 with that reason', async () => {
    const response = await running.client(token.slice(0, -3)).get<Envelope>('/chats');
    expectEnvelope(response, 401, 'unauthorized');
    expect(response.body.error.details).toMatch(/truncated|incomplete|cut/);
  });

  it('a token with a trailing space: 401 with that reason', async () => {
    const response = await running.client(undefined).get<Envelope>(`/chats?token=${token}%20`);
    expectEnvelope(response, 401, 'unauthorized');
    expect(response.body.error.details).toMatch(/space/);
  });

  it('the token works in the query as well, and the header wins', async () => {
    expect((await running.client(undefined).get(`/chats?token=${token}`)).status).toBe(200);
    expect((await running.client('dm_sg_wrong').get(`/chats?token=${token}`)).status).toBe(401);
  });

  it('an unknown path: 501 naming it, but 401 without a token', async () => {
    const response = await client.get<Envelope>('/limits');
    expectEnvelope(response, 501, 'not-implemented');
    expect(response.body.error.message).toBe('GET /limits is not implemented');
    expectEnvelope(await running.client(undefined).get<Envelope>('/limits'), 401, 'unauthorized');
  });

  it('star and presence subscription: always 501, naming the template', async () => {
    const star = await client.request<Envelope>('PUT', '/messages/abcd-efgh/star');
    expectEnvelope(star, 501, 'not-implemented');
    expect(star.body.error.message).toBe('PUT /messages/{MessageID}/star is not implemented');
    const subscribe = await client.post<Envelope>('/presences/15550001111');
    expectEnvelope(subscribe, 501, 'not-implemented');
    expect(subscribe.body.error.message).toBe('POST /presences/{EntryID} is not implemented');
  });

  it('ids of nobody: 404 whatever their form', async () => {
    for (const path of ['/messages/list/15550009999', '/messages/nonsense', '/statuses/abcd-efgh', '/chats/nobody']) {
      expectEnvelope(await client.get<Envelope>(path), 404, 'not-found');
    }
  });

  it.each([
    ['/messages/list?count=501', 'count: must be between 1 and 500'],
    ['/messages/list?offset=-1', 'offset: must be 0 or more'],
    ['/chats?count=0', 'count: must be between 1 and 500'],
  ])('%s: 400 naming the parameter', async (path, details) => {
    const response = await client.get<Envelope>(path);
    expectEnvelope(response, 400, 'bad-request');
    expect(response.body.error.details).toBe(details);
  });

  it('double slashes, a trailing slash and an escaped @ are forgiven', async () => {
    for (const path of ['/messages//list', '/chats/', '//health/']) expect((await client.get(path)).status).toBe(200);
    expect((await client.get('/chats/15550009999%40s.whatsapp.net')).status).toBe(404);
  });

  it('settings that are out of range: 400 naming the field; unknown fields are ignored', async () => {
    const bad = await client.request<Envelope>('PATCH', '/settings', { body: { callback_backoff_delay_ms: 10 } });
    expectEnvelope(bad, 400, 'bad-request');
    expect(bad.body.error.details).toBe('callback_backoff_delay_ms: must be between 3000 and 15000');
    const good = await client.request<{ changes: string[] }>('PATCH', '/settings', {
      body: { success: true, auto_read: true },
    });
    expect(good.status).toBe(200);
    expect(good.body.changes).toEqual(['auto_read']);
    expect((await client.get('/settings')).body).toMatchObject({ auto_read: true, webhooks: [] });
  });

  it('too many requests: 429 with whole seconds to wait', async () => {
    const { client: hasty } = await running.createChannel('hasty');
    const answers = await Promise.all(Array.from({ length: 200 }, () => hasty.get<Envelope>('/health')));
    const refused = answers.find(({ status }) => status === 429);
    if (!refused) throw new Error('never refused');
    expectEnvelope(refused, 429, 'rate-limit');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  describe('whatever a request holds, with a number that is linked', () => {
    /** By hand, for longer: `FUZZ_RUNS=200 FUZZ_SEED=7`. */
    const numRuns = Number(process.env['FUZZ_RUNS'] ?? 20);
    const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_129);
    const document = JSON.parse(
      readFileSync(new URL('../../../libs/gateway-contract/openapi/contract.json', import.meta.url), 'utf8'),
    ) as Record<string, unknown>;
    const operations = operationsOf(document);
    const agent = new Agent({ keepAlive: true });
    let linked: LinkedChannel;
    /** What gets an operation past its checks, to the network. */
    const plausible: Record<string, unknown> = {
      body: 'x',
      title: 'x',
      name: 'Example',
      vcard: 'BEGIN:VCARD\nVERSION:3.0\nFN:Example\nEND:VCARD',
      latitude: 1,
      longitude: 1,
      options: ['a', 'b'],
      media:
        'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      subject: 'x',
      presence: 'typing',
      archive: true,
      emoji: 'x',
    };

    beforeAll(async () => {
      linked = await running.createLinkedChannel('Olive Owner');
      const ada = await running.network.createPhone({ name: 'Ada' });
      const sent = await linked.client.post<{ message: { id: string; chat_id: string } }>('/messages/text', {
        to: ada.phone,
        body: 'x',
      });
      const group = await linked.client.post<{ group_id: string }>('/groups', {
        subject: 'x',
        participants: [ada.phone],
      });
      Object.assign(plausible, {
        MessageID: sent.body.message.id,
        ChatID: sent.body.message.chat_id,
        ContactID: ada.phone,
        EntryID: ada.phone,
        GroupID: group.body.group_id,
        to: ada.phone,
        participants: [ada.phone],
        contacts: [ada.phone],
        quoted: sent.body.message.id,
      });
    }, 60_000);
    afterAll(() => agent.destroy());

    it.each(
      operations.filter(({ route }) => route !== 'POST /users/logout').map((each) => [each.route, each] as const),
    )(
      '%s is answered, or refused with the envelope, and no failure of ours; the number sends as before',
      async (_route, operation) => {
        const faults = (await running.workerLog('session fault')).length;
        await fc.assert(
          fc.asyncProperty(hostileRequests(operation, plausible), async (given) => {
            const { status, text } = await send(given);
            if (status >= 200 && status < 300) return;
            expect([status < 500 || status === 501, text]).toEqual([true, text]);
            expect(schemaViolation('ResponseError', JSON.parse(text))).toBeUndefined();
          }),
          { seed, numRuns, endOnFailure: true },
        );
        const { status } = await linked.client.post('/messages/text', { to: plausible['to'], body: 'still here' });
        expect(status).toBe(200);
        expect(await running.workerLog('session fault')).toHaveLength(faults);
      },
      60_000,
    );

    function send({ method, path, headers, body }: HostileRequest): Promise<{ status: number; text: string }> {
      return new Promise((resolve, reject) => {
        const sent = request(`${running.edgeUrl}/`, {
          agent,
          method,
          path,
          headers: {
            ...headers,
            authorization: `Bearer ${linked.client.token}`,
            ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
          },
        });
        sent.once('error', reject).once('response', (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
          answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text })).once('error', reject);
        });
        sent.end(body);
      });
    }
  });
});
