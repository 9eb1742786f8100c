import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { DEFAULT_SETTINGS } from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import type { proto, WAMessage } from '@whiskeysockets/baileys';
import { ChatTimers } from '../socket/chat-timers.js';
import { deferred, type Deferred } from '../socket/deferred.js';
import { AutoDownload } from './auto-download.js';
import { fakeSession, type FakeSession } from './fake-session.js';
import { Inbound } from './inbound.js';

const ADA = '15550001111@s.whatsapp.net';
const BO = '15550002222@s.whatsapp.net';

/** Messages whose files the channel wants at once. */
describe('a received file', () => {
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 2n };
  let database: RegionalDatabase;
  let reader: MessageReader;
  let session: FakeSession;
  let drained: () => Promise<void>;
  let channelId: string;
  /** Files that were requested, in order: each arrives when it is resolved. */
  let requested: Deferred<void>[];

  beforeAll(async () => {
    database = openRegionalDatabase({ url: process.env.TEST_REGIONAL_DATABASE_URL ?? '', applicationName: 'spec' });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 2)', [shard]);
    reader = new MessageReader({ database });
  });
  afterAll(() => database.close());

  const attach = (withinMs: number) => {
    channelId = `CH-${randomBytes(6).toString('hex')}`;
    requested = [];
    const downloads = new AutoDownload({
      incoming: {
        fetch: () => {
          requested.push(deferred<void>());
          return requested.at(-1)?.promise ?? Promise.resolve();
        },
      },
      files: {
        file: (_channel, id) => Promise.resolve({ id } as never),
        link: ({ id }) => Promise.resolve(`https://files/${id}`),
      },
      settingsOf: () =>
        Promise.resolve({ ...DEFAULT_SETTINGS, media: { ...DEFAULT_SETTINGS.media, auto_download: ['image'] } }),
      withinMs,
    });
    const inbound = new Inbound({
      writer: new MessageWriter({ database }),
      groups: new GroupWriter({ database }),
      pictures: new PictureWriter({ database }),
      chats: new ChatWriter({ database }),
      wantsGroupNotices: () => Promise.resolve(false),
      timers: new ChatTimers(() => Promise.resolve(undefined)),
      queryGroup: () => undefined,
      autoBehaviours: { attach: () => undefined, received: () => Promise.resolve() },
      downloads,
      eventsReady: () => undefined,
      retryForMs: 1_000,
      now: Date.now,
      wait: () => Promise.resolve(),
    });
    session = fakeSession(channelId, fence);
    ({ drained } = inbound.attach(session));
  };

  const messageFrom = (chat: string, id: string, message: proto.IMessage): WAMessage => ({
    key: { id, remoteJid: chat, fromMe: false },
    messageTimestamp: 1_790_000_000,
    message,
  });
  const receive = (...messages: WAMessage[]) =>
    session.library.ev.emit('messages.upsert', { messages, type: 'notify' });
  const image = { imageMessage: { mimetype: 'image/jpeg', mediaKey: Buffer.alloc(32), directPath: '/v/x' } };

  /** What was notified, in order: the content of a text, or the kind of change with the link. */
  const notified = async () =>
    (await reader.events(channelId, 0, 1_000)).flatMap(({ type, method, payload }) => {
      if (type !== 'messages') return [];
      const { messages, messages_updates: updates } = payload as {
        messages?: { text?: { body: string }; image?: { link?: string } }[];
        messages_updates?: { changes: string[]; after_update: { image?: { link?: string } }; trigger?: unknown }[];
      };
      const posted = messages?.map(({ text, image }) => text?.body ?? `image ${image?.link ? 'linked' : 'bare'}`);
      const changed = updates?.map(
        (update) => `${method} ${update.changes.join()} ${Boolean(update.after_update.image?.link)}`,
      );
      return [...(posted ?? []), ...(changed ?? [])];
    });
  const until = async (enough: (events: string[]) => boolean): Promise<string[]> => {
    for (;;) {
      const found = await notified();
      if (enough(found)) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  it('holds nothing but its own chat, and is notified with its link when it arrives soon', async () => {
    attach(60_000);
    receive(messageFrom(ADA, 'A1', image), messageFrom(ADA, 'A2', { conversation: 'after it' }));
    receive(messageFrom(BO, 'B1', { conversation: 'elsewhere' }));
    session.library.ev.emit('messages.update', []);
    expect(await until((all) => all.length === 1)).toEqual(['elsewhere']);
    expect(session.settled).toEqual(['B1']);
    requested[0]?.resolve();
    expect(await until((all) => all.length === 3)).toEqual(['elsewhere', 'image linked', 'after it']);
    expect(session.settled).toEqual(['B1', 'A1', 'A2']);
    expect(session.faults).toEqual([]);
  });

  it('is notified without a link after a short while, and of its link by a change when it arrives at last', async () => {
    attach(20);
    receive(messageFrom(ADA, 'A1', image), messageFrom(ADA, 'A2', { conversation: 'after it' }));
    expect(await until((all) => all.length === 2)).toEqual(['image bare', 'after it']);
    requested[0]?.resolve();
    expect(await until((all) => all.length === 3)).toEqual(['image bare', 'after it', 'patch image true']);
    expect(session.faults).toEqual([]);
  });

  it('is not notified again when its message was deleted before it arrived', async () => {
    attach(60_000);
    receive(messageFrom(ADA, 'A1', image));
    await until(() => requested.length === 1);
    session.library.ev.emit('messages.delete', { keys: [{ id: 'A1', remoteJid: ADA }] });
    await until((all) => all.length === 1);
    requested[0]?.resolve();
    await requested[0]?.promise;
    receive(messageFrom(ADA, 'A2', { conversation: 'later' }));
    expect(await until((all) => all.includes('later'))).toEqual(['image bare', 'later']);
    expect((await reader.events(channelId, 0, 100)).some(({ method }) => method === 'delete')).toBe(true);
  });

  it('keeps no session from ending: what waits is stored first', async () => {
    attach(60_000);
    receive(messageFrom(ADA, 'A1', image));
    await drained();
    expect(await notified()).toEqual(['image bare']);
    expect(session.settled).toEqual(['A1']);
  });
});
