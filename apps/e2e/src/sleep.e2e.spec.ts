import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { eventually } from './harness/eventually.js';
import { type LinkedChannel, RunningStack } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { placesOf, TraceCollector } from './harness/trace-collector.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

/** Short enough for a journey. */
const QUICK = {
  'session-worker': { SLEEP_CHECK_EVERY_MS: '200', SLEEP_QUIET_IDLE_AFTER_MS: '2000', LOG_LEVEL: 'debug' },
};
const NO_LIMITS = { 'edge-api': { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' } };
/** What a customer sees of a number is there whether it sleeps or not; everything else of it is not. */
const HISTORY = new Set(['chats', 'contacts', 'event_sequences', 'events', 'group_syncs', 'groups', 'messages']);
const LEDGERS = new Set(['receipts', 'row_counts', 'stored_numbers', 'webhook_cursors', 'webhook_secrets']);
const HIBERNATED = { code: 4, text: 'connected', hibernated: true };

describe('numbers that sleep', () => {
  let running: RunningStack;
  let database: pg.Client;
  let friend: VirtualPhone;
  let sleeper: LinkedChannel;
  let collector: TraceCollector;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    collector = await TraceCollector.start();
    receiver = await WebhookReceiver.start();
    const { switches } = collector;
    const env = {
      'session-worker': { ...QUICK['session-worker'], ...switches },
      'edge-api': { ...NO_LIMITS['edge-api'], ...switches },
      'webhook-dispatcher': switches,
      'control-plane': switches,
    };
    running = await RunningStack.start({ workers: 2, env });
    database = new pg.Client({ connectionString: running.stack.databases.sg });
    await database.connect();
    friend = await running.network.createPhone();
    sleeper = await running.createLinkedChannel('sleeper');
  }, 180_000);

  afterAll(async () => {
    await database.end();
    await running.stop();
    await receiver.close();
    await collector.close();
  }, 60_000);

  const untilAsleep = () =>
    eventually(
      async () => {
        const asleep = await database.query(`SELECT 1 FROM channels WHERE id = $1 AND session_state = 'hibernated'`, [
          sleeper.id,
        ]);
        return asleep.rowCount === 1;
      },
      { what: 'the number sleeps', withinMs: 60_000 },
    );

  const isConnected = async (): Promise<boolean> =>
    (await sleeper.phone.devices()).some(({ device, online }) => device === sleeper.device && online);

  const send = async (text: string): Promise<void> => {
    const { status } = await sleeper.client.post('/messages/text', { to: friend.phone, body: text });
    expect(status).toBe(200);
    await friend.waitFor({ text });
  };

  /** The tables of the regional database that hold rows of the number, its record and what customers see left out. */
  const tablesOfTheSession = async (): Promise<string[]> => {
    const { rows: tables } = await database.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name = 'channel_id' ORDER BY table_name`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      if (HISTORY.has(name) || LEDGERS.has(name)) continue;
      const { rowCount } = await database.query(`SELECT 1 FROM "${name}" WHERE channel_id = $1`, [sleeper.id]);
      if (rowCount !== 0) found.push(name);
    }
    return found;
  };

  it('are healthy, have no connection and no rows, and are not woken by reads', async () => {
    await send('before the first sleep');
    expect(await tablesOfTheSession()).toEqual(['auth_creds', 'auth_keys', 'channel_keys']);
    await untilAsleep();
    expect((await sleeper.client.get<{ status: object }>('/health')).body.status).toEqual(HIBERNATED);
    expect(await isConnected()).toBe(false);
    expect(await tablesOfTheSession()).toEqual([]);
    for (const path of ['/health', '/settings', '/messages/list', '/chats']) {
      expect((await sleeper.client.get(path)).status).toBe(200);
    }
    expect((await sleeper.client.request('PATCH', '/settings', { body: { auto_read: false } })).status).toBe(200);
    expect(await isConnected()).toBe(false);
  }, 120_000);

  it('wake for a send, which is accepted, and receive what came meanwhile', async () => {
    await send('before the sleep');
    await untilAsleep();
    await friend.send(sleeper.phone.phone, 'while you slept');
    await send('after the sleep');
    await eventually(
      async () => {
        const { body } = await sleeper.client.get<{ messages: { text?: { body: string } }[] }>('/messages/list');
        return body.messages.some(({ text }) => text?.body === 'while you slept');
      },
      { what: 'the message that came meanwhile' },
    );
  }, 60_000);

  it('keep every ratchet over some rounds with traffic both ways: neither side requests a message again', async () => {
    for (const round of [1, 2, 3]) {
      await send(`before sleep ${round}`);
      await untilAsleep();
      await friend.send(sleeper.phone.phone, `during sleep ${round}`);
      await send(`after sleep ${round}`);
    }
    const received = await eventually(
      async () => {
        const { body } = await sleeper.client.get<{ messages: { text?: { body: string } }[] }>('/messages/list');
        const texts = body.messages.flatMap(({ text }) => (text?.body.startsWith('during sleep') ? [text.body] : []));
        return texts.length >= 3 && texts;
      },
      { what: 'what came during each sleep' },
    );
    expect(received.toSorted()).toEqual(['during sleep 1', 'during sleep 2', 'during sleep 3']);
    expect(await friend.unreadable()).toEqual([]);
    expect(await running.workerLog('failed to decrypt message')).toEqual([]);
  }, 120_000);

  it('sleep on while the workers are replaced, and wake under the new owner', async () => {
    await send('before the replacement');
    await untilAsleep();
    await running.stack.restart('session-worker');
    expect(await isConnected()).toBe(false);
    await eventually(
      async () => (await sleeper.client.post('/messages/text', { to: friend.phone, body: 'new owner' })).status === 200,
      { what: 'a send under the new owner', withinMs: 60_000 },
    );
    expect((await friend.messages()).filter(({ text }) => text === 'new owner')).toHaveLength(1);
    expect((await running.network.connections()).overlaps).toBe(0);
  }, 180_000);

  it('keep the state of their chats, and apply what the phone changed meanwhile', async () => {
    await send('before the change');
    const chat = `${friend.phone}@s.whatsapp.net`;
    const archived = await sleeper.client.request('PATCH', `/chats/${chat}`, { body: { archive: true } });
    expect(archived.status).toBe(200);
    await untilAsleep();
    await running.network.call('POST', `/phones/${sleeper.phone.phone}/chats`, { chat: friend.phone, pinned: true });
    expect((await sleeper.client.get(`/chats/${chat}`)).body).toMatchObject({ archive: true, pin: false });
    await send('awake again');
    await eventually(
      async () => {
        const { archive, pin } = (await sleeper.client.get<{ archive: boolean; pin: boolean }>(`/chats/${chat}`)).body;
        return archive && pin;
      },
      { what: 'what the phone changed' },
    );
  }, 120_000);

  it('are woken in one trace, from the request to the webhook', async () => {
    await untilAsleep();
    const events = ['messages', 'statuses'].map((type) => ({ type, method: 'post' }));
    await sleeper.client.request('PATCH', '/settings', { body: { webhooks: [{ url: receiver.url, events }] } });
    const traceId = randomBytes(16).toString('hex');
    const parentSpanId = 'b7ad6b7169203331';
    const headers = { traceparent: `00-${traceId}-${parentSpanId}-01`, 'x-request-id': 'the-traced-request' };
    const text = { to: friend.phone, body: 'a text that no span has' };
    expect((await sleeper.client.post('/messages/text', text, { headers })).status).toBe(200);

    const request = 'edge-api: POST /messages/text';
    const command = `${request} > send commands.{shard} > session-worker: process commands.{shard}`;
    const event = `${command} > send events > webhook-dispatcher: process events`;
    const calls = `${event} > POST`;
    const spans = await collector.trace(traceId, (all) => all.filter((place) => place === calls).length === 2);
    const ways = [
      request,
      command,
      `${command} > lane`,
      `${command} > wake`,
      `${command} > send network`,
      event,
      calls,
    ];
    expect(placesOf(spans)).toEqual(expect.arrayContaining(ways));
    const first = spans.filter(({ parentSpanId: of }) => !spans.some(({ spanId }) => spanId === of));
    expect(first.map((span) => [span.name, span.parentSpanId])).toEqual([['POST /messages/text', parentSpanId]]);
    const posts = spans.filter((span) => span.service === 'webhook-dispatcher' && span.name === 'POST');
    // What the network reports of the message is a trace of its own, and makes calls as well.
    const received = receiver.calls.map((call) => String(call.headers['traceparent']));
    expect(received.filter((each) => each.includes(traceId)).toSorted()).toEqual(
      posts.map(({ spanId }) => `00-${traceId}-${spanId}-01`).toSorted(),
    );
    const answered = await running.workerLog<{ requestId?: string; trace_id?: string }>('command answered');
    expect(answered.filter(({ trace_id: of }) => of === traceId)).toMatchObject([{ requestId: 'the-traced-request' }]);
  }, 60_000);

  /** What every span of this file may say; see `SpanFacts`. */
  it('have spans that hold no content, no token and nobody\u2019s number', async () => {
    await send('a text that no span has');
    await collector.trace(collector.spans.at(-1)?.traceId ?? '', (all) => all.length > 0);
    const keys = new Set(collector.spans.flatMap(({ attributes }) => attributes.map(({ key }) => key)));
    expect([...keys].filter((key) => !/^(http|server|messaging|dormouse|error)\.[a-z._]+$/.test(key))).toEqual([]);
    expect(keys.size).toBeGreaterThan(8);
    const written = JSON.stringify(collector.spans);
    const secrets = [
      sleeper.client.token ?? '',
      friend.phone,
      sleeper.phone.phone,
      'a text that no span has',
      '@s.wh',
      '/hook',
    ];
    for (const secret of secrets) expect(written).not.toContain(secret);
  }, 60_000);
});
