/** Messages that were decrypted and acknowledged, and then the worker died: received by the next one, in order, once. */
import { randomBytes } from 'node:crypto';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { MessageReader } from '@dormouse/message-store/read';
import { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import type { WAMessage } from '@whiskeysockets/baileys';
import { AuthRows } from './auth-state/auth-rows.js';
import { networkAuthStates } from './socket/key-format.js';
import type { CommandContext } from './commands/command-context.js';
import { chatHandlers } from './commands/handlers/chats.handlers.js';
import { Inbound } from './inbound/inbound.js';
import { ChangeSignal } from './sessions/change-signal.js';
import type { SessionListener } from './socket/open-session.js';
import { createSessions } from './sessions/create-sessions.js';
import type { Sessions } from './sessions/sessions.js';
import type { HeldShard } from './shards/shard-owner.js';
import { NOBODY_SLEEPS, statesWithoutEvents } from './sessions/test-parts.js';
import { silenceConsole } from './socket/patches/silent-console.js';
import { startTestNetwork, type TestNetwork } from './test-network.js';
import { applyLibraryPatches } from './socket/patches/apply.js';
import { ChatTimers } from './socket/chat-timers.js';

applyLibraryPatches();

jest.setTimeout(40_000);

const CHANNEL = 'CH-JOURNAL';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const soon = (): number => Date.now() + 15_000;

const textOf = ({ message }: WAMessage): string | null | undefined =>
  message?.conversation ?? message?.extendedTextMessage?.text;

/** Records what one worker's listener received. With `settlesNothing` it stores nothing, as one that dies at once. */
class Listener implements SessionListener {
  readonly received: WAMessage[] = [];
  /** Texts that waited at the network while nobody was there. */
  readonly waited = new Set<unknown>();
  readonly news = new ChangeSignal();

  constructor(private readonly settlesNothing: boolean) {}

  attach(session: Parameters<SessionListener['attach']>[0]) {
    session.network.events.onGathered(({ messages: { messages } = { messages: [] } }) => {
      const texts = messages.filter(({ message }) => message?.conversation ?? message?.extendedTextMessage);
      this.received.push(...texts);
      texts.filter((each) => session.hasWaited(each)).forEach((each) => this.waited.add(textOf(each)));
      if (!this.settlesNothing) session.settle(messages);
      this.news.fire();
    });
    return { drained: () => Promise.resolve() };
  }

  /** Each message once: a store by id has it once, however often the network delivers it. */
  get texts(): (string | null | undefined)[] {
    const ids = this.received.map(({ key }) => key.id);
    const first = this.received.filter(({ key }, index) => ids.indexOf(key.id) === index);
    return first.map(textOf);
  }

  async until(isRight: () => boolean): Promise<void> {
    const giveUpAt = soon();
    for (;;) {
      const changed = this.news.changedBy(Math.min(giveUpAt, Date.now() + 200));
      if (isRight()) return;
      if (Date.now() > giveUpAt) throw new Error(`waited in vain; received ${JSON.stringify(this.texts)}`);
      await changed;
    }
  }
}

describe('the journal of what was decrypted', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let network: TestNetwork;
  let sessions: Sessions;
  let own: string;
  let ada: string;
  let restoreConsole = (): void => undefined;
  const masterKeys = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
  let held: HeldShard;
  const holdShard = (epoch: bigint): void => {
    held = {
      fence: { shard: 0, epoch },
      isHeld: () => true,
      verify: () => Promise.resolve(true),
      lose: () => undefined,
    };
  };

  /** @param settlesNothing whether its listener stores nothing of what it receives */
  const startWorker = async (settlesNothing: boolean): Promise<Listener> => {
    const listener = new Listener(settlesNothing);
    await startWith(listener);
    return listener;
  };
  const startWith = async (listener: SessionListener): Promise<void> => {
    const directory = new ChannelDirectory({ database, cacheMs: 0 });
    sessions = createSessions({
      directory,
      authStates: networkAuthStates(new AuthRows(database), masterKeys),
      hibernation: NOBODY_SLEEPS,
      states: statesWithoutEvents(directory),
      network: { socketUrl: network.socketUrl, rootKey: network.rootKey },
      listeners: [listener],
      recall: () => Promise.resolve(undefined),
      groups: { read: () => Promise.reject(new Error('not used')), addressed: () => Promise.resolve(undefined) },
      backoff: { baseMs: 20, maxDelayMs: 200, windowMs: 60_000, maxInWindow: 6 },
      restMs: 60_000,
      ackWaitMs: 1_500,
      connectingAtOnce: 10,
      startJitterMs: 0,
      log: silent,
    });
    await sessions.takeOver(held);
  };
  /** As dead as a process can be made from inside: sockets are cut, nothing is drained, nothing more is written. */
  const crash = async (): Promise<void> => {
    sessions.abandon(held);
    const epoch = held.fence.epoch + 1n;
    await database.pool.query('UPDATE shard_leases SET epoch = $1 WHERE shard = 0', [epoch]);
    holdShard(epoch);
  };
  /** The listener of a real worker. */
  const inbound = (): Inbound =>
    new Inbound({
      timers: new ChatTimers(() => Promise.resolve(undefined)),
      writer: new MessageWriter({ database }),
      chats: new ChatWriter({ database }),
      groups: new GroupWriter({ database }),
      pictures: new PictureWriter({ database }),
      autoBehaviours: { attach: () => undefined, received: () => Promise.resolve() },
      wantsGroupNotices: () => Promise.resolve(false),
      queryGroup: () => undefined,
      eventsReady: () => undefined,
      retryForMs: 1_000,
      now: Date.now,
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    });
  const newPhone = (name: string) => network.call<{ phone: string }>('POST', '/phones', { name });
  const send = (to: string, text: string) =>
    network.call<{ id: string }>('POST', `/phones/${ada}/messages`, { to, text });
  const journal = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM auth_keys WHERE type = 'inbound-journal'`,
    );
    return rows[0]?.count ?? -1;
  };
  /** The events that a webhook is notified of, in order. */
  const eventsSoFar = async (): Promise<string[]> => {
    const events = await new MessageReader({ database }).events(CHANNEL, 0, 1_000);
    return events.map(({ type, method, payload }) => `${type}.${method} ${JSON.stringify(payload)}`);
  };
  /** @param from how many events there were before */
  const untilNotified = async (what: string, from = 0): Promise<string[]> => {
    for (const giveUpAt = soon(); Date.now() < giveUpAt;) {
      const events = await eventsSoFar();
      if (events.slice(from).some((event) => event.includes(what))) return events;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`never notified: ${what}`);
  };
  /** As DELETE /chats/{ChatID} does. */
  const deleteHere = async (): Promise<unknown> => {
    const session = await sessions.open(CHANNEL, soon());
    const chats = new ChatWriter({ database });
    const { 'chats.delete': run } = chatHandlers({
      chats,
      reader: new MessageReader({ database }),
      eventsReady: () => undefined,
    });
    const context = { channelId: CHANNEL, session: () => session } as unknown as CommandContext;
    return typeof run === 'function' ? run(context, { chatId: `${ada}@s.whatsapp.net` }) : undefined;
  };
  const emptied = async (): Promise<void> => {
    for (const giveUpAt = soon(); (await journal()) > 0;) {
      if (Date.now() > giveUpAt) throw new Error('the journal is never emptied');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  beforeAll(async () => {
    restoreConsole = silenceConsole(silent);
    [store, network] = await Promise.all([createTestDatabase('regional'), startTestNetwork()]);
    database = openRegionalDatabase({ url: store.url, applicationName: 'journal-spec' });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES (0, 1)');
    holdShard(1n);
    await new ChannelDirectory({ database }).create({
      id: CHANNEL,
      accountId: 'a',
      name: CHANNEL,
      tokenHash: randomBytes(32),
      shard: 0,
    });
    await startWorker(false);
    const { code } = await sessions.loginCode(CHANNEL, soon());
    own = (await newPhone('Example Shop')).phone;
    await network.call('POST', `/phones/${own}/scan`, { qr: code });
    await sessions.open(CHANNEL, soon());
    ada = (await newPhone('Ada Example')).phone;
    await emptied();
    await sessions.handOff(held);
  });
  afterAll(async () => {
    await sessions.handOff(held);
    await network.stop();
    await database.close();
    await store.drop();
    restoreConsole();
  });

  it('is what the next worker receives first, in order, and only that worker', async () => {
    const dying = await startWorker(true);
    await sessions.open(CHANNEL, soon());
    const sent: { id: string }[] = [];
    for (const text of ['one', 'two', 'three']) sent.push(await send(own, text));
    await dying.until(() => dying.texts.length === 3);
    await crash();
    expect(await journal()).toBeGreaterThanOrEqual(3); // what the phone shares with a new device may be there, too
    await send(own, 'four');
    const next = await startWorker(false);
    await next.until(() => next.texts.includes('four'));
    expect(next.texts).toEqual(['one', 'two', 'three', 'four']);
    expect([...new Set(next.received.map(({ key }) => key.id))].slice(0, 3)).toEqual(sent.map(({ id }) => id));
    await emptied();
    await sessions.handOff(held);
    const third = await startWorker(false);
    await send(own, 'five');
    await third.until(() => third.texts.includes('five'));
    expect(third.received.map(textOf)).toEqual(['five']);
    await emptied();
    await sessions.handOff(held);
  });

  it('remembers which messages waited at the network, also when it delivers them itself', async () => {
    await send(own, 'kept by the network');
    const dying = await startWorker(true);
    await sessions.open(CHANNEL, soon());
    await dying.until(() => dying.texts.includes('kept by the network'));
    await send(own, 'live');
    await dying.until(() => dying.texts.includes('live'));
    expect([...dying.waited]).toEqual(['kept by the network']);
    await crash();
    const next = await startWorker(false);
    await next.until(() => next.texts.includes('live'));
    expect([...next.waited]).toEqual(['kept by the network']);
    await emptied();
    await sessions.handOff(held);
  });

  it('notifies of nothing twice when the worker dies after a message was stored and before it left the journal', async () => {
    await startWith(inbound());
    await sessions.open(CHANNEL, soon());
    const { id } = await send(own, 'stored');
    const change = (draft: object) => network.call('POST', `/phones/${ada}/messages`, { to: own, ...draft });
    await change({ edit: { id, text: 'stored and edited' } });
    await change({ reaction: { id, emoji: '👍' } });
    const before = await untilNotified('"reactions"');
    expect(await journal()).toBeGreaterThanOrEqual(3);
    await crash();
    await startWith(inbound());
    await send(own, 'afterwards');
    const after = await untilNotified('afterwards');
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).filter((event) => event.startsWith('messages.'))).toHaveLength(1);
    await emptied();
    await sessions.handOff(held);
  });

  it('holds messages in groups, whose keys come with the first of them', async () => {
    const { id: group } = await network.call<{ id: string }>('POST', `/phones/${ada}/groups`, {
      subject: 'Neighbours',
      members: [own],
    });
    const dying = await startWorker(true);
    await sessions.open(CHANNEL, soon());
    await send(group, 'in the group');
    await send(group, 'again');
    await dying.until(() => dying.texts.length === 2);
    await crash();
    const next = await startWorker(false);
    await send(group, 'after');
    await next.until(() => next.texts.includes('after'));
    expect(next.texts).toEqual(['in the group', 'again', 'after']);
    expect(next.received.every(({ key }) => key.remoteJid === group)).toBe(true);
    await emptied();
    await sessions.handOff(held);
  });

  it.each([
    [
      'deleted on the phone',
      () => network.call('POST', `/phones/${own}/chats`, { chat: ada, delete: true }),
      'chats_removed',
    ],
    [
      'cleared on the phone',
      () => network.call('POST', `/phones/${own}/chats`, { chat: ada, clear: true }),
      'messages_removed_all',
    ],
    ['deleted here', () => deleteHere(), 'chats_removed'],
  ] as const)(
    'holds nothing of a chat that was %s: its messages are not taken for new ones',
    async (_how, remove, fragment) => {
      await startWith(inbound());
      await sessions.open(CHANNEL, soon());
      const first = (await eventsSoFar()).length;
      await send(own, 'of a chat that goes');
      await untilNotified('of a chat that goes', first);
      await remove();
      const before = await untilNotified(fragment, first);
      await crash();
      await startWith(inbound());
      await send(own, 'of the chat anew');
      const after = await untilNotified('of the chat anew', before.length);
      expect(after.slice(before.length).filter((event) => event.includes('that goes'))).toEqual([]);
      await emptied();
      await sessions.handOff(held);
    },
  );

  it('gives the content of a ciphertext that the network delivers again, because it received no receipt', async () => {
    const fault = await network.call<{ id: string }>('POST', '/faults', { kind: 'lose-receipts', phone: own });
    const dying = await startWorker(true);
    await sessions.open(CHANNEL, soon());
    await send(own, 'twice');
    await dying.until(() => dying.texts.includes('twice'));
    await crash();
    await network.call('DELETE', `/faults/${fault.id}`);
    const next = await startWorker(false);
    await send(own, 'later');
    await next.until(() => next.texts.includes('later'));
    // The one that was delivered again has the id of the one before: a store by id has it once.
    expect([...new Set(next.received.map(({ key }) => key.id))]).toHaveLength(2);
    expect(next.texts[0]).toBe('twice');
    await emptied();
    await sessions.handOff(held);
  });

  it('is sealed: the database never holds a word of it in the clear', async () => {
    const dying = await startWorker(true);
    await sessions.open(CHANNEL, soon());
    await send(own, 'a secret word');
    await dying.until(() => dying.texts.length === 1);
    await crash();
    const { rows } = await database.pool.query<{ sealed: Buffer }>(
      `SELECT sealed FROM auth_keys WHERE type = 'inbound-journal'`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { sealed } of rows) {
      expect(sealed.includes('secret')).toBe(false);
      expect(sealed.includes(Buffer.from('a secret word').toString('base64').slice(0, 12))).toBe(false);
    }
  });
});
