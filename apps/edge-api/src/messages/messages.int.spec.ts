import { GatewayError, toErrorReply } from '@dormouse/gateway-contract';
import type { CommandReply, ReceivedCommand } from '@dormouse/queues';
import { contractFaults } from '../test-contract.js';
import { RunningEdge, type TestChannel } from '../test-edge.js';

jest.setTimeout(30_000);

const SEND = 'POST /messages/text';
const ADA = '15550001111@s.whatsapp.net';
const OWN_ID = 'PrAAAAAAAAAAEAA-wP4Dntov1w';
const ADAS_ID = 'pcMAAAAAAAAAAAAAAABQAA-gLgDntov1w';
const sent = {
  sent: true,
  message: {
    id: OWN_ID,
    from_me: true,
    type: 'text',
    chat_id: ADA,
    timestamp: 1790000000,
    source: 'api',
    device_id: 7,
    status: 'pending',
    text: { body: 'Hello' },
    from: '15550009999',
  },
};
const refuse = (...facts: ConstructorParameters<typeof GatewayError>): CommandReply => ({
  ok: false,
  error: toErrorReply(new GatewayError(...facts)),
});

describe('messages', () => {
  let edge: RunningEdge;
  let channel: TestChannel;
  beforeAll(async () => {
    edge = await RunningEdge.start({ RATE_SENDS: 'off' });
    await edge.ready();
  });
  afterAll(() => edge.stop());
  beforeEach(async () => {
    channel = await edge.channel();
  });

  describe(SEND, () => {
    const send = (body: unknown, headers?: Record<string, string>) =>
      edge.ask(SEND, { token: channel.token, body, headers });

    it('answers exactly 200 with what the worker answers, and hands it the validated body and the request id', async () => {
      const seen: ReceivedCommand[] = [];
      edge.worker(channel, (command) => (seen.push(command), { ok: true, result: sent }));
      const body = { to: '15550001111', body: 'Hello', quoted: null, resource: 'message', requestOptions: {} };
      const answer = await send(body, { 'x-request-id': 'request-1' });
      expect(answer).toMatchObject({ status: 200, json: sent });
      expect(contractFaults(SEND, 200, answer.json)).toEqual([]);
      expect(seen).toMatchObject([{ name: 'messages.sendText', channelId: channel.id, requestId: 'request-1' }]);
      expect(seen[0]?.input).toEqual({ to: '15550001111', body: 'Hello' });
    });

    it.each([
      [{ to: '+15550001111', body: 'x' }, 'to: digits without +, <digits>@s.whatsapp.net or <group>@g.us'],
      [{ to: '15550001111@c.us', body: 'x' }, 'to: digits without +, <digits>@s.whatsapp.net or <group>@g.us'],
      [{ to: '15550001111' }, 'body: required'],
      [{ to: '15550001111', body: null }, 'body: required'],
      [{ to: '15550001111', body: '' }, 'body: must not be empty'],
      [{ to: '15550001111', body: 'x', typing_time: 61 }, 'typing_time: must be between 0 and 60'],
      [[], 'body: must be a JSON object'],
    ])('answers 400 naming the field: %j', async (body, details) => {
      const answer = await send(body);
      expect(answer.error).toMatchObject({ code: 400, message: 'bad request', details });
      expect(answer.error.href).toBe('https://docs.example.com/errors#bad-request');
      expect(contractFaults(SEND, 400, answer.json)).toEqual([]);
    });

    it('answers 400 to broken JSON, form data and other content types', async () => {
      const details = async (body: string, type: string) => (await send(body, { 'content-type': type })).error;
      expect(await details('{"to":', 'application/json')).toMatchObject({ code: 400, details: 'body: not valid JSON' });
      const json = { code: 400, details: 'body: JSON expected' };
      expect(await details('to=15550001111&body=x', 'application/x-www-form-urlencoded')).toMatchObject(json);
      expect(await details('--b\r\n\r\nx\r\n--b--', 'multipart/form-data; boundary=b')).toMatchObject(json);
      expect(await details('{}', 'text/plain')).toMatchObject(json);
      expect(await details('{}', 'application/json; charset=utf-8')).toMatchObject({ details: 'to: required' });
    });

    it('answers 503 to a channel that is not linked, without asking a worker', async () => {
      const unlinked = await edge.channel({ linked: false });
      const answer = await edge.ask(SEND, { token: unlinked.token, body: { to: '15550001111', body: 'x' } });
      expect(answer.error).toEqual({
        code: 503,
        message: 'channel is not connected',
        details: 'not linked: scan the QR code from GET /users/login/image',
        href: 'https://docs.example.com/errors#not-connected',
        support: 'support@example.com',
      });
      expect(contractFaults(SEND, 503, answer.json)).toEqual([]);
    });

    it('lets a number that was linked a moment ago send', async () => {
      const unlinked = await edge.channel({ linked: false });
      edge.worker(unlinked, () => ({ ok: true, result: sent }));
      const ask = () => edge.ask(SEND, { token: unlinked.token, body: { to: '15550001111', body: 'x' } });
      expect((await ask()).status).toBe(503);
      await edge.database.prisma.channel.update({ where: { id: unlinked.id }, data: { linked: true } });
      expect((await ask()).status).toBe(200);
    });

    it('passes the errors of the worker on as they are, Retry-After included', async () => {
      const replies = [
        refuse(503, { details: 'waking from hibernation', retryAfterS: 3 }),
        refuse(404, { details: 'to: not in this group' }),
        refuse(403, { details: 'only admins may send in this group' }),
        refuse(502),
      ];
      edge.worker(channel, () => replies.shift() ?? refuse(502));
      for (const status of [503, 404, 403, 502]) {
        const answer = await send({ to: '15550001111', body: 'x' });
        expect(answer.status).toBe(status);
        expect(answer.error.code).toBe(status);
        expect(answer.headers.get('retry-after')).toBe(status === 503 ? '3' : null);
        expect(answer.headers.get('x-request-id')).toBeTruthy();
        expect(contractFaults(SEND, status, answer.json)).toEqual([]);
      }
    });

    it('answers 502 when the handler breaks', async () => {
      edge.worker(channel, () => Promise.reject(new Error('boom')));
      const answer = await send({ to: '15550001111', body: 'x' });
      expect(answer.error).toMatchObject({ code: 502, message: 'session runtime error' });
      expect(answer.text).not.toContain('boom');
    });
  });

  describe('stored messages, statuses and chats', () => {
    beforeEach(() => store(edge, channel.id));

    it('are answered without a worker, in the shapes of the contract', async () => {
      for (const [route, path] of [
        ['GET /messages/list', '/messages/list?count=2'],
        ['GET /messages/list/{ChatID}', `/messages/list/${ADA}`],
        ['GET /messages/list/{ChatID}', '/messages/list/15550001111?sort=asc&from_me=0'],
        ['GET /messages/{MessageID}', `/messages/${OWN_ID}`],
        ['GET /statuses/{MessageID}', `/statuses/${OWN_ID}`],
        ['GET /chats', '/chats?limit=5&before=x'],
        ['GET /chats/{ChatID}', '/chats/15550001111%40s.whatsapp.net'],
      ] as const) {
        const answer = await edge.ask(`GET ${path}`, { token: channel.token });
        expect(`${path} ${answer.status}`).toBe(`${path} 200`);
        expect(contractFaults(route, 200, answer.json)).toEqual([]);
      }
    });

    it('page as the contract defines', async () => {
      const page = async (query: string) =>
        (await edge.ask(`GET /messages/list?${query}`, { token: channel.token })).json;
      expect(await page('count=1&offset=1')).toMatchObject({
        count: 1,
        total: 2,
        offset: 1,
        first: 1,
        last: 1,
        messages: [{ id: ADAS_ID }],
      });
      expect(await page('from_me=true')).toMatchObject({
        count: 100,
        total: 1,
        offset: 0,
        messages: [{ id: OWN_ID, text: { body: 'Hi Ada' } }],
      });
    });

    it.each([
      ['count=501', 'count: must be between 1 and 500'],
      ['count=abc', 'count: must be between 1 and 500'],
      ['offset=-1', 'offset: must be 0 or more'],
      ['from_me=yes', 'from_me: must be true or false'],
      ['sort=up', 'sort: must be one of asc, desc'],
    ])('answer 400 naming the query parameter: %s', async (query, details) => {
      const answer = await edge.ask(`GET /messages/list?${query}`, { token: channel.token });
      expect(answer.error).toMatchObject({ code: 400, details });
    });

    it('answer 404 to every id that this channel does not have', async () => {
      const other = await edge.channel();
      for (const [path, details] of [
        [`/messages/${OWN_ID}`, 'MessageID: no such message'],
        [`/statuses/${OWN_ID}`, 'MessageID: no such message'],
        ['/chats/15550001111', 'ChatID: no such chat'],
        ['/chats/nonsense', 'ChatID: no such chat'],
        ['/messages/list/15550001111', 'ChatID: no such chat'],
      ]) {
        const { error } = await edge.ask(`GET ${path}`, { token: other.token });
        expect(error).toMatchObject({ code: 404, message: 'not found', details });
      }
    });

    it('answer 403 to the statuses of a received message', async () => {
      const { error } = await edge.ask(`GET /statuses/${ADAS_ID}`, { token: channel.token });
      expect(error).toMatchObject({ code: 403, message: 'not permitted' });
    });
  });
});

/** A chat with Ada: one message of hers, one own that she has read. */
async function store({ database: { prisma } }: RunningEdge, channelId: string): Promise<void> {
  const base = { channelId, chatId: ADA, keyRemote: ADA, type: 'text' };
  await prisma.message.createMany({
    data: [
      {
        ...base,
        id: ADAS_ID,
        keyId: 'A5C3',
        fromMe: false,
        author: '15550001111',
        authorName: 'Ada Example',
        source: 'mobile',
        timestamp: 1_789_999_990n,
        content: { text: { body: 'Hello there' } },
      },
      {
        ...base,
        id: OWN_ID,
        keyId: '3EB0',
        fromMe: true,
        author: '15550009999',
        source: 'api',
        deviceId: 7,
        status: 'read',
        timestamp: 1_789_999_995n,
        content: { text: { body: 'Hi Ada' } },
      },
    ],
  });
  await prisma.receipt.createMany({
    data: [
      { channelId, keyId: '3EB0', viewerId: '', status: 'sent', timestamp: 1_789_999_995n },
      { channelId, keyId: '3EB0', viewerId: '15550001111', status: 'read', timestamp: 1_789_999_999n },
    ],
  });
  await prisma.chat.create({
    data: {
      channelId,
      id: ADA,
      type: 'contact',
      name: 'Ada Example',
      timestamp: 1_789_999_995n,
      lastMessageId: OWN_ID,
    },
  });
}
