import { randomBytes, randomInt } from 'node:crypto';
import { FencedError, openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { listMessagesQuery } from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import type { proto, WAMessage } from '@whiskeysockets/baileys';
import { WAMessageStatus, WAMessageStubType } from '../socket/test-library.js';
import { fakeSession, type FakeSession } from './fake-session.js';
import { Inbound } from './inbound.js';
import { retryMessageLookup } from './retry-message-lookup.js';
import type { Attachment } from '../socket/open-session.js';
import { ChatTimers } from '../socket/chat-timers.js';

const ADA = '15550001111@s.whatsapp.net';
const ADA_LID = '900000000001@lid';
const GROUP = '120363000000000001@g.us';
const QUERY = listMessagesQuery.parse({ sort: 'asc', normal_types: 'false' });

describe('Inbound', () => {
  let database: RegionalDatabase;
  let reader: MessageReader;
  let writer: MessageWriter;
  let session: FakeSession;
  let attachment: Attachment;
  let inbound: Inbound;
  let channelId: string;
  let woken: string[];
  let queriedGroups: string[];
  let waits: number[];
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 2n };

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'inbound-spec',
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 2)', [shard]);
    reader = new MessageReader({ database });
    writer = new MessageWriter({ database });
  });
  afterAll(() => database.close());

  beforeEach(() => {
    channelId = `CH-${randomBytes(6).toString('hex')}`;
    woken = [];
    queriedGroups = [];
    waits = [];
    inbound = listen(writer);
    session = fakeSession(channelId, fence);
    attachment = inbound.attach(session);
  });

  const listen = (store: MessageWriter) => {
    let nowMs = 1_790_000_000_000;
    return new Inbound({
      timers: new ChatTimers(() => Promise.resolve(undefined)),
      writer: store,
      groups: new GroupWriter({ database }),
      pictures: new PictureWriter({ database }),
      wantsGroupNotices: () => Promise.resolve(false),
      queryGroup: (_, groupId) => queriedGroups.push(groupId),
      chats: new ChatWriter({ database }),
      autoBehaviours: { attach: () => undefined, received: () => Promise.resolve() },
      eventsReady: (channel) => woken.push(channel),
      retryForMs: 1_000,
      now: () => nowMs,
      wait: (ms) => {
        waits.push(ms);
        nowMs += ms;
        return Promise.resolve();
      },
    });
  };
  const upsert = (messages: WAMessage[], type: 'notify' | 'append' = 'notify') =>
    session.library.ev.emit('messages.upsert', { messages, type });
  const stored = async () => (await reader.listMessages(channelId, QUERY)).messages;
  /** Without events of chats and contacts. */
  const events = async () => {
    await attachment.drained();
    const all = await reader.events(channelId, 0, 1_000);
    return all.filter(({ type }) => type !== 'chats' && type !== 'contacts');
  };
  const notified = async () => (await events()).map(({ type, method }) => `${type}.${method}`);

  it('stores and notifies live messages and those that waited while the device was offline', async () => {
    session.waited.add('A1');
    upsert([incoming('A1', { conversation: 'while you were away' })], 'append');
    upsert([incoming('A2', { conversation: 'now' })], 'append');
    expect(await notified()).toEqual(['messages.put', 'messages.post']);
    expect((await stored()).map(({ text }) => text?.body)).toEqual(['while you were away', 'now']);
    expect(await reader.chat(channelId, ADA)).toMatchObject({ name: 'Ada Example', unread: 2 });
    expect(woken).toEqual([channelId, channelId]);
    expect(session.faults).toEqual([]);
  });

  it('notifies a message once, however often and under whichever address it arrives', async () => {
    upsert([incoming('A1', { conversation: 'x' })]);
    upsert([incoming('A1', { conversation: 'x' })], 'append');
    upsert([incoming('A1', { conversation: 'x' }, { remoteJid: ADA, remoteJidAlt: ADA_LID })]);
    expect(await notified()).toEqual(['messages.post']);
  });

  it('notifies a message that could not be read at first when it is readable', async () => {
    upsert([{ ...incoming('A1', undefined), messageStubType: WAMessageStubType.CIPHERTEXT }]);
    expect(await notified()).toEqual([]);
    upsert([incoming('A1', { conversation: 'x' })]);
    expect(await notified()).toEqual(['messages.post']);
  });

  it('knows the number behind a LID from the key store', async () => {
    session.numbers.set('900000000001', '15550001111');
    upsert([incoming('A1', { conversation: 'x' }, { remoteJidAlt: undefined })]);
    await attachment.drained();
    expect((await stored())[0]).toMatchObject({ chat_id: ADA, from: '15550001111' });
  });

  it('notifies an edit after the message it changes, in the order of arrival', async () => {
    const edit = { protocolMessage: { type: 14, key: { id: 'A1' }, editedMessage: { conversation: 'better' } } };
    upsert([incoming('A1', { conversation: 'x' }), incoming('A2', edit), incoming('A3', { conversation: 'y' })]);
    expect(await notified()).toEqual(['messages.post', 'messages.post', 'messages.patch', 'messages.post']);
    expect((await stored()).map(({ type, text }) => text?.body ?? type)).toEqual(
      expect.arrayContaining(['better', 'action', 'y']),
    );
  });

  it('stores receipts of own messages, also when they arrive before the message', async () => {
    const receipt = (status: number, t: number) =>
      session.library.ev.emit('messages.update', [
        { key: { remoteJid: ADA_LID, id: 'O1', fromMe: true }, update: { status, messageTimestamp: t } },
      ]);
    receipt(WAMessageStatus.DELIVERY_ACK, 101);
    upsert([{ ...incoming('O1', { conversation: 'typed' }, { fromMe: true }), status: WAMessageStatus.SERVER_ACK }]);
    receipt(WAMessageStatus.READ, 102);
    receipt(WAMessageStatus.DELIVERY_ACK, 103);
    expect(await notified()).toEqual(['messages.post', 'statuses.post', 'statuses.post']);
    const [message] = await stored();
    expect(message).toMatchObject({ from_me: true, status: 'read', source: 'mobile' });
    const statuses = (await reader.statuses(channelId, message?.id ?? ''))?.statuses;
    expect(statuses?.map(({ status, timestamp }) => [status, timestamp])).toEqual([
      ['sent', '1789999990'],
      ['delivered', '101'],
      ['read', '102'],
    ]);
  });

  it('takes the receipts of group members by number, and none of the own devices', async () => {
    session.numbers.set('900000000002', '15550002222');
    upsert([
      {
        ...incoming('O1', { conversation: 'hi all' }, { remoteJid: GROUP, remoteJidAlt: undefined, fromMe: true }),
        status: 2,
      },
    ]);
    const key = { remoteJid: GROUP, id: 'O1', fromMe: true };
    session.library.ev.emit('message-receipt.update', [
      { key, receipt: { userJid: '900000000002@lid', readTimestamp: 105 } },
      { key, receipt: { userJid: '900000000009@lid', receiptTimestamp: 104 } },
    ]);
    const [, read] = await events();
    expect(read?.payload).toEqual({
      statuses: [expect.objectContaining({ status: 'read', viewer_id: '15550002222', recipient_id: GROUP })],
    });
    expect((await events()).length).toBe(2);
  });

  it('ends the statuses of a voice note in a group with who played it, though the library emits that as reading', async () => {
    session.numbers.set('900000000002', '15550002222');
    const key = { remoteJid: GROUP, id: 'O1', fromMe: true };
    upsert([{ ...incoming('O1', { audioMessage: { ptt: true } }, { ...key, remoteJidAlt: undefined }), status: 2 }]);
    const receipt = { userJid: '900000000002@lid' };
    session.library.ev.emit('message-receipt.update', [{ key, receipt: { ...receipt, readTimestamp: 105 } }]);
    await attachment.drained();
    session.played.add('O1');
    session.library.ev.emit('message-receipt.update', [{ key, receipt: { ...receipt, readTimestamp: 106 } }]);
    const [, ...steps] = await events();
    expect(steps.flatMap(({ payload }) => payload['statuses'])).toEqual([
      expect.objectContaining({ status: 'read', viewer_id: '15550002222', recipient_id: GROUP }),
      expect.objectContaining({ status: 'played', code: 5, viewer_id: '15550002222', recipient_id: GROUP }),
    ]);
  });

  it('notifies that a message failed, with the reason of the network', async () => {
    upsert([{ ...incoming('O1', { conversation: 'x' }, { fromMe: true }), status: WAMessageStatus.PENDING }]);
    session.library.ev.emit('messages.update', [
      {
        key: { remoteJid: ADA, id: 'O1', fromMe: true },
        update: { status: WAMessageStatus.ERROR, messageStubParameters: ['463'] },
      },
    ]);
    const [, failed] = await events();
    expect(failed?.payload).toEqual({
      statuses: [
        expect.objectContaining({
          status: 'failed',
          errors: [{ code: 463, message: 'recipient refused by the network' }],
        }),
      ],
    });
  });

  it('counts nothing unread once the owner read it on the phone', async () => {
    upsert([incoming('A1', { conversation: 'x' }), incoming('A2', { conversation: 'y' })]);
    session.library.ev.emit('messages.update', [
      { key: { remoteJid: ADA_LID, id: 'A2', fromMe: false }, update: { status: WAMessageStatus.READ } },
    ]);
    await attachment.drained();
    expect((await reader.chat(channelId, ADA))?.unread).toBe(0);
  });

  it('learns names of contacts, chats and groups', async () => {
    session.library.ev.emit('contacts.upsert', [{ id: ADA, name: 'Ada (work)' }]);
    session.library.ev.emit('groups.upsert', [
      { id: GROUP, subject: 'Example Group', owner: undefined, participants: [] },
    ]);
    session.library.ev.emit('chats.update', [{ id: GROUP, archived: true }]);
    upsert([incoming('A1', { conversation: 'x' })]);
    await attachment.drained();
    expect((await stored())[0]?.chat_name).toBe('Ada (work)');
    expect(await reader.chat(channelId, GROUP)).toMatchObject({ name: 'Example Group', archive: true });
  });

  it('stores the history of the phone and notifies none of it', async () => {
    const messages = Array.from({ length: 450 }, (_, index) =>
      incoming(`H${index}`, { conversation: `${index}` }, {}, index),
    );
    session.library.ev.emit('messaging-history.set', {
      chats: [{ id: ADA_LID, name: 'Ada', unreadCount: 4, conversationTimestamp: 449 }],
      contacts: [{ id: ADA, name: 'Ada E.' }],
      messages: messages.reverse(),
      lidPnMappings: [{ lid: ADA_LID, pn: ADA }],
    });
    expect(await notified()).toEqual([]);
    const list = await reader.listChatMessages(channelId, ADA, QUERY);
    expect(list?.total).toBe(450);
    expect(await reader.chat(channelId, ADA)).toMatchObject({
      name: 'Ada',
      unread: 4,
      last_message: { text: { body: '449' } },
    });
  });

  it('returns the content of a sent message for its recipient, under number or LID, and for no one else', async () => {
    session.numbers.set('900000000001', '15550001111');
    upsert([{ ...incoming('O1', { conversation: 'secret' }, { fromMe: true }), status: 2 }]);
    await attachment.drained();
    const recall = retryMessageLookup(writer);
    for (const remoteJid of [ADA, ADA_LID, '900000000001:4@lid']) {
      expect((await recall(session, { id: 'O1', remoteJid, fromMe: true }))?.conversation).toBe('secret');
    }
    expect(await recall(session, { id: 'O1', remoteJid: '15550002222@s.whatsapp.net', fromMe: true })).toBeUndefined();
    expect(await recall(session, { id: 'O2', remoteJid: ADA, fromMe: true })).toBeUndefined();
  });

  describe('when something goes wrong', () => {
    const failing = (failures: (count: number) => Error | undefined) => {
      let count = 0;
      const store = new MessageWriter({ database });
      const recordMessages = store.recordMessages.bind(store);
      store.recordMessages = (...given) => {
        const failure = failures(count++);
        return failure ? Promise.reject(failure) : recordMessages(...given);
      };
      inbound = listen(store);
      session = fakeSession(channelId, fence);
      attachment = inbound.attach(session);
    };
    const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' });

    it('tries again while PostgreSQL is away, and loses nothing nor its order', async () => {
      failing((count) => (count < 3 ? away : undefined));
      upsert([incoming('A1', { conversation: '1' })]);
      upsert([incoming('A2', { conversation: '2' })]);
      expect(await notified()).toEqual(['messages.post', 'messages.post']);
      expect((await events())[0]?.payload).toMatchObject({ messages: [{ text: { body: '1' } }] });
      expect(waits).toEqual([100, 200, 400]);
      expect(session.faults).toEqual([]);
    });

    it('closes the socket loudly when PostgreSQL stays away', async () => {
      failing(() => away);
      upsert([incoming('A1', { conversation: '1' })]);
      upsert([incoming('A2', { conversation: '2' })]);
      await attachment.drained();
      expect(session.ends).toHaveLength(1);
      expect(session.faults).toContain(away);
      expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(1_000);
      expect(session.settled).toEqual([]);
    });

    it.each(['ENETUNREACH', 'EHOSTDOWN', 'EMFILE', 'ENOBUFS', 'EAI_FAIL', '3D000', '28P01', '42P01', '54000'])(
      'waits until it is over when PostgreSQL fails with %s, and stores every message',
      async (code) => {
        const error = Object.assign(new Error('failed'), { code });
        failing((count) => [error, new AggregateError([error, error])][count]);
        upsert([incoming('A1', { conversation: '1' }), incoming('A2', { conversation: '2' })]);
        expect(await notified()).toEqual(['messages.post', 'messages.post']);
        expect(session.faults).toEqual([]);
        expect(session.settled).toEqual(['A1', 'A2']);
      },
    );

    it('keeps a message in the journal of which nothing can be stored', async () => {
      failing(() => Object.assign(new Error('refused'), { code: '22P05' }));
      upsert([incoming('A1', { conversation: '1' })]);
      await attachment.drained();
      expect(session.settled).toEqual([]);
      expect(session.ends).toEqual([]);
    });

    it('does not let one message that cannot be stored cost the others', async () => {
      failing((count) => (count === 0 || count === 2 ? new TypeError('odd') : undefined));
      upsert([
        incoming('A1', { conversation: '1' }),
        incoming('A2', { conversation: '2' }),
        incoming('A3', { conversation: '3' }),
      ]);
      expect((await events()).length).toBe(3);
      expect((await stored()).map(({ type, text }) => text?.body ?? type)).toEqual(['1', 'unknown', '3']);
      expect(session.faults).toHaveLength(1);
      expect(session.settled).toEqual(['A1', 'A2', 'A3']);
    });

    it('does not let a message that cannot be read cost the others', async () => {
      const contextInfo = { mentionedJid: 7 } as proto.IContextInfo & { mentionedJid: never };
      const odd = incoming('A2', { extendedTextMessage: { text: '2', contextInfo } });
      upsert([incoming('A1', { conversation: '1' }), odd, incoming('A3', { conversation: '3' })]);
      expect((await events()).length).toBe(2);
      expect(session.faults).toHaveLength(1);
      expect(session.settled).toEqual(['A1', 'A3']); // the other one is kept
    });

    it('writes nothing more once the shard has a newer owner', async () => {
      session = fakeSession(channelId, { shard, epoch: 1n });
      attachment = inbound.attach(session);
      upsert([incoming('A1', { conversation: '1' })]);
      upsert([incoming('A2', { conversation: '2' })]);
      expect(await notified()).toEqual([]);
      expect(session.faults).toHaveLength(1);
      expect(session.faults[0]).toBeInstanceOf(FencedError);
    });

    it('stores what an earlier socket received before what its successor receives', async () => {
      failing((count) => (count < 2 ? away : undefined));
      upsert([incoming('A1', { conversation: '1' })]);
      const earlier = attachment;
      session = fakeSession(channelId, fence, 2);
      attachment = inbound.attach(session);
      upsert([incoming('A2', { conversation: '2' })]);
      const bodies = (await events()).map(
        ({ payload }) => (payload as { messages: [{ text: { body: string } }] }).messages[0].text.body,
      );
      await earlier.drained();
      expect(bodies).toEqual(['1', '2']);
    });
  });
});

function incoming(
  id: string,
  message: proto.IMessage | undefined,
  key: Partial<WAMessage['key']> = {},
  messageTimestamp = 1_789_999_990,
): WAMessage {
  return {
    key: { remoteJid: ADA_LID, remoteJidAlt: ADA, fromMe: false, id, ...key },
    ...(message && { message }),
    messageTimestamp,
    ...(key.fromMe ? {} : { pushName: 'Ada Example' }),
  };
}
