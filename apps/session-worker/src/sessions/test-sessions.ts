/** For integration specs: the part of a worker that owns shards and holds sessions, on the simulated network. */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { ChannelDirectory } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import type { WAMessage } from '@whiskeysockets/baileys';
import { AuthRows } from '../auth-state/auth-rows.js';
import { networkAuthStates } from '../socket/key-format.js';
import { ShardLeases } from '@dormouse/database/shards';
import { ShardOwner, type HeldShard } from '../shards/shard-owner.js';
import type { TestNetwork } from '../test-network.js';
import { ChangeSignal } from './change-signal.js';
import { deferred } from '../socket/deferred.js';
import type { OpenSession } from '../socket/open-session.js';
import { applyLibraryPatches } from '../socket/patches/apply.js';
import { createSessions, type SessionsOptions } from './create-sessions.js';
import type { Sessions } from './sessions.js';
import { NOBODY_SLEEPS, statesWithoutEvents } from './test-parts.js';

applyLibraryPatches();

export const MASTER_KEYS = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
export const soon = (): number => Date.now() + 15_000;
export const silent = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

/** It receives the events of its sockets itself. */
export class TestWorker {
  readonly received: WAMessage[] = [];
  readonly sockets: OpenSession[] = [];
  readonly changed = new ChangeSignal();
  readonly sessions: Sessions;
  readonly directory: ChannelDirectory;
  /** Every log line. */
  readonly lines: string[] = [];
  private readonly closes: { channelId?: string; reason?: string }[] = [];
  private readonly owner: ShardOwner;
  readonly held = deferred<HeldShard>();

  constructor(id: string, database: RegionalDatabase, network: TestNetwork, options: Partial<SessionsOptions> = {}) {
    this.directory = new ChannelDirectory({ database });
    this.sessions = createSessions({
      directory: this.directory,
      authStates: networkAuthStates(new AuthRows(database), MASTER_KEYS),
      hibernation: NOBODY_SLEEPS,
      states: statesWithoutEvents(this.directory),
      network: { socketUrl: network.socketUrl, rootKey: network.rootKey },
      recall: () => Promise.resolve(undefined),
      groups: { read: () => Promise.reject(new Error('not used here')), addressed: () => Promise.resolve(undefined) },
      backoff: { baseMs: 20, maxDelayMs: 200, windowMs: 60_000, maxInWindow: 6 },
      restMs: 60_000,
      ackWaitMs: 5_000,
      connectingAtOnce: 10,
      startJitterMs: 0,
      log: { info: this.record, warn: this.record, error: this.record, debug: this.record },
      ...options,
      listeners: [
        {
          attach: (session) => {
            this.sockets.push(session);
            this.changed.fire();
            session.network.events.onGathered(({ messages: { messages } = { messages: [] } }) => {
              this.received.push(...messages);
              session.settle(messages);
              this.changed.fire();
            });
            return { drained: () => Promise.resolve() };
          },
        },
        ...(options.listeners ?? []),
      ],
    });
    const leases = new ShardLeases({ database, workerId: id, ttlMs: 10_000 });
    this.owner = new ShardOwner({
      leases,
      renewEveryMs: 100,
      marginMs: 3_000,
      finishWithinMs: 10_000,
      log: silent,
      startWork: (held) => {
        void this.sessions.takeOver(held).then(() => this.held.resolve(held));
        return { finish: () => this.sessions.handOff(held), abandon: () => this.sessions.abandon(held) };
      },
    });
  }

  private readonly record = (facts: object, text: string): void => {
    this.lines.push(`${text} ${inspect(facts, { depth: 8 })}`);
    if (text === 'socket closed') this.closes.push(facts);
    this.changed.fire();
  };

  async start(): Promise<this> {
    this.owner.start();
    await this.held.promise;
    return this;
  }

  async stop(): Promise<void> {
    await this.owner.drain();
  }

  /** Why sockets of the channel closed. The worker also connects channels that earlier specs left linked. */
  closesOf(channelId: string): string[] {
    return this.closes.flatMap((facts) => (facts.channelId === channelId ? (facts.reason ?? []) : []));
  }

  /** Waits until something that this worker receives makes the condition true. */
  async until(condition: () => boolean): Promise<void> {
    const deadlineMs = soon();
    while (!condition()) {
      if (!(await this.changed.changedBy(deadlineMs))) throw new Error('waited in vain');
    }
  }
}
