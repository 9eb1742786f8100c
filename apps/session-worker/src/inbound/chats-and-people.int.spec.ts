import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { listMessagesQuery } from '@dormouse/gateway-contract';
import { GroupReader, MessageReader } from '@dormouse/message-store/read';
import { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { WAMessageStubType } from '../socket/test-library.js';
import type { Attachment } from '../socket/open-session.js';
import { fakeSession, type FakeSession } from './fake-session.js';
import { Inbound } from './inbound.js';
import { ChatTimers } from '../socket/chat-timers.js';

const ADA = '15550001111@s.whatsapp.net';
const ADA_LID = '900000000001@lid';
const ALL = listMessagesQuery.parse({ sort: 'asc', normal_types: 'false' });
const PAGE = { count: 500, offset: 0 };

describe('Inbound: chats and people', () => {
  let database: RegionalDatabase;
  let reader: MessageReader;
  let session: FakeSession;
  let attachment: Attachment;
  let inbound: Inbound;
  let channelId: string;
  let wantsNotices: boolean;
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 3n };

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'inbound-chats-spec',
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 3)', [shard]);
    reader = new MessageReader({ database });
  });
  afterAll(() => database.close());
  beforeEach(() => {
    wantsNotices = false;
    channelId = `CH-${randomBytes(6).toString('hex')}`;
    inbound = inboundOf(new ChatWriter({ database }));
    connect();
  });
  /** What a worker's listener is. */
  const inboundOf = (chats: ChatWriter): Inbound =>
    new Inbound({
      timers: new ChatTimers(() => Promise.resolve(undefined)),
      writer: new MessageWriter({ database }),
      chats,
      groups: new GroupWriter({ database }),
      pictures: new PictureWriter({ database }),
      autoBehaviours: { attach: () => undefined, received: () => Promise.resolve() },
      wantsGroupNotices: () => Promise.resolve(wantsNotices),
      queryGroup: () => undefined,
      eventsReady: () => undefined,
      retryForMs: 1_000,
      now: () => 1_790_000_000_000,
      wait: () => Promise.resolve(),
    });
  /** The channel's next socket. */
  const connect = (): void => {
    session = fakeSession(channelId, fence);
    attachment = inbound.attach(session);
  };

  const message = (id: string, remoteJid: string, fields: Partial<WAMessage['key']> = {}): WAMessage => ({
    key: { id, remoteJid, fromMe: false, ...fields },
    message: { conversation: `text ${id}` },
    messageTimestamp: 1_789_999_000,
    pushName: 'Ada',
  });
  const receive = async (event: Parameters<FakeSession['library']['ev']['emit']>[0], what: unknown) => {
    session.library.ev.emit(event, what as never);
    await attachment.drained();
  };
  const receiveMessages = (...messages: WAMessage[]) => receive('messages.upsert', { messages, type: 'notify' });
  const notified = async () =>
    (await reader.events(channelId, 0, 1_000)).map(({ type, method }) => `${type}.${method}`);
  const chatIds = async () => (await reader.listChats(channelId, PAGE)).chats.map(({ id }) => id);

  it('keeps a stranger under the LID until the number comes along, then has one chat with all of it', async () => {
    await receiveMessages(message('A1', ADA_LID));
    expect(await chatIds()).toEqual([ADA_LID]);
    expect((await reader.listMessages(channelId, ALL)).messages).toMatchObject([{ chat_id: ADA_LID, from: ADA_LID }]);
    await receiveMessages(message('A2', ADA_LID, { remoteJidAlt: ADA }));
    expect(await chatIds()).toEqual([ADA]);
    const { messages } = await reader.listMessages(channelId, ALL);
    expect(messages).toMatchObject([
      { chat_id: ADA, from: '15550001111' },
      { chat_id: ADA, from: '15550001111' },
    ]);
    expect((await reader.chat(channelId, ADA_LID))?.id).toBe(ADA);
    expect((await reader.contact(channelId, ADA_LID))?.id).toBe('15550001111');
  });

  it('joins them as well when the phone sends the number by itself', async () => {
    await receiveMessages(message('A1', ADA_LID), message('B1', '15550002222@s.whatsapp.net'));
    await receive('lid-mapping.update', { lid: ADA_LID, pn: ADA });
    expect((await chatIds()).sort()).toEqual([ADA, '15550002222@s.whatsapp.net']);
    expect(session.faults).toEqual([]);
  });

  it('notes where the new picture of a group is, and that there is none any more', async () => {
    const id = '120363000000000001@g.us';
    const members = [{ id: '15550009999@s.whatsapp.net', admin: 'admin' }];
    await receive('groups.upsert', [{ id, subject: 'All', creation: 1, participants: members }]);
    Object.assign(session.library, {
      profilePictureUrl: (jid: string, kind: string) => Promise.resolve(`https://pictures.example/${kind}/${jid}`),
    });
    const shown = async () => (await reader.listChats(channelId, PAGE)).chats.find((chat) => chat.id === id);
    await receive('contacts.update', [{ id, imgUrl: 'changed' }]);
    await new Promise((resolve) => setImmediate(resolve)); // it is queried while other things are received
    await attachment.drained();
    expect(await shown()).toMatchObject({
      chat_pic: `https://pictures.example/preview/${id}`,
      chat_pic_full: `https://pictures.example/image/${id}`,
    });
    await receive('contacts.update', [{ id, imgUrl: 'removed' }]);
    await new Promise((resolve) => setImmediate(resolve));
    await attachment.drained();
    expect(await shown()).not.toHaveProperty('chat_pic');
    expect(await notified()).toEqual(['groups.post']);
  });

  it('counts as unread what came after the chat was read on the phone, also when that comes late or again', async () => {
    const unread = async () => (await reader.chat(channelId, ADA))?.unread;
    await receiveMessages(message('A1', ADA), { ...message('A2', ADA), messageTimestamp: 1_789_999_005 });
    session.reads.set(ADA, 1_789_999_000);
    await receive('chats.update', [{ id: ADA, unreadCount: 0 }]);
    expect(await unread()).toBe(1);
    session.reads.set(ADA, 1_789_999_005);
    await receive('chats.update', [{ id: ADA, unreadCount: 0 }]);
    expect(await unread()).toBe(0);
    session.reads.set(ADA, 1_789_999_000);
    await receive('chats.update', [{ id: ADA, unreadCount: 0 }]);
    expect(await unread()).toBe(0);
  });

  describe('of what happens in a group', () => {
    const id = '120363000000000001@g.us';
    const members = [{ id: '15550009999@s.whatsapp.net', admin: 'admin' }, { id: ADA }];
    const rename: WAMessage = {
      key: { id: 'N1', remoteJid: id, participant: ADA, fromMe: false },
      messageStubType: WAMessageStubType.GROUP_CHANGE_SUBJECT,
      messageStubParameters: ['Others'],
      messageTimestamp: 1_789_999_000,
    };
    const listed = async () => (await reader.listMessages(channelId, ALL)).messages.map(({ type }) => type);
    beforeEach(() =>
      receive('groups.upsert', [{ id, addressingMode: 'pn', subject: 'All', creation: 1, participants: members }]),
    );

    it('notifies by groups events alone, and lists the notice', async () => {
      await receiveMessages(rename);
      expect(await notified()).toEqual(['groups.post', 'groups.patch']);
      expect(await listed()).toEqual(['system']);
    });

    it('notifies by messages events, too, where the settings want those', async () => {
      wantsNotices = true;
      await receiveMessages(rename);
      expect(await notified()).toEqual(['groups.post', 'groups.patch', 'messages.post']);
    });

    it('shows a member who changed number under the new one', async () => {
      const messageStubType = WAMessageStubType.GROUP_PARTICIPANT_CHANGE_NUMBER;
      await receiveMessages({ ...rename, messageStubType, messageStubParameters: ['15550003333@s.whatsapp.net'] });
      const group = await new GroupReader({ database }).group(channelId, id);
      expect(group?.participants.map((member) => member.id)).toEqual(['15550009999', '15550003333']);
      const puts = (await reader.events(channelId, 0, 100)).flatMap(
        ({ payload }) => payload['groups_participants'] ?? [],
      );
      expect(puts).toEqual([
        { group_id: id, participants: ['15550003333'], action: 'add' },
        { group_id: id, participants: ['15550001111'], action: 'remove' },
      ]);
    });

    it('notices that the timer of its messages was switched off, which the library emits as null', async () => {
      const shown = async () => (await new GroupReader({ database }).group(channelId, id))?.ephemeral;
      await receive('chats.update', [{ id, ephemeralExpiration: 86_400 }]);
      expect(await shown()).toBe(86_400);
      await receive('chats.update', [{ id, ephemeralExpiration: null }]);
      expect(await shown()).toBe(0);
      expect(await notified()).toEqual(['groups.post', 'groups.patch', 'groups.patch']);
    });
  });

  it('notifies each step of a request to join a group, also of a person known by private id alone', async () => {
    const id = '120363000000000001@g.us';
    const members = [{ id: '15550009999@s.whatsapp.net', admin: 'admin' }];
    await receive('groups.upsert', [{ id, subject: 'All', creation: 1, participants: members }]);
    const request = { id, author: ADA_LID, method: 'invite_link' };
    await receive('group.join-request', { ...request, participant: ADA_LID, participantPn: ADA, action: 'created' });
    await receive('group.join-request', { ...request, participant: ADA_LID, participantPn: ADA, action: 'created' });
    await receive('group.join-request', { ...request, participant: '900000000077@lid', action: 'created' });
    await receive('group.join-request', { ...request, participant: ADA_LID, participantPn: ADA, action: 'rejected' });
    const steps = (await reader.events(channelId, 0, 100)).flatMap(
      ({ payload }) => payload['groups_participants'] ?? [],
    );
    expect(steps).toEqual([
      { group_id: id, participants: ['15550001111'], action: 'request' },
      { group_id: id, participants: ['900000000077@lid'], action: 'request' },
      { group_id: id, participants: ['15550001111'], action: 'rejected_request' },
    ]);
  });

  it('notifies what the phone changes of a chat, once, and that it was deleted', async () => {
    await receiveMessages(message('A1', ADA));
    const before = (await notified()).length;
    await receive('chats.update', [{ id: ADA, archived: true, pinned: 1_789_999_999 }]);
    await receive('chats.update', [{ id: ADA, archived: true, pinned: 1_789_999_999 }]);
    await receive('chats.update', [{ id: ADA, unreadCount: -1 }]);
    expect(await reader.chat(channelId, ADA)).toMatchObject({ archive: true, pin: true, unread: 1 });
    await receive('chats.delete', [ADA]);
    expect(await chatIds()).toEqual([]);
    expect((await notified()).slice(before)).toEqual(['chats.patch', 'chats.delete']);
  });

  it.each([
    ['deleted', 'chats.delete', [ADA], 0],
    ['cleared', 'messages.delete', { jid: ADA, all: true, untilS: 1_789_999_000 }, 1],
  ] as const)(
    'a long chat that is %s on the phone is so to its end, though the worker dies in between',
    async (_what, event, what, chatsLeft) => {
      const writer = new MessageWriter({ database });
      const past = Array.from({ length: 4_100 }, (_, at) => `H${at}`);
      for (let at = 0; at < past.length; at += 500) {
        const messages = past.slice(at, at + 500).map((id) => ({
          key: { id, remote: ADA },
          message: {
            id,
            from_me: false,
            type: 'text',
            chat_id: ADA,
            timestamp: 1_789_999_000,
            source: 'mobile',
          } as const,
        }));
        await writer.recordHistory(fence, channelId, { messages });
      }
      inbound = inboundOf(new ChatWriter({ database: dying(database, 1) }));
      connect();
      await receive(event, what);
      expect(session.faults).toMatchObject([{ message: 'killed' }]);
      // The first socket of the worker that takes over.
      inbound = inboundOf(new ChatWriter({ database }));
      connect();
      await attachment.drained();
      expect((await reader.listMessages(channelId, ALL)).total).toBe(0);
      expect(await chatIds()).toHaveLength(chatsLeft);
      expect((await notified()).filter((kind) => kind === event)).toHaveLength(1);
      expect(session.faults).toEqual([]);
    },
    30_000,
  );

  it('notifies nothing twice under a new id, whatever arrives again on this socket or the next', async () => {
    const group = '120363000000000001@g.us';
    const act = (id: string, content: WAMessage['message']) => ({ ...message(id, ADA), message: content });
    const own = { remoteJid: ADA, id: 'O1', fromMe: true };
    const received: [string, unknown][] = [
      ['messages.upsert', { messages: [message('A1', ADA), message('A2', ADA)], type: 'notify' }],
      ['messages.upsert', { messages: [act('A3', { reactionMessage: { key: { id: 'A1' }, text: '👍' } })] }],
      [
        'messages.upsert',
        {
          messages: [
            act('A4', { protocolMessage: { type: 14, key: { id: 'A1' }, editedMessage: { conversation: 'x' } } }),
          ],
        },
      ],
      [
        'messages.upsert',
        { messages: [act('A5', { protocolMessage: { type: 0, key: { id: 'A1', remoteJid: ADA } } })] },
      ],
      ['messages.delete', { keys: [{ remoteJid: ADA, id: 'A2' }] }],
      ['messages.upsert', { messages: [{ ...message('O1', ADA, { fromMe: true }), status: 1 }], type: 'notify' }],
      ['messages.update', [{ key: own, update: { status: 3, messageTimestamp: 1_789_999_001 } }]],
      ['messages.update', [{ key: own, update: { status: 4, messageTimestamp: 1_789_999_002 } }]],
      ['contacts.upsert', [{ id: ADA, name: 'Ada (work)' }]],
      ['contacts.update', [{ id: ADA, notify: 'Ada of Examples' }]],
      ['chats.update', [{ id: ADA, archived: true }]],
      ['chats.update', [{ id: ADA, muteEndTime: 1_790_028_800_000 }]],
      [
        'groups.upsert',
        [{ id: group, subject: 'Neighbours', participants: [{ id: ADA }, { id: '15550009999@s.whatsapp.net' }] }],
      ],
      ['group-participants.update', { id: group, participants: [{ id: ADA }], action: 'promote' }],
      [
        'messages.upsert',
        {
          messages: [
            {
              key: { id: 'G1', remoteJid: group, participant: ADA },
              messageStubType: 21,
              messageStubParameters: ['New'],
            },
          ],
        },
      ],
      ['group-participants.update', { id: group, participants: [{ id: ADA }], action: 'remove' }],
      ['chats.delete', [ADA]],
    ];
    const kinds = new Set<string>();
    for (const [event, what] of received) {
      const before = (await notified()).length;
      await receive(event as never, what);
      const first = await notified();
      expect([event, first.length]).not.toEqual([event, before]);
      first.slice(before).forEach((kind) => kinds.add(kind));
      await receive(event as never, what);
      connect();
      await receive(event as never, what);
      expect([event, await notified()]).toEqual([event, first]);
    }
    expect(session.faults).toEqual([]);
    const messages = ['messages.post', 'messages.patch', 'messages.delete', 'statuses.post'];
    const others = ['chats.post', 'chats.patch', 'chats.delete', 'contacts.post', 'contacts.patch'];
    expect([...kinds].sort()).toEqual([...messages, ...others, 'groups.post', 'groups.put', 'groups.patch'].sort());
  });

  it('notifies no chats and contacts while the phone sends a new device its state', async () => {
    session.library.authState.creds.accountSyncCounter = 0;
    await receive('contacts.upsert', [{ id: ADA, name: 'Ada Example' }]);
    await receive('chats.update', [{ id: ADA, archived: true }]);
    expect(await notified()).toEqual([]);
    session.library.authState.creds.accountSyncCounter = 1;
    await receive('contacts.upsert', [{ id: ADA, name: 'Ada (work)' }]);
    expect(await notified()).toEqual(['contacts.post', 'contacts.patch']);
  });

  it('forgets what an earlier device received of the chats when a new one is linked', async () => {
    await receiveMessages(message('A1', ADA));
    await receive('chats.update', [{ id: ADA, archived: true, muteEndTime: -1 }]);
    await receive('connection.update', { isNewLogin: true });
    expect(await reader.chat(channelId, ADA)).toMatchObject({ archive: false, mute: false });
  });

  it('stores a long past in pieces, between which others write, and joins its people', async () => {
    const people = Array.from({ length: 300 }, (_, index) => ({
      lid: `${910_000_000_000 + index}@lid`,
      pn: `${15_551_000_000 + index}@s.whatsapp.net`,
    }));
    const messages = people.flatMap(({ lid }, index) =>
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((nth) => message(`H${index}.${nth}`, lid)),
    );
    const history = receive('messaging-history.set', {
      chats: people.map(({ lid }) => ({ id: lid, archived: true, unreadCount: 2 })),
      contacts: people.map(({ lid }, index) => ({ id: lid, name: `Person ${index}` })),
      messages,
      lidPnMappings: people,
      syncType: proto.HistorySync.HistorySyncType.RECENT,
    });
    let written = 0;
    let done = false;
    const writing = (async () => {
      while (!done) {
        await new ChatWriter({ database }).recordChats(fence, channelId, [
          { id: '15550009999@s.whatsapp.net', unread: ++written },
        ]);
      }
    })();
    await history.finally(() => (done = true));
    await writing;
    expect(written).toBeGreaterThan(10);
    const { chats, total } = await reader.listChats(channelId, PAGE);
    expect(total).toBe(301);
    expect(chats.every(({ id }) => id.endsWith('@s.whatsapp.net'))).toBe(true);
    expect((await reader.listMessages(channelId, ALL)).total).toBe(3_000);
    expect(await reader.chat(channelId, people[7]?.lid ?? '')).toMatchObject({
      name: 'Person 7',
      archive: true,
      unread: 2,
    });
    expect((await notified()).filter((kind) => kind.startsWith('messages'))).toEqual([]);
    expect(session.faults).toEqual([]);
  }, 60_000);
});

/** The database as seen by a worker that dies after a number of transactions: none of its later ones arrive. */
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
