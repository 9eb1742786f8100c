import { randomBytes, randomInt } from 'node:crypto';
import { FencedError, openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { listMessagesQuery, type ListMessagesQuery, type Message } from '@dormouse/gateway-contract';
import { MessageReader } from './message-reader.js';
import { MessageWriter } from './message-writer.js';
import type { MessageRecord } from './records.js';

const ADA = '15550001111@s.whatsapp.net';
const GROUP = '120363000000000001@g.us';

describe('the message store', () => {
  let database: RegionalDatabase;
  let writer: MessageWriter;
  let reader: MessageReader;
  let channel: string;
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 5n };
  const query = (given: Record<string, string> = {}): ListMessagesQuery => listMessagesQuery.parse(given);
  const events = async (afterSeq = 0) => reader.events(channel, afterSeq, 1_000);
  const told = async () => (await events()).map(({ type, method, payload }) => summary(type, method, payload));

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'message-store-spec',
      maxConnections: 20,
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 5)', [shard]);
  });
  afterAll(() => database.close());
  beforeEach(() => {
    channel = `CH-${randomBytes(6).toString('hex')}`;
    writer = new MessageWriter({ database });
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

    it('tells each message once, in an event of its own, with the name of its chat', async () => {
      await writer.recordChats(fence, channel, [{ id: GROUP, name: 'Example Group' }]);
      const inGroup = incoming('G1', { chat_id: GROUP });
      await writer.recordMessages(fence, channel, [incoming('A1'), inGroup]);
      const [first, second] = await events();
      expect(first?.payload).toEqual({ messages: [{ ...incoming('A1').message, chat_name: 'Ada Example' }] });
      expect(second?.payload).toEqual({ messages: [{ ...inGroup.message, chat_name: 'Example Group' }] });
      expect([first?.seq, second?.seq]).toEqual([1, 2]);
      expect(first?.id).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('writes no second row and tells no second event of a message that comes again', async () => {
      await writer.recordMessage(fence, channel, incoming('A1'));
      const again = await writer.recordMessages(fence, channel, [incoming('A1'), incoming('A2'), incoming('A2')]);
      expect(again).toEqual({ seqs: [2], ids: ['id-A2'] });
      expect((await reader.listMessages(channel, query())).total).toBe(2);
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
    it('lists the steps of a message and tells each once, never backwards', async () => {
      await writer.recordMessage(fence, channel, own('O1'));
      const report = (status: 'sent' | 'delivered' | 'read', timestamp: number) =>
        writer.recordStatuses(fence, channel, [{ keyId: 'O1', status, timestamp }]);
      await report('sent', 101);
      await report('read', 104);
      await report('delivered', 103);
      await report('read', 105);
      expect(await told()).toEqual(['messages.post id-O1', 'statuses.post id-O1 sent', 'statuses.post id-O1 read']);
      expect((await reader.message(channel, 'id-O1'))?.status).toBe('read');
      expect(await reader.statuses(channel, 'id-O1')).toEqual({
        statuses: [
          { id: 'id-O1', code: 1, status: 'pending', recipient_id: ADA, timestamp: '100' },
          { id: 'id-O1', code: 2, status: 'sent', recipient_id: ADA, timestamp: '101' },
          { id: 'id-O1', code: 4, status: 'read', recipient_id: ADA, viewer_id: '15550001111', timestamp: '104' },
        ],
      });
    });

    it('keeps a receipt that is heard before the message and tells it right after the message', async () => {
      await writer.recordStatuses(fence, channel, [
        { keyId: 'O1', status: 'read', timestamp: 104 },
        { keyId: 'O1', status: 'delivered', timestamp: 103 },
      ]);
      expect(await told()).toEqual([]);
      await writer.recordMessage(fence, channel, own('O1', { source: 'mobile', status: 'sent' }));
      expect(await told()).toEqual([
        'messages.post id-O1',
        'statuses.post id-O1 delivered',
        'statuses.post id-O1 read',
      ]);
      expect((await reader.message(channel, 'id-O1'))?.status).toBe('read');
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

    it('tells why a message failed, and lets it fail only while pending', async () => {
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

    it('tells the edit and what it changed, and stores the new text', async () => {
      await writer.recordMessage(fence, channel, incoming('A1'));
      const apply = (before: Message) => ({ ...before, text: { body: 'new' } });
      await writer.recordChange(fence, channel, { trigger: edit, target, apply });
      await writer.recordChange(fence, channel, { trigger: edit, target, apply });
      expect(await told()).toEqual(['messages.post id-A1', 'messages.post id-E1', 'messages.patch id-A1 text']);
      expect(await reader.message(channel, 'id-A1')).toMatchObject({ text: { body: 'new' }, from_name: 'Ada Example' });
    });

    it('tells a deletion and keeps the message as deleted', async () => {
      await writer.recordMessage(fence, channel, own('A1'));
      await writer.recordChange(fence, channel, {
        trigger: edit,
        target,
        apply: (before) => ({ ...before, status: 'deleted' }),
      });
      expect(await told()).toEqual(['messages.post id-A1', 'messages.post id-E1', 'messages.delete id-A1']);
      expect((await reader.message(channel, 'id-A1'))?.status).toBe('deleted');
    });

    it('still tells a change whose target is not known or may not be changed', async () => {
      await writer.recordChange(fence, channel, { trigger: edit, target, apply: () => undefined });
      expect(await told()).toEqual(['messages.post id-E1']);
    });
  });

  describe('lists', () => {
    const ids = async (given: Record<string, string>, chatId?: string) => {
      const list = chatId
        ? await reader.listChatMessages(channel, chatId, query(given))
        : await reader.listMessages(channel, query(given));
      return list?.messages.map(({ id }) => id.replace('id-', ''));
    };

    beforeEach(async () => {
      await writer.recordMessages(fence, channel, [
        incoming('A1', { timestamp: 100 }),
        own('O2', { timestamp: 200 }),
        incoming('G3', { chat_id: GROUP, from: '15550002222', timestamp: 300 }),
        incoming('S4', { chat_id: GROUP, type: 'system', timestamp: 400 }),
        incoming('A5', { timestamp: 400 }),
      ]);
    });

    it('pages by time with ties by id, counting all that match', async () => {
      expect(await ids({})).toEqual(['A5', 'G3', 'O2', 'A1']);
      expect(await ids({ sort: 'asc', normal_types: 'false' })).toEqual(['A1', 'O2', 'G3', 'A5', 'S4']);
      expect(await ids({ normal_types: '0' })).toEqual(['S4', 'A5', 'G3', 'O2', 'A1']);
      const page = await reader.listMessages(channel, query({ count: '2', offset: '1' }));
      expect(page).toMatchObject({ count: 2, total: 4, offset: 1, first: 1, last: 2 });
      expect(page.messages.map(({ id }) => id)).toEqual(['id-G3', 'id-O2']);
      const beyond = await reader.listMessages(channel, query({ offset: '9' }));
      expect(beyond).toEqual({ messages: [], count: 100, total: 4, offset: 9 });
    });

    it('filters by time (inclusive), author and direction, together', async () => {
      expect(await ids({ time_from: '200', time_to: '300' })).toEqual(['G3', 'O2']);
      expect(await ids({ author: '15550002222' })).toEqual(['G3']);
      expect(await ids({ from_me: 'true' })).toEqual(['O2']);
      expect(await ids({ from_me: '0', time_from: '101' })).toEqual(['A5', 'G3']);
      expect(await ids({ author: '15550001111', time_to: '399.9' })).toEqual(['A1']);
    });

    it('lists one chat, knows an empty one and refuses an unknown one', async () => {
      expect(await ids({}, ADA)).toEqual(['A5', 'O2', 'A1']);
      await writer.recordChats(fence, channel, [{ id: '15550003333@s.whatsapp.net' }]);
      expect(await reader.listChatMessages(channel, '15550003333@s.whatsapp.net', query())).toMatchObject({ total: 0 });
      expect(await reader.listChatMessages(channel, '15550004444@s.whatsapp.net', query())).toBeUndefined();
    });

    it('reads each filter from an index', async () => {
      const plans = await Promise.all(
        [{}, { author: '15550002222' }, { from_me: 'true' }, { time_from: '1' }].flatMap((given) =>
          [undefined, ADA].map(async (chatId) => {
            const { messageListQueries } = await import('./message-query.js');
            const { page } = messageListQueries(channel, query(given as Record<string, string>), chatId);
            const connection = await database.pool.connect();
            try {
              await connection.query('SET enable_seqscan = off');
              await connection.query('SET enable_sort = off');
              const { rows } = await connection.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${page.text}`, page.values);
              return rows.map((row) => row['QUERY PLAN']).join('\n');
            } finally {
              connection.release(true);
            }
          }),
        ),
      );
      for (const plan of plans) expect(plan).toMatch(/Index Scan (Backward )?using messages_channel_id_/);
    });
  });

  describe('chats', () => {
    it('orders chats by activity, each with name, last message and what is unread', async () => {
      await writer.recordMessages(fence, channel, [
        incoming('A1', { timestamp: 100 }),
        incoming('G1', { chat_id: GROUP, from: '15550002222', from_name: 'Bo', timestamp: 200 }),
        incoming('A2', { timestamp: 300 }),
        incoming('A3', { type: 'action', text: undefined, action: { type: 'reaction' }, timestamp: 400 }),
      ]);
      await writer.recordContacts(fence, channel, [{ id: '15550001111', name: 'Ada (work)' }]);
      const list = await reader.listChats(channel, { count: 10, offset: 0 });
      expect(list).toMatchObject({ count: 10, total: 2, offset: 0 });
      const state = { pin: false, mute: false, mute_until: 0, archive: false };
      expect(list.chats).toEqual([
        {
          id: ADA,
          name: 'Ada (work)',
          type: 'contact',
          timestamp: 300,
          ...state,
          unread: 2,
          last_message: { ...incoming('A2', { timestamp: 300 }).message, chat_name: 'Ada (work)' },
        },
        expect.objectContaining({ id: GROUP, type: 'group', timestamp: 200, unread: 1 }),
      ]);
      expect(await reader.chat(channel, ADA)).toEqual(list.chats[0]);
      expect(await reader.chat(channel, 'unknown')).toBeUndefined();
    });

    it('does not let an old message that comes late take the place of the last one', async () => {
      await writer.recordMessage(fence, channel, incoming('A2', { timestamp: 300 }));
      await writer.recordMessage(fence, channel, incoming('A1', { timestamp: 100 }));
      const chat = await reader.chat(channel, ADA);
      expect(chat).toMatchObject({ timestamp: 300, unread: 2 });
      expect(chat?.last_message?.id).toBe('id-A2');
    });

    it('counts nothing unread once the owner answered from the phone or read the chat there', async () => {
      await writer.recordMessages(fence, channel, [incoming('A1'), own('O2', { source: 'mobile' }), incoming('A3')]);
      expect((await reader.chat(channel, ADA))?.unread).toBe(1);
      await writer.recordMessage(fence, channel, own('O4'));
      expect((await reader.chat(channel, ADA))?.unread).toBe(1);
      await writer.recordChats(fence, channel, [{ id: ADA, unread: 0 }]);
      expect((await reader.chat(channel, ADA))?.unread).toBe(0);
    });

    it('counts as unread what came after the message that was read', async () => {
      await writer.recordMessages(fence, channel, [
        incoming('A1', { timestamp: 100 }),
        incoming('A2', { timestamp: 200 }),
        incoming('A3', { timestamp: 300 }),
      ]);
      await writer.recordRead(fence, channel, ['A2', 'A1']);
      expect((await reader.chat(channel, ADA))?.unread).toBe(1);
      await writer.recordRead(fence, channel, ['unknown']);
      expect((await reader.chat(channel, ADA))?.unread).toBe(1);
    });

    it('takes in history without telling it, and keeps what it says about chats', async () => {
      await writer.recordHistory(fence, channel, {
        chats: [{ id: ADA, unread: 3, pinned: true, muteUntilMs: 1_790_000_000_001, timestamp: 500 }],
        contacts: [{ id: '15550001111', name: 'Ada', lid: '900000000001' }],
        messages: [incoming('A1', { timestamp: 100 }), own('O2', { source: 'mobile', status: 'read', timestamp: 200 })],
      });
      expect(await events()).toEqual([]);
      expect(await reader.chat(channel, ADA)).toMatchObject({
        name: 'Ada',
        unread: 3,
        pin: true,
        mute: true,
        timestamp: 500,
        last_message: { id: 'id-O2', status: 'read' },
      });
      await writer.recordMessage(fence, channel, incoming('A1', { timestamp: 100 }));
      expect(await events()).toEqual([]);
    });
  });

  describe('ownership and order', () => {
    it('writes nothing for an owner that has been replaced', async () => {
      const old: Fence = { shard, epoch: 4n };
      await expect(writer.recordMessage(old, channel, incoming('A1'))).rejects.toBeInstanceOf(FencedError);
      await expect(
        writer.recordStatuses(old, channel, [{ keyId: 'O1', status: 'sent', timestamp: 1 }]),
      ).rejects.toBeInstanceOf(FencedError);
      await expect(writer.recordChats(old, channel, [{ id: ADA }])).rejects.toBeInstanceOf(FencedError);
      expect(await events()).toEqual([]);
      expect(await reader.listChats(channel, { count: 1, offset: 0 })).toMatchObject({ total: 0 });
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

    it('writes one row when the same message is recorded by two at once', async () => {
      const results = await Promise.all([1, 2, 3].map(() => writer.recordMessage(fence, channel, incoming('A1'))));
      expect(results.flatMap(({ ids }) => ids)).toEqual(['id-A1']);
      expect(await told()).toEqual(['messages.post id-A1']);
    });
  });
});

function record(keyId: string, fields: Partial<Message>, defaults: Message): MessageRecord & { keyAliases?: string[] } {
  const message = Object.fromEntries(
    Object.entries({ ...defaults, id: `id-${keyId}`, ...fields }).filter(([, value]) => value !== undefined),
  ) as Message;
  return { message, key: { id: keyId, remote: message.chat_id } };
}

function incoming(keyId: string, fields: Partial<Message> = {}) {
  return record(keyId, fields, {
    id: '',
    from_me: false,
    type: 'text',
    chat_id: ADA,
    timestamp: 100,
    source: 'mobile',
    text: { body: 'Hello' },
    from: '15550001111',
    from_name: 'Ada Example',
  });
}

function own(keyId: string, fields: Partial<Message> = {}) {
  return record(keyId, fields, {
    id: '',
    from_me: true,
    type: 'text',
    chat_id: ADA,
    timestamp: 100,
    source: 'api',
    device_id: 7,
    status: 'pending',
    text: { body: 'Hi' },
    from: '15550009999',
  });
}

function summary(type: string, method: string, payload: Record<string, unknown>): string {
  const list = Object.values(payload)[0] as (string | { id: string; status?: string; changes?: string[] })[];
  const [item] = list;
  if (item === undefined || typeof item === 'string') return `${type}.${method} ${String(item)}`;
  const detail = type === 'statuses' ? ` ${item.status}` : item.changes ? ` ${item.changes.join(',')}` : '';
  return `${type}.${method} ${item.id}${detail}`;
}
