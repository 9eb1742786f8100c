import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { listMessagesQuery } from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import {
  ChatWriter,
  GroupWriter,
  MessageWriter,
  PictureWriter,
  type MessageRecord,
} from '@dormouse/message-store/write';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { received as receivedFrom } from '../convert/test-messages.js';
import { sealFor } from '../convert/test-seal.js';
import type { Attachment } from '../socket/open-session.js';
import { fakeSession, type FakeSession } from './fake-session.js';
import { Inbound } from './inbound.js';
import { ChatTimers } from '../socket/chat-timers.js';

const ADA = '15550001111@s.whatsapp.net';
const ADA_LID = '900000000001@lid';
const QUERY = listMessagesQuery.parse({ sort: 'asc', normal_types: 'false' });

describe('messages that belong to others', () => {
  let database: RegionalDatabase;
  let reader: MessageReader;
  let session: FakeSession;
  let attachment: Attachment;
  let channelId: string;
  /** Does the channel want files at once? */
  let wantsFiles = false;
  const fence: Fence = { shard: randomInt(1_000_000, 2_000_000_000), epoch: 2n };

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'additions-spec',
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 2)', [fence.shard]);
    reader = new MessageReader({ database });
  });
  afterAll(() => database.close());

  beforeEach(() => {
    channelId = `CH-${randomBytes(6).toString('hex')}`;
    wantsFiles = false;
    session = fakeSession(channelId, fence);
    attachment = new Inbound({
      timers: new ChatTimers(() => Promise.resolve(undefined)),
      writer: new MessageWriter({ database }),
      groups: new GroupWriter({ database }),
      pictures: new PictureWriter({ database }),
      wantsGroupNotices: () => Promise.resolve(false),
      queryGroup: () => undefined,
      chats: new ChatWriter({ database }),
      autoBehaviours: { attach: () => undefined, received: () => Promise.resolve() },
      eventsReady: () => undefined,
      retryForMs: 1_000,
      now: () => 1_790_000_000_000,
      wait: () => Promise.resolve(),
      downloads: { begin: (_session, records) => Promise.resolve(wantsFiles ? fetched(records) : new Map()) },
    }).attach(session);
  });

  const incoming = (id: string, content: proto.IMessage | undefined, key: Partial<WAMessage['key']> = {}): WAMessage =>
    content ? receivedFrom(content, { id, ...key }) : { ...receivedFrom({}, { id, ...key }), message: undefined };
  const upsert = (messages: WAMessage[]) => session.library.ev.emit('messages.upsert', { messages, type: 'notify' });
  const stored = async () => (await reader.listMessages(channelId, QUERY)).messages;
  const notified = async () => {
    await attachment.drained();
    const events = await reader.events(channelId, 0, 1_000);
    return events.filter(({ type }) => type === 'messages').map(({ type, method }) => `${type}.${method}`);
  };

  it('carries out what is sealed under the secret of a message that it has stored', async () => {
    const secret = randomBytes(32);
    const author = ADA_LID;
    const plain = proto.Message.encode({ conversation: 'at 6' }).finish();
    const edit = sealFor(plain, { secret, keyId: 'A1', author, use: 'Message Edit' });
    const answer = proto.Message.EventResponseMessage.encode({ response: 1, timestampMs: 5_000 }).finish();
    const sealed = sealFor(answer, { secret, keyId: 'A2', author, use: 'Event Response' });
    const key = { remoteJid: ADA, fromMe: true };
    upsert([
      incoming('A1', { conversation: 'at 5', messageContextInfo: { messageSecret: secret } }),
      incoming('A2', { eventMessage: { name: 'Party' }, messageContextInfo: { messageSecret: secret } }),
      incoming('A3', { secretEncryptedMessage: { targetMessageKey: { ...key, id: 'A1' }, secretEncType: 2, ...edit } }),
      incoming('A4', { encEventResponseMessage: { eventCreationMessageKey: { ...key, id: 'A2' }, ...sealed } }),
      incoming('A5', { encReactionMessage: { targetMessageKey: { ...key, id: 'B1' }, ...sealed } }),
    ]);
    const each = ['messages.post', 'messages.patch'];
    expect(await notified()).toEqual(['messages.post', 'messages.post', ...each, ...each, 'messages.post']);
    const messages = await stored();
    expect(messages.map(({ text }) => text?.body)).toContain('at 6');
    const event = messages.find(({ type }) => type === 'event')?.event;
    expect(event?.responses).toEqual([{ participant: '15550001111', response: 'GOING', timestamp: 5 }]);
    const reaction = messages.find(({ action }) => action?.type === 'reaction')?.action;
    expect(reaction).toEqual({ type: 'reaction', target: expect.any(String) as string });
    expect(session.faults).toEqual([]);
  });

  const fetched = (records: readonly MessageRecord[]) =>
    new Map(
      records.flatMap((record) => {
        const { id } = record.message.image ?? {};
        const link = Promise.resolve(`https://files.example/${id ?? ''}`);
        return id === undefined ? [] : [[record, { waited: link.then(() => undefined), link }] as const];
      }),
    );
  const first = { imageMessage: { caption: 'x', width: 900 } };
  const copy = (id: string) => ({
    messageContextInfo: { messageAssociation: { associationType: 10, parentMessageKey: { id, fromMe: true } } },
    associatedChildMessage: { message: { imageMessage: { caption: 'x', width: 2_250 } } },
  });
  const pictures = async () => {
    await attachment.drained();
    return (await stored()).flatMap(({ image }) => image ?? []);
  };

  it('notifies the better copy of a picture as a change of the first, and alone as a message', async () => {
    upsert([incoming('A1', first), incoming('A2', copy('A1'))]);
    expect(await notified()).toEqual(['messages.post', 'messages.post', 'messages.patch']);
    expect((await stored()).flatMap(({ image }) => image?.width ?? [])).toEqual([2_250]);
    upsert([incoming('A3', copy('A0'))]);
    await attachment.drained();
    expect(await pictures()).toHaveLength(2);
    upsert([incoming('A3', copy('A0')), incoming('A0', first)]);
    expect((await pictures()).map(({ width }) => width)).toEqual([2_250, 2_250]);
    expect(await notified()).toEqual(['messages.post', 'messages.post', 'messages.patch', 'messages.post']);
  });

  it('fetches the better copy of a picture for a channel that wants pictures at once', async () => {
    wantsFiles = true;
    upsert([incoming('A1', first)]);
    await attachment.drained();
    upsert([incoming('A2', copy('A1'))]);
    let [picture] = await pictures();
    // The link follows the better copy by a change of its own, once the file is there.
    while (picture?.link === undefined) {
      await attachment.drained();
      [picture] = await pictures();
    }
    expect(picture).toMatchObject({ width: 2_250, link: `https://files.example/${picture?.id ?? ''}` });
  });

  it.each([
    ['after it', ['A1', 'A2']],
    ['before it', ['A2', 'A1']],
  ])('is one picture with its better copy when the history brings the copy %s', async (_order, ids) => {
    for (const id of ids) {
      const messages = [incoming(id, id === 'A1' ? first : copy('A1'))];
      session.library.ev.emit('messaging-history.set', { chats: [], contacts: [], messages, syncType: 0 });
      await attachment.drained();
    }
    expect((await pictures()).map(({ width }) => width)).toEqual([2_250]);
    const again = [incoming('A1', first), incoming('A2', copy('A1'))];
    session.library.ev.emit('messaging-history.set', { chats: [], contacts: [], messages: again, syncType: 0 });
    expect((await pictures()).map(({ width }) => width)).toEqual([2_250]);
    expect(await notified()).toEqual([]);
  });

  it('notifies once of a message that can be viewed once', async () => {
    upsert([incoming('A1', undefined, { isViewOnce: true })]);
    upsert([incoming('A1', { imageMessage: { viewOnce: true } })]);
    expect(await notified()).toEqual(['messages.post']);
    expect((await stored())[0]).toMatchObject({ subtype: 'view_once', unknown: { view_once: true } });
  });

  it('names people in quoted texts by the numbers that the key store knows', async () => {
    session.numbers.set('90000000000002', '15550002222');
    const contextInfo = {
      stanzaId: 'A0',
      participant: ADA_LID,
      quotedMessage: { conversation: 'ask @90000000000002' },
    };
    upsert([incoming('A1', { extendedTextMessage: { text: 'him', contextInfo } })]);
    await attachment.drained();
    expect((await stored())[0]?.context?.quoted_content).toEqual({ body: 'ask @15550002222' });
  });
});
