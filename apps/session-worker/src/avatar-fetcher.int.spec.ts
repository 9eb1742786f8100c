import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { GroupReader, MessageReader } from '@dormouse/message-store/read';
import { GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { librarySocket } from './socket/test-network.js';
import { groupFromNetwork } from './convert/group.js';
import type { OpenSession, SessionListener } from './socket/open-session.js';
import { silent, soon, TestWorker } from './sessions/test-sessions.js';
import { silenceConsole } from './socket/patches/silent-console.js';
import { startTestNetwork, type TestNetwork } from './test-network.js';
import { AvatarFetcher } from './avatars/avatar-fetcher.js';

jest.setTimeout(60_000);

const RED_DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';
const PAGE = { count: 10, offset: 0 };
const CHANNEL = 'channel';
const HOUR_MS = 3_600_000;

describe('pictures of contacts and groups, as the network sends them', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let network: TestNetwork;
  let directory: ChannelDirectory;
  let worker: TestWorker;
  let fetcher: AvatarFetcher;
  /** The JIDs whose pictures were queried. */
  let queried: string[] = [];
  /** What the fetcher's clock is ahead of the machine's. */
  let aheadMs = 0;
  let restoreConsole = (): void => undefined;

  /** Records whose pictures the session queries, before it does. */
  const listening: SessionListener = {
    attach: (session) => {
      const socket = librarySocket(session);
      const query = socket.profilePictureUrl.bind(socket);
      socket.profilePictureUrl = (jid, kind, timeoutMs) => {
        if (kind === 'preview') queried.push(jid);
        return query(jid, kind, timeoutMs);
      };
      return { drained: () => Promise.resolve() };
    },
  };

  const startWorker = async (): Promise<void> => {
    queried = [];
    fetcher = new AvatarFetcher({
      store: new PictureWriter({ database }),
      wants: async (id) => (await directory.refresh(id))?.settings.media.init_avatars ?? false,
      now: () => Date.now() + aheadMs,
      // Paces pass at once, rests do not.
      wait: async (ms, signal) => {
        signal.throwIfAborted();
        if (ms > 10_000) await once(signal, 'abort');
      },
    });
    const listeners = [listening, fetcher];
    worker = new TestWorker(`w${randomBytes(3).toString('hex')}`, database, network, { listeners });
    await worker.start();
  };

  /** Looks until what is stored is as it should be. */
  const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    for (const deadlineMs = soon(); !(await isSo());) {
      if (Date.now() > deadlineMs) throw new Error(`in vain: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  beforeAll(async () => {
    restoreConsole = silenceConsole(silent);
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'pictures-spec' });
    directory = new ChannelDirectory({ database });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES (0, 1)');
    network = await startTestNetwork();
    await startWorker();
  });

  afterAll(async () => {
    await worker.stop();
    await network.stop();
    await database.close();
    await store.drop();
    restoreConsole();
  });

  const phone = async (name: string): Promise<string> =>
    (await network.call<{ phone: string }>('POST', '/phones', { name })).phone;

  const link = async (): Promise<{ phone: string; session: OpenSession }> => {
    await directory.create({ id: CHANNEL, accountId: 'a', name: 'shop', tokenHash: randomBytes(32), shard: 0 });
    const { code } = await worker.sessions.loginCode(CHANNEL, soon());
    const own = await phone('Shop');
    await network.call('POST', `/phones/${own}/scan`, { qr: code });
    await worker.until(() => worker.sockets.some(({ generation }) => generation === 2));
    return { phone: own, session: await worker.sessions.open(CHANNEL, soon()) };
  };

  let ada: string;
  let bo: string;
  let groupId: string;

  it('are queried once the channel wants them, stored, and shown in the lists', async () => {
    const { phone: own, session } = await link();
    [ada, bo] = [await phone('Ada'), await phone('Bo')];
    await network.call('POST', `/phones/${ada}/picture`, { base64: RED_DOT });
    const group = await network.call<{ id: string }>('POST', `/phones/${ada}/groups`, {
      subject: 'All',
      members: [own],
    });
    groupId = group.id;
    await network.call('POST', `/phones/${ada}/picture`, { base64: RED_DOT, group: groupId });
    const { fence } = session;
    await new MessageWriter({ database }).recordHistory(fence, CHANNEL, {
      contacts: [
        { id: ada, name: 'Ada' },
        { id: bo, name: 'Bo' },
      ],
      chats: [{ id: `${ada}@s.whatsapp.net`, timestamp: 2 }],
    });
    const described = await librarySocket(session).groupMetadata(groupId);
    const people = { own: session.identity, numbers: new Map<string, string>() };
    await new GroupWriter({ database }).recordGroups(fence, CHANNEL, [groupFromNetwork(described, people)], {
      quiet: true,
    });
    expect(queried).toEqual([]);

    await directory.updateSettings(CHANNEL, { media: { init_avatars: true } });
    fetcher.settingsChanged(CHANNEL);
    await until('all are queried', async () => new Set(queried).size === 3);
    const reader = new MessageReader({ database });
    await until('the answers are stored', async () => {
      const contacts = (await reader.listContacts(CHANNEL, PAGE)).contacts;
      const groups = (await new GroupReader({ database }).listGroups(CHANNEL, PAGE)).groups;
      return contacts.some((contact) => contact.profile_pic) && groups.every((one) => one.chat_pic);
    });
    const { contacts } = await reader.listContacts(CHANNEL, PAGE);
    const [adaShown, boShown] = [ada, bo].map((id) => contacts.find((contact) => contact.id === id));
    const anAddress = expect.stringMatching(/^https:/) as string;
    expect(adaShown).toMatchObject({ profile_pic: anAddress, profile_pic_full: anAddress });
    expect(boShown).not.toHaveProperty('profile_pic');
    const { chats } = await reader.listChats(CHANNEL, PAGE);
    const pictures = { chat_pic: anAddress, chat_pic_full: anAddress };
    expect(chats.find(({ id }) => id === `${ada}@s.whatsapp.net`)).toMatchObject(pictures);
    expect(chats.find(({ id }) => id === groupId)).toMatchObject(pictures);
    const { groups } = await new GroupReader({ database }).listGroups(CHANNEL, PAGE);
    expect(groups).toMatchObject([{ id: groupId, ...pictures }]);
    // They are nothing new that happened.
    const events = await reader.events(CHANNEL, 0, 100);
    expect(events.filter(({ type }) => type === 'contacts' || type === 'chats')).toEqual([]);
  });

  it('are not queried again by the next session for days, and then are', async () => {
    await worker.stop();
    aheadMs = 4 * 24 * HOUR_MS;
    await startWorker();
    await worker.sessions.open(CHANNEL, soon());
    const stranger = await phone('Cy');
    const { fence } = await worker.sessions.open(CHANNEL, soon());
    await new MessageWriter({ database }).recordHistory(fence, CHANNEL, { contacts: [{ id: stranger, name: 'Cy' }] });
    fetcher.settingsChanged(CHANNEL);
    await until('only who is new is queried', async () => queried.length > 0);
    await until('the query is stored', async () => (await wanted()).length === 0);
    expect(queried).toEqual([`${stranger}@s.whatsapp.net`]);
    aheadMs = 6 * 24 * HOUR_MS;
    fetcher.settingsChanged(CHANNEL);
    await until('all are queried', async () => new Set(queried).size === 4);
  });

  const wanted = (): Promise<string[]> =>
    new PictureWriter({ database }).wanted(CHANNEL, { queriedBeforeMs: Date.now() - HOUR_MS, limit: 10 });

  it('stay as they are for a contact that is gone meanwhile', async () => {
    const { fence } = await worker.sessions.open(CHANNEL, soon());
    const pictures = new PictureWriter({ database });
    await pictures.recordQueried(fence, CHANNEL, { id: '19995550000@s.whatsapp.net', picture: 'x', pictureFull: 'x' });
    const { contacts } = await new MessageReader({ database }).listContacts(CHANNEL, PAGE);
    expect(contacts.some(({ id }) => id === '19995550000')).toBe(false);
  });
});
