import { GatewayError, toErrorReply } from '@dormouse/gateway-contract';
import type { CommandReply, ReceivedCommand } from '@dormouse/queues';
import { IdempotencyKeys } from './idempotency-keys.js';
import { RunningEdge, type TestChannel } from '../test-edge.js';

jest.setTimeout(30_000);

const SEND = 'POST /messages/text';
const hello = { to: '15550001111', body: 'Hello' };
const refuse = (...facts: ConstructorParameters<typeof GatewayError>): CommandReply => ({
  ok: false,
  error: toErrorReply(new GatewayError(...facts)),
});

describe('Idempotency-Key', () => {
  let edge: RunningEdge;
  let channel: TestChannel;
  let seen: ReceivedCommand[];
  let reply: () => CommandReply;
  beforeAll(async () => {
    edge = await RunningEdge.start({ RATE_SENDS: 'off' });
    await edge.ready();
  });
  afterAll(() => edge.stop());
  beforeEach(async () => {
    channel = await edge.channel();
    seen = [];
    reply = () => ({ ok: true, result: { sent: true, message: { id: `answer ${seen.length}` } } });
    edge.worker(channel, (command) => (seen.push(command), reply()));
  });

  const send = (key: string, body: unknown = hello, route = SEND) =>
    edge.ask(route, { token: channel.token, body, headers: { 'idempotency-key': key } });
  const age = (interval: string) =>
    edge.database.pool.query(
      `UPDATE idempotency_keys SET created_at = created_at - $2::interval WHERE channel_id = $1`,
      [channel.id, interval],
    );

  it('gives the same request the first answer, and sends it once', async () => {
    const first = await send('order-1');
    expect(first).toMatchObject({ status: 200, json: { sent: true, message: { id: 'answer 1' } } });
    const again = await send('order-1', { body: 'Hello', to: '15550001111', quoted: null });
    expect(again).toMatchObject({ status: 200, json: first.json });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.sendAs).toMatch(/^[0-9a-f]{64}$/);
  });

  it('names the header when the key is in use for another body or another endpoint', async () => {
    await send('order-1');
    const details = 'Idempotency-Key: in use for another request';
    expect((await send('order-1', { ...hello, body: 'Other' })).error).toMatchObject({ code: 400, details });
    const contact = { to: '15550001111', name: 'Ada', vcard: 'BEGIN:VCARD' };
    expect((await send('order-1', contact, 'POST /messages/contact')).error).toMatchObject({ code: 400, details });
    expect((await send('x'.repeat(256))).error.details).toBe('Idempotency-Key: must have 1 to 255 characters');
    expect(seen).toHaveLength(1);
  });

  it('lets a try with an unknown outcome be repeated, under the same name', async () => {
    const replies = [refuse(502), refuse(503, { details: 'waking' }), refuse(429, { retryAfterS: 1 })];
    reply = () => replies.shift() ?? { ok: true, result: { sent: true } };
    const statuses = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await send('order-1')).status);
    expect(statuses).toEqual([502, 503, 429, 200, 200]);
    expect(new Set(seen.map(({ sendAs }) => sendAs)).size).toBe(1);
    expect(seen).toHaveLength(4);
  });

  it('keeps a refusal of the request itself', async () => {
    const replies = [refuse(404, { details: 'quoted: no such message' })];
    reply = () => replies.shift() ?? { ok: true, result: { sent: true } };
    for (let n = 0; n < 2; n += 1) {
      expect((await send('order-1')).error).toMatchObject({ code: 404, details: 'quoted: no such message' });
    }
    expect(seen).toHaveLength(1);
  });

  it('is over after 24 h: the key may be used for something else', async () => {
    await send('order-1');
    await age('23 hours 59 minutes');
    expect((await send('order-1', { ...hello, body: 'Other' })).status).toBe(400);
    await age('2 minutes');
    expect((await send('order-1', { ...hello, body: 'Other' })).status).toBe(200);
  });

  it('is forgotten by the sweep when it is over, and not before', async () => {
    await send('order-1');
    const count = async () => {
      await new IdempotencyKeys(edge).sweep();
      const { rows } = await edge.database.pool.query('SELECT FROM idempotency_keys WHERE channel_id = $1', [
        channel.id,
      ]);
      return rows.length;
    };
    expect(await count()).toBe(1);
    await age('25 hours');
    expect(await count()).toBe(0);
  });

  it('is forgotten by the sweep when its channel was deleted', async () => {
    const other = await edge.channel();
    edge.worker(other, (command) => (seen.push(command), reply()));
    await send('order-1');
    await edge.ask(SEND, { token: other.token, body: hello, headers: { 'idempotency-key': 'order-1' } });
    await edge.database.pool.query('UPDATE channels SET deleted_at = now() WHERE id = $1', [other.id]);
    await new IdempotencyKeys(edge).sweep();
    const { rows } = await edge.database.pool.query<{ channel_id: string }>(
      'SELECT channel_id FROM idempotency_keys WHERE channel_id = ANY ($1)',
      [[channel.id, other.id]],
    );
    expect(rows).toEqual([{ channel_id: channel.id }]);
  });

  it('belongs to one channel, and a send without it is sent each time', async () => {
    const other = await edge.channel();
    edge.worker(other, (command) => (seen.push(command), reply()));
    await send('order-1');
    await edge.ask(SEND, { token: other.token, body: hello, headers: { 'idempotency-key': 'order-1' } });
    await edge.ask(SEND, { token: channel.token, body: hello });
    await edge.ask(SEND, { token: channel.token, body: hello });
    expect(seen.map(({ sendAs }) => sendAs !== undefined)).toEqual([true, true, false, false]);
    expect(seen[0]?.sendAs).not.toBe(seen[1]?.sendAs);
  });
});
