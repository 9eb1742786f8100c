/** For integration specs: commands and inbound together, one linked channel that talks with phones of the simulated network. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import type { CommandName, Message, SentMessage } from '@dormouse/gateway-contract';
import { Downloader } from '@dormouse/media-files';
import { GroupReader, MessageReader } from '@dormouse/message-store/read';
import { ChatWriter, GroupWriter, MessageWriter, NumberNames, PictureWriter } from '@dormouse/message-store/write';
import type { CommandReply } from '@dormouse/queues';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { AuthRows } from './auth-state/auth-rows.js';
import { networkAuthStates } from './socket/key-format.js';
import { CanonicalNumbers } from './commands/sending/canonical-numbers.js';
import { CommandRunner } from './commands/command-runner.js';
import { makeHandlers } from './commands/handlers.js';
import { LinkPreviews } from './commands/sending/link-previews.js';
import { networkError } from './commands/network-errors.js';
import { RecentNumbers } from './commands/sending/recent-numbers.js';
import { UnconfirmedSends } from './commands/sending/unconfirmed-sends.js';
import { GroupStore } from './groups/group-store.js';
import { GroupSync } from './groups/group-sync.js';
import { AutoBehaviours } from './inbound/auto-behaviours.js';
import { Inbound } from './inbound/inbound.js';
import { retryMessageLookup } from './inbound/retry-message-lookup.js';
import { UnreadableSends } from './inbound/unreadable-sends.js';
import { ChatTimers } from './socket/chat-timers.js';
import { ChangeSignal } from './sessions/change-signal.js';
import { createSessions } from './sessions/create-sessions.js';
import type { Sessions } from './sessions/sessions.js';
import type { HeldShard } from './shards/shard-owner.js';
import { silenceConsole } from './socket/patches/silent-console.js';
import { noImages, noMedia } from './test-media.js';
import { startTestNetwork, type TestNetwork } from './test-network.js';
import { applyLibraryPatches } from './socket/patches/apply.js';
import { NOBODY_SLEEPS, statesWithoutEvents } from './sessions/test-parts.js';

applyLibraryPatches();

export const CHANNEL = 'CH-TALK';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const soon = (): number => Date.now() + 15_000;

/** A message as a phone of the simulated network shows it. */
export interface PhoneMessage {
  id: string;
  text?: string;
  fromMe: boolean;
  quoted?: string;
  mentions?: string[];
  ephemeralSeconds?: number;
}

export class TestConversation {
  network!: TestNetwork;
  database!: RegionalDatabase;
  reader!: MessageReader;
  sessions!: Sessions;
  /** The channel's number, and a friend's. */
  own = '';
  ada = '';
  private store!: TestStore;
  private runner!: CommandRunner;
  private order = 0;
  private restoreConsole = (): void => undefined;
  private readonly newEvents = new ChangeSignal();
  private readonly masterKeys = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
  private readonly held: HeldShard = {
    fence: { shard: 0, epoch: 1n },
    isHeld: () => true,
    verify: () => Promise.resolve(true),
    lose: () => undefined,
  };

  /**
   * @param options.graceMs how long sends that nobody confirmed may be confirmed yet
   * @param options.keepAliveMs how soon a connection over which nothing comes is found out
   */
  constructor(private readonly options: { graceMs?: number; keepAliveMs?: number } = {}) {}

  /** Brings up stores, network and worker, and links the channel. */
  async start(): Promise<void> {
    this.restoreConsole = silenceConsole(silent);
    [this.store, this.network] = await Promise.all([createTestDatabase('regional'), startTestNetwork()]);
    this.database = openRegionalDatabase({ url: this.store.url, applicationName: 'conversation-spec' });
    await this.database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES (0, 1)');
    this.reader = new MessageReader({ database: this.database });
    await this.startWorker();
    await new ChannelDirectory({ database: this.database }).create({
      id: CHANNEL,
      accountId: 'a',
      name: CHANNEL,
      tokenHash: randomBytes(32),
      shard: 0,
    });
    const { code } = await this.sessions.loginCode(CHANNEL, soon());
    this.own = (await this.newPhone('Example Shop')).phone;
    await this.network.call('POST', `/phones/${this.own}/scan`, { qr: code });
    await this.sessions.open(CHANNEL, soon());
    this.ada = (await this.newPhone('Ada Example')).phone;
  }

  async stop(): Promise<void> {
    await this.stopWorker();
    await this.network.stop();
    await this.database.close();
    await this.store.drop();
    this.restoreConsole();
  }

  /** Releases the channel, as to another worker. */
  async stopWorker(): Promise<void> {
    await this.sessions.handOff(this.held);
  }

  async startWorker(): Promise<void> {
    const { database, network, reader } = this;
    const { graceMs = 60_000, keepAliveMs = 30_000 } = this.options;
    const writer = new MessageWriter({ database });
    const chats = new ChatWriter({ database });
    const directory = new ChannelDirectory({ database, cacheMs: 0 });
    const eventsReady = (): void => this.newEvents.fire();
    const groups = new GroupWriter({ database });
    const groupStore = new GroupStore({ groups, eventsReady });
    const groupSync = new GroupSync({ store: groupStore });
    const wait = (ms: number): Promise<void> => delay(ms);
    const autoBehaviours = new AutoBehaviours({ directory, wait, now: Date.now });
    const pictures = new PictureWriter({ database });
    const patience = { now: Date.now, wait, retryForMs: 5_000 };
    const wantsGroupNotices = (): Promise<boolean> => Promise.resolve(false);
    const checkedNumbers = new RecentNumbers(Date.now);
    const timers = new ChatTimers((channelId, chatId) => reader.chatTimer(channelId, chatId));
    const inbound = {
      writer,
      autoBehaviours,
      groups,
      queryGroup: groupSync.queryGroup.bind(groupSync),
      wantsGroupNotices,
      eventsReady,
    };
    const unconfirmed = new UnconfirmedSends({ writer, eventsReady, now: Date.now, graceMs });
    this.sessions = createSessions({
      directory,
      authStates: networkAuthStates(new AuthRows(database), this.masterKeys),
      hibernation: NOBODY_SLEEPS,
      states: statesWithoutEvents(directory),
      network: { socketUrl: network.socketUrl, rootKey: network.rootKey, keepAliveMs },
      listeners: [
        groupSync,
        unconfirmed,
        new UnreadableSends({ writer, groups, eventsReady, now: Date.now, graceMs }),
        new Inbound({ ...inbound, timers, chats, pictures, ...patience }),
      ],
      recall: retryMessageLookup(writer),
      groups: groupStore,
      backoff: { baseMs: 20, maxDelayMs: 200, windowMs: 60_000, maxInWindow: 6 },
      restMs: 60_000,
      ackWaitMs: 1_500,
      connectingAtOnce: 10,
      startJitterMs: 0,
      log: silent,
    });
    const handlers = makeHandlers({
      reader,
      writer,
      timers,
      unconfirmed,
      chats,
      checkedNumbers,
      numbers: new CanonicalNumbers(checkedNumbers, new NumberNames({ database })),
      iconOf: () => Promise.reject(new Error('no file is stored here')),
      groups: groupStore,
      groupReader: new GroupReader({ database }),
      previews: new LinkPreviews(new Downloader({ allowLoopback: true }), noImages()),
      media: noMedia(),
      eventsReady,
      now: Date.now,
      wait,
      putToSleep: () => Promise.resolve(false),
      exportPage: () => Promise.resolve({ rows: [] }),
    });
    this.runner = new CommandRunner({ sessions: this.sessions, directory, handlers, networkError, log: silent });
    await this.sessions.takeOver(this.held);
  }

  newPhone(name: string): Promise<{ phone: string; lid: string }> {
    return this.network.call('POST', '/phones', { name });
  }

  /** Runs a command as the queue would deliver it; a text to be sent unless named otherwise. */
  call(
    input: Record<string, unknown>,
    { name = 'messages.sendText', sendAs }: { name?: CommandName; sendAs?: string } = {},
  ): Promise<CommandReply> {
    this.order += 1;
    return this.runner.run({
      order: this.order,
      channelId: CHANNEL,
      name,
      input,
      ...(sendAs !== undefined && { sendAs }),
      startBy: Date.now() + 10_000,
      revision: 1,
      requestId: `r${this.order}`,
      afterAnswer: (work) => void work(),
    });
  }

  /** The result of a command that succeeds. */
  async result<Result>(...given: Parameters<TestConversation['call']>): Promise<Result> {
    const reply = await this.call(...given);
    if (!reply.ok) throw new Error(`${reply.error.status}: ${reply.error.details ?? reply.error.message}`);
    return reply.result as Result;
  }

  async send(...given: Parameters<TestConversation['call']>): Promise<Message> {
    return (await this.result<SentMessage>(...given)).message;
  }

  /** Waits for a message on a phone. */
  received(phone: string, filter: Record<string, unknown>): Promise<PhoneMessage> {
    return this.network.call('POST', `/phones/${phone}/messages/wait`, { ...filter, timeoutMs: 10_000 });
  }

  /** Sends a message from a phone to the channel. @returns it, once it is stored */
  async fromPhone(phone: string, message: Record<string, unknown>): Promise<Message> {
    const { id } = await this.network.call<{ id: string }>('POST', `/phones/${phone}/messages`, {
      to: this.own,
      ...message,
    });
    return this.until(async () => {
      const { rows } = await this.database.pool.query<{ id: string }>(
        'SELECT id FROM messages WHERE channel_id = $1 AND key_id = $2',
        [CHANNEL, id],
      );
      return rows[0] && this.reader.message(CHANNEL, rows[0].id);
    });
  }

  /** Looks whenever something was notified until there is an answer. */
  async until<T>(look: () => Promise<T | undefined>): Promise<T> {
    const deadlineMs = soon();
    for (;;) {
      const changed = this.newEvents.changedBy(Math.min(deadlineMs, Date.now() + 500));
      const found = await look();
      if (found !== undefined) return found;
      if (Date.now() > deadlineMs) throw new Error('waited in vain');
      await changed;
    }
  }

  async statusesOf({ id }: Pick<Message, 'id'>): Promise<string[]> {
    return (await this.reader.statuses(CHANNEL, id))?.statuses.map(({ status }) => status) ?? [];
  }

  untilStatus(message: Pick<Message, 'id'>, status: string): Promise<string[]> {
    return this.until(async () => {
      const statuses = await this.statusesOf(message);
      return statuses.includes(status) ? statuses : undefined;
    });
  }

  async eventsOf(id: string): Promise<string[]> {
    const events = await this.reader.events(CHANNEL, 0, 10_000);
    return events.flatMap(({ type, method, payload }) => {
      const list = Object.values(payload)[0] as { id: string; status?: string }[];
      return list[0]?.id === id ? [`${type}.${method} ${list[0].status ?? ''}`.trim()] : [];
    });
  }

  /** A message that the channel sent, by its text. */
  async sent(text: string): Promise<Message> {
    const { messages } = await this.reader.listMessages(CHANNEL, {
      count: 500,
      offset: 0,
      sort: 'desc',
      normal_types: true,
    });
    const message = messages.find(({ text: { body } = {} }) => body === text);
    if (!message) throw new Error('the message is not stored');
    return message;
  }

  /** A fault of the simulated network; ends it. */
  async fault(fault: Record<string, unknown>): Promise<() => Promise<unknown>> {
    const { id } = await this.network.call<{ id: string }>('POST', '/faults', fault);
    return () => this.network.call('DELETE', `/faults/${id}`);
  }
}
