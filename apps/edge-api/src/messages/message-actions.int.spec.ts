import type { ReceivedCommand } from '@dormouse/queues';
import { contractFaults } from '../test-contract.js';
import { RunningEdge, type TestChannel } from '../test-edge.js';

jest.setTimeout(30_000);

const ADA = '15550001111@s.whatsapp.net';
const ID = 'pcMAAAAAAAAAAAAAAABQAA-gLgDntov1w';
const success = { success: true };

describe('acts on a message', () => {
  let edge: RunningEdge;
  let channel: TestChannel;
  let seen: ReceivedCommand[];
  beforeAll(async () => {
    edge = await RunningEdge.start({ RATE_OTHER: 'off' });
    await edge.ready();
  });
  afterAll(() => edge.stop());
  beforeEach(async () => {
    channel = await edge.channel();
    seen = [];
    edge.worker(channel, (command) => (seen.push(command), { ok: true, result: success }));
    await store(channel.id);
  });

  const store = (channelId: string) =>
    edge.database.prisma.message.create({
      data: {
        channelId,
        id: ID,
        chatId: ADA,
        keyId: 'A5C3',
        keyRemote: ADA,
        fromMe: false,
        author: '15550001111',
        type: 'text',
        source: 'mobile',
        timestamp: 1_790_000_000n,
        content: { text: { body: 'Hello' } },
      },
    });
  const ask = (route: string, body?: unknown, token = channel.token) => edge.ask(route, { token, body });

  it.each([
    ['POST', '', undefined, 'messages.markRead', {}],
    ['POST', '', {}, 'messages.markRead', {}],
    ['POST', '', { to: null }, 'messages.markRead', {}],
    ['POST', '', { to: '15550002222', force: true }, 'messages.forward', { to: '15550002222', force: true }],
    ['PUT', '', undefined, 'messages.markRead', {}],
    ['PUT', '', { body: 'new' }, 'messages.edit', { body: 'new' }],
    ['DELETE', '', undefined, 'messages.delete', {}],
    ['DELETE', '', { anything: 1 }, 'messages.delete', {}],
    ['PUT', '/reaction', { emoji: '👍' }, 'messages.react', { emoji: '👍' }],
    ['PUT', '/reaction', { emoji: ' ' }, 'messages.react', { emoji: '' }],
    ['DELETE', '/reaction', undefined, 'messages.react', { emoji: '' }],
  ])('%s {id}%s with %j means %s', async (method, path, body, name, input) => {
    const answer = await ask(`${method} /messages/${ID}${path}`, body);
    expect(answer).toMatchObject({ status: 200, json: success });
    expect(seen).toMatchObject([{ name, input: { messageId: ID, ...input } }]);
  });

  it('are 400 for what makes no sense, before a command is sent', async () => {
    for (const [route, body, details] of [
      [`PUT /messages/${ID}`, {}, 'body: required'],
      [`PUT /messages/${ID}`, { body: ' ' }, 'body: must not be empty'],
      [`POST /messages/${ID}`, { to: 'nobody' }, 'to: digits without +, <digits>@s.whatsapp.net or <group>@g.us'],
      [`PUT /messages/${ID}/reaction`, { emoji: 7 }, 'emoji: must be text'],
    ] as const) {
      expect((await ask(route, body)).error).toMatchObject({ code: 400, details });
    }
    expect(seen).toEqual([]);
  });

  it('are 404 for ids that this channel does not have, and 503 while it is not linked, without a worker', async () => {
    const unlinked = await edge.channel({ linked: false });
    await store(unlinked.id);
    for (const route of ['POST', 'PUT', 'DELETE'].map((method) => `${method} /messages/`)) {
      for (const id of ['nonsense', 'AAAAAAAA-AAAAAAAA']) {
        const { error, json } = await ask(route + id);
        expect(error).toMatchObject({ code: 404, details: 'MessageID: no such message' });
        expect(contractFaults(`${route}{MessageID}`, 404, json)).toEqual([]);
      }
      expect((await ask(route + ID, undefined, unlinked.token)).status).toBe(503);
    }
    expect(seen).toEqual([]);
  });

  it('GET asks the worker only for ?resync=true', async () => {
    expect((await ask(`GET /messages/${ID}`)).json).toMatchObject({ id: ID, text: { body: 'Hello' } });
    expect(seen).toEqual([]);
    await ask(`GET /messages/${ID}?resync=true`);
    expect(seen).toMatchObject([{ name: 'messages.refresh', input: { messageId: ID } }]);
    expect((await ask(`GET /messages/${ID}?resync=maybe`)).error).toMatchObject({ code: 400 });
  });
});
