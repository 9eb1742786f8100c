import { randomBytes, randomInt } from 'node:crypto';
import { FencedError, openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { listMessagesQuery, toMediaId } from '@dormouse/gateway-contract';
import { ChatWriter } from './chat-writer.js';
import { ADA, GROUP, incoming, own } from '../example-records.js';
import { MessageReader } from '../messages/message-reader.js';
import { MessageWriter } from '../messages/message-writer.js';

const ALL = listMessagesQuery.parse({ normal_types: 'false' });
const NORMAL = listMessagesQuery.parse({});
const PAGE = { count: 100, offset: 0 };
const LID_CHAT = '900000000001@lid';
const PAIR = { lid: '900000000001', phone: '15550001111' };

describe('ChatWriter', () => {
  let database: RegionalDatabase;
  let messages: MessageWriter;
  let chats: ChatWriter;
  let reader: MessageReader;
  let channel: string;
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 5n };
  const notified = async (afterSeq = 0) =>
    (await reader.events(channel, afterSeq, 1_000)).map(({ type, method, payload }) => ({
      kind: `${type}.${method}`,
      payload,
    }));
  const lastSeq = async () => (await reader.events(channel, 0, 1_000)).at(-1)?.seq ?? 0;

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'chat-writer-spec',
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 5)', [shard]);
    messages = new MessageWriter({ database });
    chats = new ChatWriter({ database });
    reader = new MessageReader({ database, now: () => 1_790_000_000_000 });
  });
  afterAll(() => database.close());
  beforeEach(() => {
    channel = `CH-${randomBytes(6).toString('hex')}`;
  });

  describe('chats', () => {
    it('has a new chat whole in its event, and a message of an unknown chat makes one', async () => {
      await chats.recordChats(fence, channel, [{ id: GROUP, name: 'Example Group', timestamp: 50 }]);
      await messages.recordMessage(fence, channel, incoming('A1'));
      await messages.recordMessage(fence, channel, own('O1', { chat_id: '15550002222@s.whatsapp.net' }));
      const events = await notified();
      expect(events.map(({ kind }) => kind)).toEqual([
        'chats.post',
        'messages.post',
        'chats.post',
        'messages.post',
        'chats.post',
      ]);
      expect(events[0]?.payload).toMatchObject({ chats: [{ id: GROUP, type: 'group', name: 'Example Group' }] });
      expect(events[2]?.payload).toMatchObject({ chats: [{ id: ADA, type: 'contact', unread: 1, not_spam: true }] });
      expect(events[4]?.payload).toMatchObject({ chats: [{ id: '15550002222@s.whatsapp.net', unread: 0 }] });
    });

    it('makes an event of a change with what was before, and none where nothing changed', async () => {
      await messages.recordMessage(fence, channel, incoming('A1'));
      const seq = await lastSeq();
      await chats.recordChats(fence, channel, [{ id: ADA, archived: true, muteUntilMs: 1_800_000_000_000 }]);
      expect(await chats.recordChats(fence, channel, [{ id: ADA, archived: true }])).toEqual({ seqs: [] });
      expect(await notified(seq)).toMatchObject([
        {
          kind: 'chats.patch',
          payload: {
            chats_updates: [
              {
                before_update: { id: ADA, archive: false, name: 'Ada Example' },
                after_update: { id: ADA, archive: true, mute: true, mute_until: 1_800_000_000_000 },
                changes: ['mute', 'mute_until', 'archive'],
              },
            ],
          },
        },
      ]);
    });

    it('counts a chat that was marked as unread as one with something unread', async () => {
      await messages.recordMessage(fence, channel, incoming('A1'));
      await chats.recordChats(fence, channel, [{ id: ADA, markedUnread: true }]);
      expect(await reader.chat(channel, ADA)).toMatchObject({ unread: 1 });
      await chats.recordChats(fence, channel, [{ id: ADA, unread: 0 }]);
      await chats.recordChats(fence, channel, [{ id: ADA, markedUnread: true }]);
      expect(await reader.chat(channel, ADA)).toMatchObject({ unread: 1 });
    });

    it('removes a chat with its messages, makes one event of it, and leaves the others', async () => {
      await messages.recordMessages(fence, channel, [incoming('A1'), incoming('G1', { chat_id: GROUP })]);
      await messages.recordMessage(fence, channel, own('O1'));
      const seq = await lastSeq();
      await chats.deleteChat(fence, channel, ADA);
      await chats.deleteChat(fence, channel, ADA);
      expect(await notified(seq)).toEqual([{ kind: 'chats.delete', payload: { chats_removed: [ADA] } }]);
      expect(await reader.chat(channel, ADA)).toBeUndefined();
      expect(await reader.listChatMessages(channel, ADA, ALL)).toBeUndefined();
      expect(await reader.listMessages(channel, ALL)).toMatchObject({ total: 1, messages: [{ id: 'id-G1' }] });
      expect((await reader.listChats(channel, PAGE)).total).toBe(1);
    });

    it('removes of a chat that was deleted up to a moment what is not younger, however often it receives that', async () => {
      await messages.recordMessages(fence, channel, [incoming('A1', { timestamp: 200 })]);
      await messages.recordMessages(fence, channel, [incoming('A2', { timestamp: 201 })]);
      const seq = await lastSeq();
      await chats.deleteChat(fence, channel, ADA, 200);
      await chats.deleteChat(fence, channel, ADA, 200);
      expect((await notified(seq)).map(({ kind }) => kind)).toEqual(['messages.delete', 'chats.patch']);
      expect((await reader.listChatMessages(channel, ADA, ALL))?.messages).toMatchObject([{ id: 'id-A2' }]);
      await chats.deleteChat(fence, channel, ADA, 201);
      expect(await reader.chat(channel, ADA)).toBeUndefined();
    });

    it('clears a chat up to a moment: what is younger stays, and the chat', async () => {
      await messages.recordMessages(fence, channel, [
        incoming('A1', { timestamp: 100 }),
        incoming('A2', { timestamp: 200 }),
        incoming('A3', { timestamp: 201 }),
        incoming('G1', { chat_id: GROUP }),
      ]);
      const seq = await lastSeq();
      await chats.clearChat(fence, channel, ADA, 200);
      await chats.clearChat(fence, channel, ADA, 200);
      const events = await notified(seq);
      expect(events[0]).toEqual({ kind: 'messages.delete', payload: { messages_removed_all: ADA } });
      expect(events.filter(({ kind }) => kind === 'messages.delete')).toHaveLength(1);
      expect(await reader.listChatMessages(channel, ADA, ALL)).toMatchObject({ total: 1, messages: [{ id: 'id-A3' }] });
      expect(await reader.chat(channel, ADA)).toMatchObject({ unread: 1, last_message: { id: 'id-A3' } });
      await chats.clearChat(fence, channel, ADA);
      expect(await reader.listChatMessages(channel, ADA, ALL)).toMatchObject({ total: 0, messages: [] });
      expect((await reader.chat(channel, ADA))?.last_message).toBeUndefined();
      expect((await reader.listMessages(channel, ALL)).total).toBe(1);
    });

    it('refuses an owner that has been replaced', async () => {
      const old = { shard, epoch: 4n };
      await expect(chats.clearChat(old, channel, ADA)).rejects.toBeInstanceOf(FencedError);
      await expect(chats.recordChats(old, channel, [{ id: ADA }])).rejects.toBeInstanceOf(FencedError);
      await expect(chats.deleteChat(old, channel, ADA)).rejects.toBeInstanceOf(FencedError);
      await expect(chats.mergePeople(old, channel, [PAIR])).rejects.toBeInstanceOf(FencedError);
    });
  });

  describe('of a long chat', () => {
    const LENGTH = 4_500;
    const lane = randomInt(1_000_000, 2_000_000_000);
    const first: Fence = { shard: lane, epoch: 1n };
    const next: Fence = { shard: lane, epoch: 2n };
    const ended: string[] = [];
    const endFiles = (_connection: unknown, _channelId: string, ids: readonly string[]) => {
      ended.push(...ids);
      return Promise.resolve();
    };
    const left = async () => (await reader.listMessages(channel, ALL)).total;
    const lines = async () =>
      (await database.pool.query('SELECT 1 FROM chat_removals WHERE channel_id = $1', [channel])).rowCount;

    beforeEach(async () => {
      ended.length = 0;
      await database.pool.query(
        'INSERT INTO shard_leases (shard, epoch) VALUES ($1, 1) ON CONFLICT (shard) DO UPDATE SET epoch = 1',
        [lane],
      );
    });

    /** The long chat, and one message elsewhere. */
    const past = async () => {
      for (let from = 0; from < LENGTH; from += 500) {
        const batch = Array.from({ length: 500 }, (_, at) => incoming(`L${from + at}`, { timestamp: from + at }));
        await messages.recordHistory(first, channel, { messages: batch });
      }
      await messages.recordHistory(first, channel, { messages: [incoming('G1', { chat_id: GROUP })] });
    };

    /** A worker that dies after so many transactions; then the shard has another owner. */
    const killedAfter = async (transactions: number, work: (writer: ChatWriter) => Promise<unknown>) => {
      await expect(work(new ChatWriter({ database: dying(database, transactions), endFiles }))).rejects.toThrow(
        'killed',
      );
      await database.pool.query('UPDATE shard_leases SET epoch = 2 WHERE shard = $1', [lane]);
    };
    const finish = (fence: Fence) => new ChatWriter({ database, endFiles }).finishRemovals(fence, channel);

    it('the rest goes with the next owner when the first one dies, and what came meanwhile stays', async () => {
      await past();
      const seq = await lastSeq();
      await killedAfter(2, async (writer) => {
        await writer.deleteChat(first, channel, ADA);
        await writer.finishRemovals(first, channel);
      });
      expect(await left()).toBe(LENGTH + 1 - 4_000);
      await messages.recordMessage(next, channel, incoming('NEW', { timestamp: 1 }));
      await expect(finish(first)).rejects.toBeInstanceOf(FencedError);
      await finish(next);
      expect(await reader.listChatMessages(channel, ADA, ALL)).toMatchObject({
        total: 1,
        messages: [{ id: 'id-NEW' }],
      });
      expect(await reader.chat(channel, ADA)).toMatchObject({ unread: 1, last_message: { id: 'id-NEW' } });
      expect([await left(), await lines()]).toEqual([2, 0]);
      expect((await notified(seq)).map(({ kind }) => kind)).toEqual(['chats.delete', 'messages.post', 'chats.post']);
    });

    it('cleared up to a moment, shows at once what is younger, and the rest goes with the next owner', async () => {
      await past();
      await messages.recordMessages(first, channel, [incoming('YOUNG', { timestamp: LENGTH })]);
      await killedAfter(1, async (writer) => {
        await writer.clearChat(first, channel, ADA, LENGTH - 1);
        await writer.finishRemovals(first, channel);
      });
      expect(await reader.chat(channel, ADA)).toMatchObject({ unread: 1, last_message: { id: 'id-YOUNG' } });
      expect(await left()).toBe(LENGTH + 2 - 2_000);
      await finish(next);
      expect([await left(), await lines()]).toEqual([2, 0]);
      expect((await reader.listChatMessages(channel, ADA, ALL))?.messages).toMatchObject([{ id: 'id-YOUNG' }]);
    });

    it('another number ends the files of the earlier one', async () => {
      const id = 'gQAA-gQAB';
      const image = { id: toMediaId('jpg', id), mime_type: 'image/jpeg', file_size: 1 };
      await messages.recordMessage(first, channel, incoming('P1', { id, type: 'image', text: undefined, image }));
      const writer = new ChatWriter({ database, endFiles });
      await writer.beginNumber(first, channel, '15550009999');
      expect(ended).toEqual([]);
      await writer.beginNumber(first, channel, '15550008888');
      expect(ended).toEqual([image.id]);
    });

    it('the files that came with its messages end with them; one that was only sent on there does not', async () => {
      const id = 'gQAA-gQAB';
      const image = { id: toMediaId('jpg', id), mime_type: 'image/jpeg', file_size: 1 };
      const content = { type: 'image' as const, text: undefined, image };
      await messages.recordMessage(first, channel, incoming('P1', { id, ...content }));
      await messages.recordMessage(first, channel, own('O1', { ...content, chat_id: GROUP }));
      const writer = new ChatWriter({ database, endFiles });
      await writer.deleteChat(first, channel, GROUP);
      expect(ended).toEqual([]);
      await writer.deleteChat(first, channel, ADA);
      await writer.finishRemovals(first, channel);
      expect(ended).toEqual([image.id]);
    });
  });

  describe('counts', () => {
    it('keeps the totals of lists without counting rows', async () => {
      await messages.recordMessages(fence, channel, [
        incoming('A1'),
        incoming('A2', { type: 'system', text: undefined, system: { body: 'x' } }),
        incoming('G1', { chat_id: GROUP }),
      ]);
      await messages.recordMessage(fence, channel, incoming('A1'));
      await messages.recordHistory(fence, channel, { messages: [incoming('H1'), incoming('A1')] });
      expect((await reader.listMessages(channel, ALL)).total).toBe(4);
      expect((await reader.listMessages(channel, NORMAL)).total).toBe(3);
      expect((await reader.listChatMessages(channel, ADA, ALL))?.total).toBe(3);
      expect((await reader.listChatMessages(channel, ADA, NORMAL))?.total).toBe(2);
      expect((await reader.listChats(channel, PAGE)).total).toBe(2);
      expect((await reader.listContacts(channel, PAGE)).total).toBe(1);
    });
  });

  describe('contacts', () => {
    it('makes an event of a new contact, then only of what changed', async () => {
      await chats.recordContacts(fence, channel, [{ id: '15550001111', pushName: 'Ada' }]);
      await chats.recordContacts(fence, channel, [{ id: '15550001111', pushName: 'Ada' }]);
      await chats.recordContacts(fence, channel, [{ id: '15550001111', name: 'Ada Example' }]);
      await chats.recordContacts(fence, channel, [{ id: '15550001111', picture: 'https://media.example.com/a.jpg' }]);
      const events = await notified();
      expect(events.map(({ kind }) => kind)).toEqual([
        'contacts.post',
        'contacts.post',
        'contacts.patch',
        'contacts.patch',
      ]);
      expect(events[2]?.payload).toMatchObject({
        contacts_updates: [{ before_update: { name: 'Ada' }, after_update: { name: 'Ada Example', saved: true } }],
      });
      expect(await reader.contact(channel, '15550001111')).toEqual({
        id: '15550001111',
        name: 'Ada Example',
        pushname: 'Ada',
        profile_pic: 'https://media.example.com/a.jpg',
        saved: true,
      });
    });

    it('lists contacts by id, in pages', async () => {
      const contacts = ['3', '1', '2'].map((digit) => ({ id: `1555000000${digit}`, pushName: digit }));
      await messages.recordHistory(fence, channel, { contacts });
      expect(await reader.listContacts(channel, { count: 2, offset: 1 })).toMatchObject({
        contacts: [{ id: '15550000002' }, { id: '15550000003' }],
        count: 2,
        total: 3,
        offset: 1,
      });
    });
  });

  describe('people', () => {
    it('makes one chat of two when the number behind a LID becomes known', async () => {
      const byLid = incoming('L1', { chat_id: LID_CHAT, from: LID_CHAT, timestamp: 200 });
      await messages.recordMessages(fence, channel, [incoming('A1', { from_name: undefined }), byLid]);
      await messages.recordMessage(fence, channel, incoming('G1', { chat_id: GROUP, from: LID_CHAT }));
      const seq = await lastSeq();
      await chats.mergePeople(fence, channel, [PAIR]);
      expect(await chats.mergePeople(fence, channel, [PAIR])).toEqual({ seqs: [] });
      expect(await notified(seq)).toMatchObject([
        {
          kind: 'chats.patch',
          payload: { chats_updates: [{ before_update: { id: LID_CHAT }, after_update: { id: ADA }, changes: ['id'] }] },
        },
      ]);
      const chat = await reader.chat(channel, ADA);
      expect(chat).toMatchObject({ unread: 2, timestamp: 200, name: 'Ada Example', last_message: { id: 'id-L1' } });
      expect(await reader.chat(channel, LID_CHAT)).toEqual(chat);
      expect(await reader.listChatMessages(channel, LID_CHAT, ALL)).toMatchObject({
        total: 2,
        messages: [{ id: 'id-L1', chat_id: ADA, from: '15550001111' }, { id: 'id-A1' }],
      });
      expect(await reader.message(channel, 'id-G1')).toMatchObject({ from: '15550001111' });
      expect((await reader.contact(channel, LID_CHAT))?.id).toBe('15550001111');
      expect((await reader.listChats(channel, PAGE)).chats.map(({ id }) => id)).toEqual([ADA, GROUP]);
      expect((await reader.listContacts(channel, PAGE)).total).toBe(1);
    });

    it('gives one name to a person in mentions, quotes, reactions and votes, and as a reader', async () => {
      const member = '15550002222';
      const named = {
        chat_id: GROUP,
        from: member,
        context: { mentions: [member, LID_CHAT], quoted_author: LID_CHAT, quoted_id: 'x' },
        reactions: [{ emoji: '👍', author: LID_CHAT }],
        text: { body: LID_CHAT },
      };
      await messages.recordMessages(fence, channel, [incoming('G1', named)]);
      const results = [{ id: 'a', name: 'Yes', count: 1, voters: [LID_CHAT] }];
      const poll = { type: 'poll' as const, text: undefined, poll: { title: 'Come?', options: ['Yes'], results } };
      await messages.recordMessage(fence, channel, own('O1', { chat_id: GROUP, ...poll }));
      await messages.recordStatuses(fence, channel, [
        { keyId: 'O1', status: 'read', viewerId: LID_CHAT, timestamp: 1_790_000_001 },
      ]);
      expect(await reader.hasShown(channel, LID_CHAT)).toBe(true);
      await chats.mergePeople(fence, channel, [PAIR]);
      expect(await reader.message(channel, 'id-G1')).toMatchObject({
        context: { mentions: [member, PAIR.phone], quoted_author: PAIR.phone },
        reactions: [{ emoji: '👍' }],
        text: { body: LID_CHAT },
      });
      const stored = await messages.findInChat(channel, { keyId: 'G1', chatId: GROUP });
      expect(stored?.message.reactions).toMatchObject([{ author: PAIR.phone }]);
      expect(await reader.message(channel, 'id-O1')).toMatchObject({ poll: { results: [{ voters: [PAIR.phone] }] } });
      const readers = (await reader.statuses(channel, 'id-O1'))?.statuses.map(({ viewer_id: viewer }) => viewer);
      expect(readers).toContain(PAIR.phone);
      expect(readers).not.toContain(LID_CHAT);
    });

    it('shows another number nothing of the earlier one, and the same number all that it had', async () => {
      await chats.beginNumber(fence, channel, '15550009999');
      await messages.recordMessages(fence, channel, [incoming('A1'), incoming('G1', { chat_id: GROUP })]);
      await messages.recordMessage(fence, channel, own('O1'));
      const seq = await lastSeq();
      expect(await chats.beginNumber(fence, channel, '15550009999')).toBe(false);
      expect(await reader.listMessages(channel, ALL)).toMatchObject({ total: 3 });
      expect(await chats.beginNumber(fence, channel, '15550008888')).toBe(true);
      expect(await reader.listMessages(channel, ALL)).toMatchObject({ total: 0, messages: [] });
      expect(await reader.listChats(channel, PAGE)).toMatchObject({ total: 0, chats: [] });
      expect(await reader.listContacts(channel, PAGE)).toMatchObject({ total: 0, contacts: [] });
      expect(await reader.statuses(channel, 'id-O1')).toBeUndefined();
      expect(await lastSeq()).toBe(seq);
    });

    it('knows which LIDs a customer was shown', async () => {
      await messages.recordMessage(
        fence,
        channel,
        incoming('G1', { chat_id: GROUP, from: LID_CHAT, from_name: undefined }),
      );
      expect(await reader.hasShown(channel, LID_CHAT)).toBe(true);
      expect(await reader.hasShown(channel, '900000000002@lid')).toBe(false);
    });
  });
});

/** The database as a worker sees it that dies after so many transactions: nothing it sends reaches it any more. */
function dying(database: RegionalDatabase, transactions: number): Pick<RegionalDatabase, 'pool'> {
  let begun = 0;
  const pool = new Proxy(database.pool, {
    get(target, property): unknown {
      const value: unknown = Reflect.get(target, property, target);
      if (property === 'connect' && (begun += 1) > transactions) return () => Promise.reject(new Error('killed'));
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { pool };
}
