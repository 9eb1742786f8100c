/**
 * Keeps the stored groups of open sessions current where notices of the network do not: queries all groups after a link,
 * once a day, and when the network reports that they changed while no device was connected; queries a single one that is
 * not known or whose changes could not be applied. Queries of one channel are paced, because the network limits them.
 *
 * No other work waits for it: a query that fails is retried later. The queries of a session end with it; what was not
 * queried is found as stale by the next one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FencedError } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type { Attachment, OpenSession, SessionListener } from '../socket/open-session.js';
import type { GroupStore } from './group-store.js';
import { refusedRequest } from '../socket/requests/refused-request.js';

export interface GroupSyncOptions {
  readonly store: Pick<GroupStore, 'refresh' | 'refreshAll' | 'stale' | 'syncedAtMs'>;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Rejects when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Interval between queries of all groups while a session is open. */
const SYNC_EVERY_MS = 24 * 3_600_000;
/** Pause between two queries of single groups. */
const PACE_MS = 2_000;
/** Pause after a query that failed. */
const RETRY_MS = 60_000;

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal, ref: false });
};

export class GroupSync implements SessionListener {
  private readonly rounds = new WeakMap<OpenSession, Round>();

  constructor(private readonly options: GroupSyncOptions) {}

  attach(session: OpenSession): Attachment {
    const round = new Round(session, this.options);
    this.rounds.set(session, round);
    const { events } = session.network;
    events.onConnection(({ state }) => {
      if (state === 'open') round.begin();
      if (state === 'closed') round.end();
    });
    events.onGroupsOutdated(() => round.syncNow());
    return {
      drained: () => {
        round.end(); // it stores only results of queries: nothing that was received is lost
        return Promise.resolve();
      },
    };
  }

  /** Queues a query about one group. */
  queryGroup(session: OpenSession, groupId: string): void {
    this.rounds.get(session)?.queryGroup(groupId);
  }
}

/** The queries of one session. */
class Round {
  private readonly ending = new AbortController();
  private readonly queued = new Set<string>();
  private running = false;
  private syncDue = false;
  private wake = new AbortController();

  constructor(
    private readonly session: OpenSession,
    private readonly options: GroupSyncOptions,
  ) {}

  begin(): void {
    if (this.running || this.ending.signal.aborted) return;
    this.running = true;
    void this.run();
  }

  end(): void {
    this.ending.abort();
  }

  queryGroup(groupId: string): void {
    this.queued.add(groupId);
    this.wake.abort();
  }

  syncNow(): void {
    this.syncDue = true;
    this.wake.abort();
  }

  private async run(): Promise<void> {
    const { now = Date.now } = this.options;
    while (!this.ending.signal.aborted) {
      const restMs = await this.runRound(now).catch((error: unknown) => this.failed(error));
      await this.rest(restMs);
    }
  }

  /** Sends the queries that are due. @returns milliseconds until the next are */
  private async runRound(now: () => number): Promise<number> {
    const { store } = this.options;
    const syncedAtMs = await store.syncedAtMs(this.session);
    if (this.syncDue || syncedAtMs === undefined || now() - syncedAtMs > SYNC_EVERY_MS) {
      this.syncDue = false;
      await store.refreshAll(this.session);
    }
    for (const id of await store.stale(this.session)) this.queued.add(id);
    for (const id of this.queued) {
      await store.refresh(this.session, id).catch(unlessGone);
      this.queued.delete(id);
      if (this.queued.size > 0) await this.pause(PACE_MS);
    }
    return SYNC_EVERY_MS;
  }

  private failed(error: unknown): number {
    // What the network refuses it may allow later; what fails with the connection is queried by the next session.
    if (error instanceof FencedError || refusedRequest(error) === undefined) this.session.reportFault(error);
    return RETRY_MS;
  }

  private async rest(ms: number): Promise<void> {
    if (this.queued.size > 0 && ms > RETRY_MS) return;
    this.wake = new AbortController();
    const signal = AbortSignal.any([this.ending.signal, this.wake.signal]);
    await this.waitFor(ms, signal);
  }

  private pause(ms: number): Promise<void> {
    return this.waitFor(ms, this.ending.signal);
  }

  private async waitFor(ms: number, signal: AbortSignal): Promise<void> {
    const { wait = pause } = this.options;
    await wait(ms, signal).catch(() => undefined);
  }
}

/** Ignores that a group does not exist. */
function unlessGone(error: unknown): void {
  if (error instanceof GatewayError && error.status === 404) return;
  throw error;
}
