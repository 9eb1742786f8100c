/** Whatever a phone can put into what it sends is stored and in events, and leaves the channel's other writes alone. */
import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { ChatWriter } from './chats/chat-writer.js';
import { EventWriter } from './events/event-writer.js';
import { ADA, GROUP, incoming, own } from './example-records.js';
import type { GroupFacts } from './groups/group-record.js';
import { GroupWriter } from './groups/group-writer.js';
import { MessageReader } from './messages/message-reader.js';
import { MessageWriter, type MessageChange } from './messages/message-writer.js';
import { PictureWriter } from './people/picture-writer.js';

const LONG = Array.from({ length: 2_000 }, (_, index) => `${index}`).join('');
const STRANGE: [string, string][] = [
  ['NUL', 'a\u0000b'],
  ['a lone high surrogate', 'a\uD83D'],
  ['a lone low surrogate', '\uDE00b'],
  ['surrogates in the wrong order', '\uDE00\uD83D'],
  ['other controls', '\u0001\u001F\u007F\u0085\uFFFF\u{10FFFF}'],
  ['a long text', 'x'.repeat(70_000)],
  ['what looks like an escape', '\\u0000 \\ud83d "'],
];
const FACTS: GroupFacts = {
  name: 'Example Group',
  createdAt: 1,
  restricted: false,
  announcements: false,
  membersMayAdd: false,
  approval: false,
  ephemeralS: 0,
  communityAnnounce: false,
  isParent: false,
  addressing: 'lid',
};
const MOMENTS = [Number.NaN, Infinity, -1, 0.5, 2 ** 63, 1e300];

describe('what a phone may send', () => {
  let database: RegionalDatabase;
  let messages: MessageWriter;
  let chats: ChatWriter;
  let groups: GroupWriter;
  let reader: MessageReader;
  let channel: string;
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 5n };
  const notified = async (type: string) =>
    (await reader.events(channel, 0, 1_000)).filter((event) => event.type === type).map(({ payload }) => payload);

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'strange-records-spec',
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 5)', [shard]);
    messages = new MessageWriter({ database });
    chats = new ChatWriter({ database });
    groups = new GroupWriter({ database });
    reader = new MessageReader({ database, now: () => 1_790_000_000_000 });
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    channel = `CH-${randomBytes(6).toString('hex')}`;
    await messages.recordHistory(fence, channel, { chats: [{ id: ADA }, { id: GROUP }] });
  });

  /** What is left of a text in the store. */
  const kept = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');

  it.each(STRANGE)('is stored and in events: an edit and a reaction with %s', async (_what, text) => {
    await messages.recordMessage(fence, channel, incoming('A1'));
    const change = (keyId: string, apply: MessageChange['apply']): MessageChange => ({
      trigger: incoming(keyId, { type: 'action', text: undefined, action: { target: 'id-A1', type: 'edit' } }),
      target: { keyId: 'A1', chatId: ADA },
      apply,
    });
    await messages.recordChange(
      fence,
      channel,
      change('E1', (before) => ({ ...before, text: { body: text } })),
    );
    await messages.recordChange(
      fence,
      channel,
      change('R1', (before) => ({ ...before, reactions: [{ emoji: text, count: 1, unread: true, author: '1' }] })),
    );
    expect(await reader.message(channel, 'id-A1')).toMatchObject({
      text: { body: kept(text) },
      reactions: [{ emoji: kept(text) }],
    });
    const updates = (await notified('messages')).flatMap((payload) => payload['messages_updates'] ?? []);
    expect(updates).toMatchObject([
      { after_update: { text: { body: kept(text) } }, changes: ['text'] },
      { before_update: { text: { body: kept(text) } }, changes: ['reactions'] },
    ]);
  });

  it.each(STRANGE)('is stored and in events: messages, names, groups and states with %s', async (_what, text) => {
    await messages.recordMessage(fence, channel, incoming('A1', { text: { body: text }, from_name: text }));
    await messages.recordMessage(fence, channel, own('O1', { text: { body: text }, [text.slice(0, 9)]: text }));
    await messages.recordStatuses(fence, channel, [
      { keyId: 'O1', status: 'failed', timestamp: 1, errors: [{ code: 1, message: text, details: text }] },
    ]);
    await chats.recordContacts(fence, channel, [
      { id: '15550001111', name: text, pushName: text, about: text, lid: '9' },
    ]);
    await chats.recordChats(fence, channel, [{ id: '15550003333@s.whatsapp.net', name: text }]);
    await groups.recordGroups(fence, channel, [
      { id: GROUP, member: true, facts: { ...FACTS, name: text }, members: [] },
    ]);
    await groups.changeGroup(fence, channel, GROUP, (group) => ({ ...group, facts: { ...group.facts, about: text } }));
    await new PictureWriter({ database }).recordQueried(fence, channel, { id: ADA, picture: text, pictureFull: text });
    await new EventWriter({ database }).append(fence, channel, [
      {
        type: 'calls',
        method: 'post',
        payload: { calls: [{ id: text, from: text, chat_id: text, status: 'ringing', timestamp: 1 }] },
      },
    ]);
    expect(await reader.message(channel, 'id-A1')).toMatchObject({ text: { body: kept(text) } });
    expect(await reader.message(channel, 'id-O1')).toMatchObject({ status: 'failed', text: { body: kept(text) } });
    const types = ['messages', 'statuses', 'contacts', 'chats', 'groups', 'calls'];
    for (const type of types) expect(JSON.stringify(await notified(type))).toContain(JSON.stringify(kept(text)));
  });

  it.each(MOMENTS)('is stored and in events: %s as a time or a count', async (moment) => {
    await messages.recordMessages(fence, channel, [incoming('A1', { timestamp: moment, device_id: moment })]);
    await messages.recordMessage(fence, channel, own('O1', { timestamp: moment, device_id: moment }));
    await messages.recordStatuses(fence, channel, [{ keyId: 'O1', status: 'delivered', timestamp: moment }]);
    await messages.recordStatuses(fence, channel, [{ keyId: 'O1', status: 'read', viewerId: 'v', timestamp: moment }]);
    const chat = { timestamp: moment, unread: moment, muteUntilMs: moment };
    await messages.recordHistory(fence, channel, { chats: [{ id: ADA, ...chat }] });
    await chats.recordChats(fence, channel, [{ id: '1@s.whatsapp.net', ...chat }]);
    await messages.recordMessages(fence, channel, [incoming('A2')]);
    await chats.clearChat(fence, channel, ADA, moment);
    await groups.recordGroups(fence, channel, [
      { id: GROUP, member: true, facts: { ...FACTS, createdAt: moment }, members: [] },
    ]);
    expect(await notified('messages')).not.toEqual([]);
    expect(await notified('statuses')).toHaveLength(3);
  });

  it.each([
    ['of any length', LONG],
    ['with NUL', 'K\u0000'],
    ['with half a character', 'K\uD83D'],
  ])('is stored, in events and found again: ids %s', async (_what, id) => {
    const chatId = `${id}@s.whatsapp.net`;
    await messages.recordMessages(fence, channel, [incoming(id, { id, chat_id: chatId, from: id })]);
    await messages.recordMessages(fence, channel, [incoming(id, { id, chat_id: chatId, from: id })]);
    await messages.recordMessage(fence, channel, own(`O${id}`, { id: `o${id}`, chat_id: chatId }));
    await messages.recordStatuses(fence, channel, [{ keyId: `O${id}`, status: 'read', timestamp: 1 }]);
    await messages.recordStatuses(fence, channel, [{ keyId: `O${id}`, status: 'read', viewerId: id, timestamp: 1 }]);
    await messages.recordRead(fence, channel, [id]);
    await messages.recordChange(fence, channel, {
      trigger: incoming(`E${id}`, { id: `e${id}`, chat_id: chatId, type: 'action' }),
      target: { keyId: id, chatId },
      apply: (before) => ({ ...before, text: { body: 'edited' } }),
    });
    await messages.recordRemoval(fence, channel, [id]);
    await chats.recordContacts(fence, channel, [{ id, name: 'n', lid: id }]);
    await chats.mergePeople(fence, channel, [{ lid: id, phone: id }]);
    await chats.deleteChat(fence, channel, chatId);
    const methods = (await reader.events(channel, 0, 1_000)).map(({ type, method }) => `${type}.${method}`);
    expect(methods.filter((method) => method === 'messages.post')).toHaveLength(3);
    expect(methods).toEqual(
      expect.arrayContaining(['messages.patch', 'messages.delete', 'statuses.post', 'chats.delete']),
    );
  });
});
