import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { listMessagesQuery, type ListMessagesQuery } from '@dormouse/gateway-contract';
import { ADA, GROUP, incoming, own } from '../example-records.js';
import { messageListQueries } from './message-query.js';
import { MessageReader } from './message-reader.js';
import { MessageWriter } from './message-writer.js';

describe('MessageReader', () => {
  let database: RegionalDatabase;
  let writer: MessageWriter;
  let reader: MessageReader;
  let channel: string;
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 5n };
  const query = (given: Record<string, string> = {}): ListMessagesQuery => listMessagesQuery.parse(given);
  const events = async (afterSeq = 0) => reader.events(channel, afterSeq, 1_000);

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'message-reader-spec',
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
      await writer.recordHistory(fence, channel, { chats: [{ id: '15550003333@s.whatsapp.net' }] });
      expect(await reader.listChatMessages(channel, '15550003333@s.whatsapp.net', query())).toMatchObject({ total: 0 });
      expect(await reader.listChatMessages(channel, '15550004444@s.whatsapp.net', query())).toBeUndefined();
    });

    it('reads each filter from an index', async () => {
      const plans = await Promise.all(
        [{}, { author: '15550002222' }, { from_me: 'true' }, { time_from: '1' }].flatMap((given) =>
          [undefined, ADA].map(async (chatId) => {
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
      await writer.recordHistory(fence, channel, { contacts: [{ id: '15550001111', name: 'Ada (work)' }] });
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
      await writer.recordHistory(fence, channel, { chats: [{ id: ADA, unread: 0 }] });
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

    it('stores history without events, and the states of chats that come with it', async () => {
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
});
