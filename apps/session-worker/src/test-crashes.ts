/** For integration specs: a worker of one channel that can be stopped dead at a chosen step, and its next one. */
import { randomBytes } from 'node:crypto';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { MessageReader } from '@dormouse/message-store/read';
import { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { AuthRows } from './auth-state/auth-rows.js';
import { networkAuthStates } from './socket/key-format.js';
import { UNCONFIRMED } from './socket/shared-state-journal.js';
import { Inbound } from './inbound/inbound.js';
import { ChatTimers } from './socket/chat-timers.js';
import { deferred } from './socket/deferred.js';
import { createSessions } from './sessions/create-sessions.js';
import type { Sessions } from './sessions/sessions.js';
import type { HeldShard } from './shards/shard-owner.js';
import { startTestNetwork, type TestNetwork } from './test-network.js';
import { applyLibraryPatches } from './socket/patches/apply.js';
import { NOBODY_SLEEPS, statesWithoutEvents } from './sessions/test-parts.js';

applyLibraryPatches();

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const soon = (): number => Date.now() + 15_000;
const never = (): Promise<never> => new Promise(() => undefined);

/** Where a worker dies: of the write named, or of the note that a collection is unconfirmed. */
export interface Step {
  readonly write: string;
  /** With 'before' nothing of it is written; with 'after' it is, and the caller gets no result. */
  readonly dies: 'before' | 'after';
}
export const NOTED = 'note that it is unconfirmed';

export class CrashingWorker {
  private sessions: Sessions | undefined;
  private held: HeldShard;
  private readonly reader: MessageReader;
  private readonly masterKeys = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };

  private constructor(
    readonly network: TestNetwork,
    private readonly store: TestStore,
    readonly database: RegionalDatabase,
  ) {
    this.reader = new MessageReader({ database });
    this.held = this.holdShard(1n);
  }

  static async make(): Promise<CrashingWorker> {
    const [store, network] = await Promise.all([createTestDatabase('regional'), startTestNetwork()]);
    const database = openRegionalDatabase({ url: store.url, applicationName: 'crashes-spec' });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES (0, 1)');
    return new CrashingWorker(network, store, database);
  }

  async remove(): Promise<void> {
    await this.stop();
    await this.network.stop();
    await this.database.close();
    await this.store.drop();
  }

  async newChannel(id: string): Promise<void> {
    const tokenHash = randomBytes(32);
    await new ChannelDirectory({ database: this.database }).create({
      id,
      accountId: 'a',
      name: id,
      tokenHash,
      shard: 0,
    });
  }

  /** Starts a worker; it stops dead at the step given. @returns resolves when it has come to that step */
  async start(step?: Step): Promise<{ reached: Promise<void> }> {
    const reached = deferred<void>();
    const staged = <Writer extends object>(writer: Writer): Writer =>
      step ? stopping(writer, step, reached.resolve) : writer;
    const { database, network } = this;
    const rows = new AuthRows(database);
    if (step?.write === NOTED) stopAtNote(rows, step, reached.resolve);
    const directory = new ChannelDirectory({ database, cacheMs: 0 });
    this.sessions = createSessions({
      directory,
      authStates: networkAuthStates(rows, this.masterKeys),
      hibernation: NOBODY_SLEEPS,
      states: statesWithoutEvents(directory),
      network: { socketUrl: network.socketUrl, rootKey: network.rootKey },
      listeners: [
        new Inbound({
          timers: new ChatTimers(() => Promise.resolve(undefined)),
          writer: staged(new MessageWriter({ database })),
          chats: staged(new ChatWriter({ database })),
          groups: staged(new GroupWriter({ database })),
          pictures: new PictureWriter({ database }),
          autoBehaviours: { attach: () => undefined, received: () => Promise.resolve() },
          queryGroup: () => undefined,
          wantsGroupNotices: () => Promise.resolve(false),
          eventsReady: () => undefined,
          retryForMs: 1_000,
          now: Date.now,
          wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        }),
      ],
      recall: () => Promise.resolve(undefined),
      groups: { read: () => Promise.reject(new Error('not used')), addressed: () => Promise.resolve(undefined) },
      backoff: { baseMs: 20, maxDelayMs: 200, windowMs: 60_000, maxInWindow: 6 },
      restMs: 60_000,
      ackWaitMs: 1_500,
      connectingAtOnce: 10,
      startJitterMs: 0,
      log: silent,
    });
    await this.sessions.takeOver(this.held);
    return { reached: reached.promise };
  }

  /** As dead as a process can be made from inside: sockets are cut, nothing is drained, nothing more is written. */
  async crash(): Promise<void> {
    this.sessions?.abandon(this.held);
    const epoch = this.held.fence.epoch + 1n;
    await this.database.pool.query('UPDATE shard_leases SET epoch = $1 WHERE shard = 0', [epoch]);
    this.held = this.holdShard(epoch);
  }

  async stop(): Promise<void> {
    await this.sessions?.handOff(this.held);
  }

  async loginCode(channel: string): Promise<string> {
    return (await this.running.loginCode(channel, soon())).code;
  }

  async open(channel: string): Promise<void> {
    await this.running.open(channel, soon());
  }

  newPhone = async (name: string): Promise<string> =>
    (await this.network.call<{ phone: string }>('POST', '/phones', { name })).phone;

  /** The events that a webhook is notified of, in order. */
  async events(channel: string): Promise<string[]> {
    const events = await this.reader.events(channel, 0, 1_000);
    return events.map(({ type, method, payload }) => `${type}.${method} ${JSON.stringify(payload)}`);
  }

  /** @param from how many events there were before */
  async untilNotified(channel: string, what: string, from = 0): Promise<string[]> {
    let events: string[] = [];
    await this.until(`notified: ${what}`, async () => {
      events = await this.events(channel);
      return events.slice(from).some((event) => event.includes(what));
    });
    return events;
  }

  /** Everything that the library received of the shared state is stored, and marked as confirmed. */
  async untilConfirmed(): Promise<void> {
    await this.until('confirmed', async () => (await this.keys(UNCONFIRMED)) === 0);
  }

  async keys(type: string): Promise<number> {
    const { rows } = await this.database.pool.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM auth_keys WHERE type = $1',
      [type],
    );
    return rows[0]?.count ?? -1;
  }

  async until(what: string, isRight: () => Promise<boolean>): Promise<void> {
    for (const giveUpAt = soon(); Date.now() < giveUpAt;) {
      if (await isRight()) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`waited in vain: ${what}`);
  }

  private get running(): Sessions {
    if (!this.sessions) throw new Error('no worker was started');
    return this.sessions;
  }

  private holdShard(epoch: bigint): HeldShard {
    return {
      fence: { shard: 0, epoch },
      isHeld: () => true,
      verify: () => Promise.resolve(true),
      lose: () => undefined,
    };
  }
}

/** A writer that comes to an end at its method of that name. */
function stopping<Writer extends object>(writer: Writer, { write, dies }: Step, reached: () => void): Writer {
  return new Proxy(writer, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...given: unknown[]) => {
        const run = () => Reflect.apply(method, target, given) as Promise<unknown>;
        if (name !== write) return run();
        if (dies === 'after') await run();
        reached();
        return never();
      };
    },
  });
}

function stopAtNote(rows: AuthRows, { dies }: Step, reached: () => void): void {
  const writeKeys = rows.writeKeys.bind(rows);
  rows.writeKeys = async (fence, channelId, writes) => {
    if (!writes.some(({ type, sealed }) => type === UNCONFIRMED && sealed)) return writeKeys(fence, channelId, writes);
    if (dies === 'after') await writeKeys(fence, channelId, writes);
    reached();
    return never();
  };
}
