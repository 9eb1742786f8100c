import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { listMessagesQuery } from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { heard as heardFrom } from '../convert/test-heard.js';
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
    session = fakeSession(channelId, fence);
    attachment = new Inbound({
      timers: new ChatTimers(() => Promise.resolve(undefined)),
      writer: new MessageWriter({ database }),
      groups: new GroupWriter({ database }),
      pictures: new PictureWriter({ database }),
      wantsGroupNotices: () => Promise.resolve(false),
      askGroup: () => undefined,
      chats: new ChatWriter({ database }),
      automatic: { attach: () => undefined, heard: () => Promise.resolve() },
      eventsReady: () => undefined,
      retryForMs: 1_000,
      now: () => 1_790_000_000_000,
      wait: () => Promise.resolve(),
    }).attach(session);
  });

  const heard = (id: string, content: proto.IMessage | undefined, key: Partial<WAMessage['key']> = {}): WAMessage =>
    content ? heardFrom(content, { id, ...key }) : { ...heardFrom({}, { id, ...key }), message: undefined };
  const upsert = (messages: WAMessage[]) => session.socket.ev.emit('messages.upsert', { messages, type: 'notify' });
  const stored = async () => (await reader.listMessages(channelId, QUERY)).messages;
  const told = async () => {
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
      heard('A1', { conversation: 'at 5', messageContextInfo: { messageSecret: secret } }),
      heard('A2', { eventMessage: { name: 'Party' }, messageContextInfo: { messageSecret: secret } }),
      heard('A3', { secretEncryptedMessage: { targetMessageKey: { ...key, id: 'A1' }, secretEncType: 2, ...edit } }),
      heard('A4', { encEventResponseMessage: { eventCreationMessageKey: { ...key, id: 'A2' }, ...sealed } }),
      heard('A5', { encReactionMessage: { targetMessageKey: { ...key, id: 'B1' }, ...sealed } }),
    ]);
    const each = ['messages.post', 'messages.patch'];
    expect(await told()).toEqual(['messages.post', 'messages.post', ...each, ...each, 'messages.post']);
    const messages = await stored();
    expect(messages.map(({ text }) => text?.body)).toContain('at 6');
    const event = messages.find(({ type }) => type === 'event')?.event;
    expect(event?.responses).toEqual([{ participant: '15550001111', response: 'GOING', timestamp: 5 }]);
    const reaction = messages.find(({ action }) => action?.type === 'reaction')?.action;
    expect(reaction).toEqual({ type: 'reaction', target: expect.any(String) as string });
    expect(session.faults).toEqual([]);
  });

  it('tells the better copy of a picture as a change of the first, and alone as a message', async () => {
    const copy = (id: string) => ({
      messageContextInfo: { messageAssociation: { associationType: 10, parentMessageKey: { id, fromMe: true } } },
      associatedChildMessage: { message: { imageMessage: { caption: 'x', width: 2_250 } } },
    });
    upsert([heard('A1', { imageMessage: { caption: 'x', width: 900 } }), heard('A2', copy('A1'))]);
    expect(await told()).toEqual(['messages.post', 'messages.post', 'messages.patch']);
    expect((await stored()).flatMap(({ image }) => image?.width ?? [])).toEqual([2_250]);
    upsert([heard('A3', copy('A0'))]);
    await attachment.drained();
    expect((await stored()).filter(({ type }) => type === 'image')).toHaveLength(2);
  });

  it('tells once that something came that can be seen once', async () => {
    upsert([heard('A1', undefined, { isViewOnce: true })]);
    upsert([heard('A1', { imageMessage: { viewOnce: true } })]);
    expect(await told()).toEqual(['messages.post']);
    expect((await stored())[0]).toMatchObject({ subtype: 'view_once', unknown: { view_once: true } });
  });

  it('names people in quoted texts by the numbers that the key store knows', async () => {
    session.numbers.set('90000000000002', '15550002222');
    const contextInfo = {
      stanzaId: 'A0',
      participant: ADA_LID,
      quotedMessage: { conversation: 'ask @90000000000002' },
    };
    upsert([heard('A1', { extendedTextMessage: { text: 'him', contextInfo } })]);
    await attachment.drained();
    expect((await stored())[0]?.context?.quoted_content).toEqual({ body: 'ask @15550002222' });
  });
});
