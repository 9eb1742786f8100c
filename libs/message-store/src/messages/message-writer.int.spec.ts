import { randomBytes, randomInt } from 'node:crypto';
import { FencedError, openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { listMessagesQuery, type Message } from '@dormouse/gateway-contract';
import { ADA, GROUP, incoming, own } from '../example-records.js';
import { MessageReader } from './message-reader.js';
import { MessageWriter } from './message-writer.js';

const ALL = listMessagesQuery.parse({});

describe('MessageWriter', () => {
  let database: RegionalDatabase;
  let writer: MessageWriter;
  let reader: MessageReader;
  let channel: string;
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 5n };
  const events = async (afterSeq = 0) => reader.events(channel, afterSeq, 1_000);
  const notified = async () => (await events()).map(({ type, method, payload }) => summary(type, method, payload));

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'message-store-spec',
      maxConnections: 20,
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 5)', [shard]);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    channel = `CH-${randomBytes(6).toString('hex')}`;
    writer = new MessageWriter({ database });
    await writer.recordHistory(fence, channel, { chats: [{ id: ADA }, { id: GROUP }] }); // a new chat is an event, too
    reader = new MessageReader({ database, now: () => 1_790_000_000_000 });
  });

  describe('messages', () => {
    it('gives a message back in the shape it was recorded with, nothing absent as null', async () => {
      const record = incoming('A1', { text: { body: 'Hello' }, context: { mentions: ['15550009999'] } });
      const written = await writer.recordMessage(fence, channel, record);
      expect(written).toEqual({ seqs: [1], ids: [record.message.id] });
      expect(await reader.message(channel, record.message.id)).toEqual({ ...record.message, chat_name: 'Ada Example' });
      expect(await reader.message(channel, 'other')).toBeUndefined();
      expect(await reader.message('other', record.message.id)).toBeUndefined();
    });

    it('names a private chat in events by the name it was saved under only, not by what the other calls himself', async () => {
      const bob = '15550002222@s.whatsapp.net';
      const fromBob = { chat_id: bob, from: '15550002222', from_name: 'Bob' };
      await writer.recordMessages(fence, channel, [incoming('B1', fromBob), incoming('B2', fromBob)]);
      await writer.recordMessage(fence, channel, own('B3', { chat_id: bob }));
      const payloads = (await events()).map(({ payload }) => payload);
      const messages = payloads.flatMap((payload) => payload['messages'] ?? []) as Message[];
      expect(messages.map(({ id }) => id)).toEqual(['id-B1', 'id-B2', 'id-B3']);
      expect(messages.filter(({ chat_name: name }) => name !== undefined)).toEqual([]);
      expect(payloads).toContainEqual({ chats: [expect.objectContaining({ id: bob, name: 'Bob' })] });
      expect((await reader.message(channel, 'id-B1'))?.chat_name).toBe('Bob');
    });

    it('makes one event of each message, with the name of its chat', async () => {
      await writer.recordHistory(fence, channel, {
        chats: [{ id: GROUP, name: 'Example Group' }],
        contacts: [{ id: '15550001111', name: 'Ada Example' }],
      });
      const inGroup = incoming('G1', { chat_id: GROUP });
      await writer.recordMessages(fence, channel, [incoming('A1'), inGroup]);
      const [first, second] = await events();
      expect(first?.payload).toEqual({ messages: [{ ...incoming('A1').message, chat_name: 'Ada Example' }] });
      expect(second?.payload).toEqual({ messages: [{ ...inGroup.message, chat_name: 'Example Group' }] });
      expect([first?.seq, second?.seq]).toEqual([1, 2]);
      expect(first?.id).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('writes no second row and makes no second event of a message that comes again', async () => {
      await writer.recordMessage(fence, channel, incoming('A1'));
      const again = await writer.recordMessages(fence, channel, [incoming('A1'), incoming('A2'), incoming('A2')]);
      expect(again).toEqual({ seqs: [2], ids: ['id-A2'] });
      expect((await reader.listMessages(channel, ALL)).total).toBe(2);
      expect((await reader.chat(channel, ADA))?.unread).toBe(2);
    });

    it('knows a message that comes again under the other form of its address and another public id', async () => {
      await writer.recordMessage(fence, channel, incoming('A1'));
      const underLid = incoming('A1', { id: 'id-A1-lid', chat_id: '900000000001@lid' });
      underLid.key.remote = '900000000001@lid';
      underLid.keyAliases = [ADA];
      expect(await writer.recordMessage(fence, channel, underLid)).toEqual({ seqs: [], ids: [] });
      const anotherPerson = incoming('A1', { id: 'id-A1-bo', chat_id: '15550002222@s.whatsapp.net' });
      anotherPerson.key.remote = '15550002222@s.whatsapp.net';
      expect((await writer.recordMessage(fence, channel, anotherPerson)).ids).toEqual(['id-A1-bo']);
    });

    it('stores text that PostgreSQL would refuse', async () => {
      const record = incoming('A1', { text: { body: 'a\u0000b\uD83D' }, from_name: 'Ada\u0000' });
      record.key.id = 'A\u00001';
      await writer.recordMessage(fence, channel, record);
      expect(await reader.message(channel, record.message.id)).toMatchObject({
        text: { body: 'a\uFFFDb\uFFFD' },
        from_name: 'Ada\uFFFD',
      });
      expect((await events())[0]?.payload).toMatchObject({ messages: [{ text: { body: 'a\uFFFDb\uFFFD' } }] });
    });

    it('finds a message with its network key and content for quoting and resending', async () => {
      const record = { ...own('O1'), proto: new Uint8Array([0, 1, 250]) };
      await writer.recordMessage(fence, channel, record);
      expect(await writer.find(channel, 'id-O1')).toEqual({
        message: record.message,
        key: { id: 'O1', remote: ADA },
        proto: Buffer.from([0, 1, 250]),
      });
      expect(await writer.protoOf(channel, 'O1', ['1@lid', ADA])).toEqual(Buffer.from([0, 1, 250]));
    });

    it('gives the content of an own message only to the chat it was sent to', async () => {
      await writer.recordMessage(fence, channel, { ...own('O1'), proto: new Uint8Array([1]) });
      await writer.recordMessage(fence, channel, { ...incoming('A1'), proto: new Uint8Array([2]) });
      expect(await writer.protoOf(channel, 'O1', ['15550002222@s.whatsapp.net'])).toBeUndefined();
      expect(await writer.protoOf(channel, 'A1', [ADA])).toBeUndefined();
      expect(await writer.protoOf(channel, 'unknown', [ADA])).toBeUndefined();
    });
  });

  describe('statuses', () => {
    it('lists the steps of a message and makes one event of each, never backwards', async () => {
      await writer.recordMessage(fence, channel, own('O1'));
      const report = (status: 'sent' | 'delivered' | 'read', timestamp: number) =>
        writer.recordStatuses(fence, channel, [{ keyId: 'O1', status, timestamp }]);
      await report('sent', 101);
      await report('read', 104);
      await report('delivered', 103);
      await report('read', 105);
      expect(await notified()).toEqual(['messages.post id-O1', 'statuses.post id-O1 sent', 'statuses.post id-O1 read']);
      expect((await reader.message(channel, 'id-O1'))?.status).toBe('read');
      expect(await reader.statuses(channel, 'id-O1')).toEqual({
        statuses: [
          { id: 'id-O1', code: 1, status: 'pending', recipient_id: ADA, timestamp: '100' },
          { id: 'id-O1', code: 2, status: 'sent', recipient_id: ADA, timestamp: '101' },
          { id: 'id-O1', code: 4, status: 'read', recipient_id: ADA, viewer_id: '15550001111', timestamp: '104' },
        ],
      });
    });

    it('stores a receipt that is received before the message and notifies of it right after the message', async () => {
      await writer.recordStatuses(fence, channel, [
        { keyId: 'O1', status: 'read', timestamp: 104 },
        { keyId: 'O1', status: 'delivered', timestamp: 103 },
      ]);
      expect(await notified()).toEqual([]);
      await writer.recordMessage(fence, channel, own('O1', { source: 'mobile', status: 'sent' }));
      expect(await notified()).toEqual([
        'messages.post id-O1',
        'statuses.post id-O1 delivered',
        'statuses.post id-O1 read',
      ]);
      expect((await reader.message(channel, 'id-O1'))?.status).toBe('read');
    });

    it('takes a receipt that overtook the acknowledgement, and the acknowledgement that comes late makes no event', async () => {
      await writer.recordMessage(fence, channel, own('O1'));
      const report = async (status: 'sent' | 'delivered', timestamp: number) =>
        (await writer.recordStatuses(fence, channel, [{ keyId: 'O1', status, timestamp }])).seqs;
      expect(await report('delivered', 103)).toEqual([2, 3]);
      expect(await report('sent', 104)).toEqual([]);
      expect(await notified()).toEqual([
        'messages.post id-O1',
        'statuses.post id-O1 sent',
        'statuses.post id-O1 delivered',
      ]);
      expect((await reader.statuses(channel, 'id-O1'))?.statuses.map(({ timestamp }) => timestamp)).toEqual([
        '100',
        '103',
        '103',
      ]);
    });

    it('counts an own message of the history that has no status as pending, whichever way its receipts are written', async () => {
      const history = [own('PLAIN', { status: undefined }), own('NAMED', { status: undefined })];
      await writer.recordHistory(fence, channel, { messages: history });
      const read = { status: 'read', timestamp: 103 } as const;
      await writer.recordStatuses(fence, channel, [{ keyId: 'PLAIN', ...read }]);
      await writer.recordStatuses(fence, channel, [{ keyId: 'NAMED', ...read, viewerId: '15550001111' }]);
      expect(await notified()).toEqual(
        ['PLAIN', 'NAMED'].flatMap((key) => [`statuses.post id-${key} sent`, `statuses.post id-${key} read`]),
      );
      for (const { message } of history) expect((await reader.message(channel, message.id))?.status).toBe('read');
    });

    it('takes reports of several messages at once, those of unknown ones too, and leaves what has ended', async () => {
      const ended = own('O3', { status: 'failed' });
      await writer.recordMessages(fence, channel, [own('O1'), own('O2', { status: 'delivered' }), ended]);
      const { seqs } = await writer.recordStatuses(fence, channel, [
        { keyId: 'O2', status: 'sent', timestamp: 101 },
        { keyId: 'O1', status: 'sent', timestamp: 101 },
        { keyId: 'O4', status: 'sent', timestamp: 101 },
        { keyId: 'O3', status: 'delivered', timestamp: 102 },
        { keyId: 'O2', status: 'read', timestamp: 102 },
        { keyId: 'O1', status: 'delivered', timestamp: 103 },
      ]);
      await writer.recordMessage(fence, channel, own('O4', { source: 'mobile' }));
      expect(seqs).toEqual([4, 5, 6]);
      expect((await notified()).slice(3)).toEqual([
        'statuses.post id-O1 sent',
        'statuses.post id-O2 read',
        'statuses.post id-O1 delivered',
        'messages.post id-O4',
        'statuses.post id-O4 sent',
      ]);
    });

    it('names the reader in groups, and keeps readers apart', async () => {
      await writer.recordMessage(fence, channel, own('O1', { chat_id: GROUP, status: 'sent' }));
      await writer.recordStatuses(fence, channel, [
        { keyId: 'O1', status: 'read', viewerId: '15550002222', timestamp: 104 },
        { keyId: 'O1', status: 'delivered', viewerId: '15550003333', timestamp: 105 },
      ]);
      const payloads = (await events()).slice(1).map(({ payload }) => payload);
      expect(payloads).toEqual([
        { statuses: [expect.objectContaining({ viewer_id: '15550002222', status: 'read', recipient_id: GROUP })] },
        { statuses: [expect.objectContaining({ viewer_id: '15550003333', status: 'delivered' })] },
      ]);
      expect((await reader.message(channel, 'id-O1'))?.status).toBe('read');
    });

    it('notifies of why a message failed, and lets it fail only while pending', async () => {
      await writer.recordMessages(fence, channel, [own('O1'), own('O2', { status: 'sent' })]);
      const errors = [{ code: 463, message: 'recipient refused by the network' }];
      await writer.recordStatuses(fence, channel, [
        { keyId: 'O1', status: 'failed', timestamp: 103, errors },
        { keyId: 'O2', status: 'failed', timestamp: 103, errors },
      ]);
      expect((await events())[2]?.payload).toEqual({
        statuses: [{ id: 'id-O1', code: 0, status: 'failed', recipient_id: ADA, timestamp: '103', errors }],
      });
      expect((await reader.statuses(channel, 'id-O1'))?.statuses.map(({ status }) => status)).toEqual([
        'pending',
        'failed',
      ]);
      expect((await reader.message(channel, 'id-O2'))?.status).toBe('sent');
    });

    it('refuses the statuses of a message somebody else wrote, and knows none of an unknown one', async () => {
      await writer.recordMessage(fence, channel, incoming('A1'));
      await expect(reader.statuses(channel, 'id-A1')).rejects.toMatchObject({ status: 403 });
      expect(await reader.statuses(channel, 'unknown')).toBeUndefined();
    });
  });

  describe('changes', () => {
    const edit = incoming('E1', { type: 'action', text: undefined, action: { type: 'edit', target: 'id-A1' } });
    const target = { keyId: 'A1', chatId: ADA };

    it('notifies of the edit and of what it changed, and stores the new text', async () => {
      await writer.recordMessage(fence, channel, incoming('A1'));
      const apply = (before: Message) => ({ ...before, text: { body: 'new' } });
      await writer.recordChange(fence, channel, { trigger: edit, target, apply });
      await writer.recordChange(fence, channel, { trigger: edit, target, apply });
      expect(await notified()).toEqual(['messages.post id-A1', 'messages.post id-E1', 'messages.patch id-A1 text']);
      expect(await reader.message(channel, 'id-A1')).toMatchObject({ text: { body: 'new' }, from_name: 'Ada Example' });
    });

    it('stores who reacted, and shows customers nothing that the contract has no field for', async () => {
      await writer.recordMessage(fence, channel, incoming('A1'));
      const apply = (before: Message) => ({ ...before, reactions: [{ id: 'r', emoji: '👍', author: '15550001111' }] });
      await writer.recordChange(fence, channel, { trigger: edit, target, apply });
      const again = (before: Message) => ({ ...before, text: { body: 'new' } });
      await writer.recordChange(fence, channel, { trigger: incoming('E2', { type: 'action' }), target, apply: again });
      expect((await writer.findInChat(channel, target))?.message.reactions).toMatchObject([{ author: '15550001111' }]);
      const shown = [
        await reader.message(channel, 'id-A1'),
        (await reader.listMessages(channel, ALL)).messages,
        (await reader.listChats(channel, { count: 10, offset: 0 })).chats,
        await reader.events(channel, 0, 100),
      ].map((each) => JSON.stringify(each));
      for (const each of shown) expect(each).toContain('👍');
      for (const each of shown) expect(each).not.toContain('"author"');
    });

    it('notifies of a deletion and stores the message as deleted', async () => {
      await writer.recordMessage(fence, channel, own('A1'));
      await writer.recordChange(fence, channel, {
        trigger: edit,
        target,
        apply: (before) => ({ ...before, status: 'deleted' }),
      });
      expect(await notified()).toEqual(['messages.post id-A1', 'messages.post id-E1', 'messages.delete id-A1']);
      expect((await reader.message(channel, 'id-A1'))?.status).toBe('deleted');
    });

    it('notifies once of what was deleted on the own devices alone, and passes over what is not known', async () => {
      await writer.recordMessages(fence, channel, [incoming('A1'), own('O1')]);
      await writer.recordRemoval(fence, channel, ['A1', 'O1', 'unknown']);
      await writer.recordRemoval(fence, channel, ['A1']);
      expect((await notified()).slice(2).sort()).toEqual(['messages.delete id-A1', 'messages.delete id-O1']);
      expect((await reader.message(channel, 'id-A1'))?.status).toBe('deleted');
    });

    it('still notifies of a change whose target is not known or may not be changed', async () => {
      await writer.recordChange(fence, channel, { trigger: edit, target, apply: () => undefined });
      expect(await notified()).toEqual(['messages.post id-E1']);
    });
  });

  describe('ownership and order', () => {
    it('writes nothing for an owner that has been replaced', async () => {
      const old: Fence = { shard, epoch: 4n };
      await expect(writer.recordMessage(old, channel, incoming('A1'))).rejects.toBeInstanceOf(FencedError);
      await expect(
        writer.recordStatuses(old, channel, [{ keyId: 'O1', status: 'sent', timestamp: 1 }]),
      ).rejects.toBeInstanceOf(FencedError);
      await expect(writer.recordHistory(old, channel, { chats: [{ id: ADA }] })).rejects.toBeInstanceOf(FencedError);
      expect(await events()).toEqual([]);
      expect((await reader.listMessages(channel, ALL)).total).toBe(0);
    });

    it('numbers the events of many writers without gaps, each message before its statuses', async () => {
      const names = Array.from({ length: 40 }, (_, index) => `O${index}`);
      await Promise.all(
        names.map(async (name) => {
          await writer.recordMessage(fence, channel, own(name));
          await writer.recordStatuses(fence, channel, [{ keyId: name, status: 'sent', timestamp: 101 }]);
        }),
      );
      const all = await events();
      expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
      const order = all.map(({ type, method, payload }) => summary(type, method, payload));
      for (const name of names) {
        const posted = order.indexOf(`messages.post id-${name}`);
        expect(posted).toBeGreaterThanOrEqual(0);
        expect(order.indexOf(`statuses.post id-${name} sent`)).toBeGreaterThan(posted);
      }
    });

    it('shows a reader no event while one with a lower number may still appear', async () => {
      const writers = Promise.all(
        Array.from({ length: 60 }, (_, index) => writer.recordMessage(fence, channel, incoming(`A${index}`))),
      );
      let done = false;
      void writers.then(() => (done = true));
      let position = 0;
      while (!done || position < 60) {
        for (const { seq } of await reader.events(channel, position, 7)) expect(seq).toBe((position += 1));
      }
      expect(position).toBe(60);
    });

    it('writes a message that is sent once, also when the write is repeated', async () => {
      await writer.recordHistory(fence, channel, { contacts: [{ id: '15550001111', name: 'Ada' }] });
      expect(await writer.recordMessage(fence, channel, own('O1'))).toEqual({ seqs: [1], ids: ['id-O1'] });
      expect(await writer.recordMessage(fence, channel, own('O1'))).toEqual({ seqs: [], ids: [] });
      const [event, ...rest] = await events();
      expect(event?.payload).toEqual({ messages: [{ ...own('O1').message, chat_name: 'Ada' }] });
      expect(rest).toEqual([]);
    });

    it('orders acknowledgements and receipts that are written at the same time', async () => {
      const names = Array.from({ length: 30 }, (_, index) => `O${index}`);
      await Promise.all(names.map((name) => writer.recordMessage(fence, channel, own(name))));
      await Promise.all(
        names.flatMap((keyId) => [
          writer.recordStatuses(fence, channel, [{ keyId, status: 'read', timestamp: 103 }]),
          writer.recordStatuses(fence, channel, [{ keyId, status: 'sent', timestamp: 101 }]),
          writer.recordStatuses(fence, channel, [{ keyId, status: 'delivered', timestamp: 102 }]),
        ]),
      );
      const all = await events();
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
      const order = all.map(({ type, method, payload }) => summary(type, method, payload));
      for (const name of names) {
        const steps = order
          .filter((line) => line.startsWith(`statuses.post id-${name} `))
          .map((line) => line.split(' ')[2]);
        expect([['sent', 'read'].join(), ['sent', 'delivered', 'read'].join()]).toContain(steps.join());
        expect((await reader.message(channel, `id-${name}`))?.status).toBe('read');
      }
    });

    it('writes one row when the same message is recorded by two at once', async () => {
      const results = await Promise.all([1, 2, 3].map(() => writer.recordMessage(fence, channel, incoming('A1'))));
      expect(results.flatMap(({ ids }) => ids)).toEqual(['id-A1']);
      expect(await notified()).toEqual(['messages.post id-A1']);
    });
  });
});

function summary(type: string, method: string, payload: Record<string, unknown>): string {
  const list = Object.values(payload)[0] as (string | { id: string; status?: string; changes?: string[] })[];
  const [item] = list;
  if (item === undefined || typeof item === 'string') return `${type}.${method} ${String(item)}`;
  const detail = type === 'statuses' ? ` ${item.status}` : item.changes ? ` ${item.changes.join(',')}` : '';
  return `${type}.${method} ${item.id}${detail}`;
}
