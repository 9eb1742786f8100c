/**
 * Queries the addresses of profile pictures of a channel's contacts and groups, for channels with the setting
 * `media.init_avatars`: while the session is open, one query after the other, those of the last active chats first. The
 * network limits such queries, so their rate is bounded for one channel and for all channels together.
 *
 * No other work waits for it, and no session is woken for it. The results are stored under the fence, so that neither a
 * restart nor a wake repeats a query for days. After a failed query, and while the database is away, it retries later. It
 * ends with its session.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FencedError } from '@dormouse/database';
import type { PictureWriter } from '@dormouse/message-store/write';
import type { Attachment, OpenSession, SessionListener } from '../socket/open-session.js';
import { refusedRequest } from '../socket/requests/refused-request.js';

export interface AvatarFetcherOptions {
  readonly store: Pick<PictureWriter, 'wanted' | 'recordQueried'>;
  /** Whether the channel has the setting. */
  readonly wants: (channelId: string) => Promise<boolean>;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Rejects when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Delay after the start of a session, which first receives history and missed messages. */
const START_DELAY_MS = 2_000;
/** Interval between two queries of one channel. */
const QUERY_INTERVAL_MS = 1_000;
/** Interval between two queries of all channels together. */
const SHARED_INTERVAL_MS = 50;
/** Age of an address after which it is queried again; addresses are valid for one or two weeks. */
const REFRESH_AFTER_MS = 5 * 24 * 3_600_000;
/** Queries of one batch. Between batches the setting is read again. */
const BATCH_SIZE = 20;
/** Shortest pause when there is nothing to query; contacts are added by messages and history. It doubles each time. */
const IDLE_PAUSE_MS = 15_000;
const MAX_IDLE_PAUSE_MS = 3_600_000;
/** Pause after a failed query. */
const RETRY_PAUSE_MS = 300_000;
/** Pause after the network has refused a query because of its rate limit. */
const RATE_LIMIT_PAUSE_MS = 3_600_000;
const RATE_LIMITED = 429;

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal, ref: false });
};

export class AvatarFetcher implements SessionListener {
  private readonly rounds = new Map<string, Round>();
  private nextMs = 0;

  constructor(private readonly options: AvatarFetcherOptions) {}

  attach(session: OpenSession): Attachment {
    const round = new Round(session, this.options, () => this.reserveSlotMs());
    this.rounds.set(session.channelId, round);
    const end = (): void => {
      round.end();
      if (this.rounds.get(session.channelId) === round) this.rounds.delete(session.channelId);
    };
    session.network.events.onConnection(({ state }) => {
      if (state === 'open') round.begin();
      if (state === 'closed') end();
    });
    return {
      drained: () => {
        end(); // it stores only results of queries: nothing that was received is lost
        return Promise.resolve();
      },
    };
  }

  /** The channel's settings may have changed. */
  settingsChanged(channelId: string): void {
    this.rounds.get(channelId)?.look();
  }

  /** Reserves a slot for one query of all channels. @returns the time until it, in milliseconds */
  private reserveSlotMs(): number {
    const { now = Date.now } = this.options;
    const atMs = Math.max(now(), this.nextMs);
    this.nextMs = atMs + SHARED_INTERVAL_MS;
    return atMs - now();
  }
}

/** The queries of one session. */
class Round {
  private readonly ending = new AbortController();
  private looking = new AbortController();
  private running = false;
  private idlePauseMs = IDLE_PAUSE_MS;

  constructor(
    private readonly session: OpenSession,
    private readonly options: AvatarFetcherOptions,
    private readonly reserveSlotMs: () => number,
  ) {}

  begin(): void {
    if (this.running || this.ended) return;
    this.running = true;
    void this.run();
  }

  end(): void {
    this.ending.abort();
  }

  look(): void {
    this.idlePauseMs = IDLE_PAUSE_MS;
    this.looking.abort();
  }

  private get ended(): boolean {
    return this.ending.signal.aborted;
  }

  private async run(): Promise<void> {
    await this.rest(START_DELAY_MS);
    while (!this.ended) {
      const pauseMs = await this.runBatch().catch((error: unknown) => this.failed(error));
      if (pauseMs > 0) await this.rest(pauseMs);
    }
  }

  /** Sends one batch of queries. @returns the pause before the next batch, in milliseconds */
  private async runBatch(): Promise<number> {
    const { store, wants, now = Date.now } = this.options;
    const { channelId } = this.session;
    this.looking = new AbortController();
    if (!(await wants(channelId))) return MAX_IDLE_PAUSE_MS;
    const ids = await store.wanted(channelId, { queriedBeforeMs: now() - REFRESH_AFTER_MS, limit: BATCH_SIZE });
    for (const id of ids) {
      await this.waitFor(QUERY_INTERVAL_MS + this.reserveSlotMs(), this.ending.signal);
      if (this.ended) return 0;
      await this.queryPicture(id);
    }
    if (ids.length > 0) this.idlePauseMs = IDLE_PAUSE_MS;
    const pauseMs = ids.length < BATCH_SIZE ? this.idlePauseMs : 0;
    if (ids.length === 0) this.idlePauseMs = Math.min(2 * this.idlePauseMs, MAX_IDLE_PAUSE_MS);
    return pauseMs;
  }

  private async queryPicture(id: string): Promise<void> {
    const { network, fence, channelId } = this.session;
    const found = await network.people.pictures(id).catch((error: unknown) => {
      if (refusedRequest(error) === undefined || refusedRequest(error) === RATE_LIMITED) throw error;
      return {}; // the network refuses this one: recorded without address, and the others are queried
    });
    // After the end of the session, rejected or empty results mean nothing.
    if (!this.ended) await this.options.store.recordQueried(fence, channelId, { id, ...found });
  }

  private failed(error: unknown): number {
    if (this.ended) return 0;
    if (refusedRequest(error) === RATE_LIMITED) return RATE_LIMIT_PAUSE_MS;
    if (error instanceof FencedError || refusedRequest(error) === undefined) this.session.reportFault(error);
    return RETRY_PAUSE_MS;
  }

  /** Resolves after the time, at the end of the session, or when the settings change. */
  private rest(ms: number): Promise<void> {
    return this.waitFor(ms, AbortSignal.any([this.ending.signal, this.looking.signal]));
  }

  private async waitFor(ms: number, signal: AbortSignal): Promise<void> {
    const { wait = pause } = this.options;
    await wait(ms, signal).catch(() => undefined);
  }
}
