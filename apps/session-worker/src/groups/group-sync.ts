/**
 * Keeps the stored groups of open sessions true where notices of the network do not: asks for all groups after a link,
 * once a day, and when the network says that they changed while nobody listened; asks for a single one that is not
 * known or could not be followed. Questions of one channel are paced, because the network counts them.
 *
 * Nothing waits for it: a question that fails is asked again later. A session that ends takes its questions with it;
 * what was not asked is found as stale by the next one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FencedError } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type { Attachment, OpenSession, SessionListener } from '../socket/open-session.js';
import type { GroupStore } from './group-store.js';
import { refusedRequest } from '../socket/requests/refused-request.js';

export interface GroupSyncOptions {
  readonly book: Pick<GroupStore, 'refresh' | 'refreshAll' | 'stale' | 'syncedAtMs'>;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Rejects when the signal says so. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** All groups are asked for this often while a session is open. */
const SYNC_EVERY_MS = 24 * 3_600_000;
/** Between two questions about single groups. */
const PACE_MS = 2_000;
/** After a question that failed. */
const AGAIN_MS = 60_000;

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
        round.end(); // what it writes is only what the network said: nothing heard is lost
        return Promise.resolve();
      },
    };
  }

  /** The network is asked about this group when its turn comes. */
  ask(session: OpenSession, groupId: string): void {
    this.rounds.get(session)?.ask(groupId);
  }
}

/** The questions of one session. */
class Round {
  private readonly ending = new AbortController();
  private readonly asked = new Set<string>();
  private running = false;
  private syncWanted = false;
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

  ask(groupId: string): void {
    this.asked.add(groupId);
    this.wake.abort();
  }

  syncNow(): void {
    this.syncWanted = true;
    this.wake.abort();
  }

  private async run(): Promise<void> {
    const { now = Date.now } = this.options;
    while (!this.ending.signal.aborted) {
      const restMs = await this.turn(now).catch((error: unknown) => this.failed(error));
      await this.rest(restMs);
    }
  }

  /** Asks one thing. @returns how long there is nothing to do */
  private async turn(now: () => number): Promise<number> {
    const { book } = this.options;
    const syncedAtMs = await book.syncedAtMs(this.session);
    if (this.syncWanted || syncedAtMs === undefined || now() - syncedAtMs > SYNC_EVERY_MS) {
      this.syncWanted = false;
      await book.refreshAll(this.session);
    }
    for (const id of await book.stale(this.session)) this.asked.add(id);
    for (const id of this.asked) {
      await book.refresh(this.session, id).catch(unlessGone);
      this.asked.delete(id);
      if (this.asked.size > 0) await this.pause(PACE_MS);
    }
    return SYNC_EVERY_MS;
  }

  private failed(error: unknown): number {
    // What the network refuses it may grant later; what fails with the connection is asked by the next session.
    if (error instanceof FencedError || refusedRequest(error) === undefined) this.session.reportFault(error);
    return AGAIN_MS;
  }

  private async rest(ms: number): Promise<void> {
    if (this.asked.size > 0 && ms > AGAIN_MS) return;
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

/** A group that is not there needs no repair. */
function unlessGone(error: unknown): void {
  if (error instanceof GatewayError && error.status === 404) return;
  throw error;
}
