/**
 * Fetches the jobs of one shard's command queue, in the order they were added.
 *
 * The wait for a job and the fetch are sent in one write. Redis queues what is sent behind a blocking command until that
 * ends, so the job arrives in the same answer that ends the wait, with the number of jobs left. That is one round trip a
 * job, where BullMQ's own loop (wait, fetch, find nothing, wait) needs four. The connection serves nothing else: all other
 * commands on it would wait as well.
 *
 * Redis away: fetches wait and are sent again once it is back. When the answer to a fetch is lost, its job is active but
 * no process runs it; the stall check fails it, as if its worker had died.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { closeRedis, inOneWrite, openRedis, type Redis } from '@dormouse/redis';
import { createRedisBackend, Worker, type BackendFactory, type Job, type RedisQueueBackend } from 'bullmq';
import type { CommandJob } from './command-job.js';

/** How long a fetch waits for a job. */
export const FETCH_WAIT_S = 1;
/** Maximum number of jobs of one fetch; more would only wait in this process. */
const MAX_BATCH = 16;
/** Interval between retries while Redis rejects fetches. */
const FETCH_RETRY_MS = 500;
/** Default of `silentAfterMs`. */
export const SILENT_AFTER_MS = 4_000;

/** BullMQ's Redis backend without the second connection that BullMQ opens for its own blocking wait. */
export const oneConnection: BackendFactory<RedisQueueBackend> = (name, options) => createRedisBackend(name, options);

export interface JobFetcherSettings {
  redisUrl: string;
  queueName: string;
  lockMs: number;
  /** Default {@link FETCH_WAIT_S}. */
  waitS?: number;
  /** Timeout of the answer after the end of a wait; the connection then counts as dead and reconnects. Default 4 s. */
  silentAfterMs?: number;
  onError: (error: unknown) => void;
}

export class JobFetcher {
  readonly #redis: Redis;
  readonly #worker: Worker<CommandJob, unknown, string, RedisQueueBackend>;
  readonly #waitS: number;
  readonly #silentAfterMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #closing = new AbortController();
  /** Redis' id of the connection, with which another one can end its wait; undefined while it is not known. */
  #connectionId: number | undefined;
  /** Number of jobs known to wait. 1 makes the next fetch try one without waiting. */
  #waiting = 1;
  /** Makes lock tokens unique. */
  #fetches = 0;

  constructor(settings: JobFetcherSettings) {
    const { redisUrl, queueName, lockMs, waitS = FETCH_WAIT_S, silentAfterMs = SILENT_AFTER_MS, onError } = settings;
    this.#waitS = waitS;
    this.#silentAfterMs = silentAfterMs;
    this.#onError = onError;
    this.#redis = openRedis({ url: redisUrl, name: `${queueName}:fetches` });
    this.#redis.on('ready', () => void this.#readConnectionId());
    const options = { connection: this.#redis, autorun: false, lockDuration: lockMs };
    this.#worker = new Worker(queueName, null, options, oneConnection);
    this.#worker.on('error', onError);
  }

  /** Up to `most` jobs, in order. When there are none, waits up to {@link FETCH_WAIT_S} for one. Never rejects. */
  async next(most: number): Promise<Job<CommandJob>[]> {
    const watch = setInterval(() => this.#cutSilentConnection(), this.#waitS * 1_000 + this.#silentAfterMs);
    try {
      const batch = Math.min(this.#waiting, most, MAX_BATCH);
      // Runs after the fetches below were queued and before `inOneWrite` flushes them: `setImmediate` keeps its order.
      const left = nextTurn().then(() => this.#countLeft());
      inOneWrite(this.#redis);
      const noticed =
        batch === 0 ? this.#redis.bzpopmin(this.#worker.toKey('marker'), this.#waitS) : Promise.resolve(null);
      const fetches = Array.from({ length: Math.max(batch, 1) }, () => this.#fetch());
      const [jobs, [waiting, wait]] = await Promise.all([
        Promise.allSettled(fetches),
        Promise.allSettled([left, noticed]),
      ]);
      // Fetched jobs are returned even if another part of the fetch failed.
      const fetched = jobs.flatMap((job) => (job.status === 'fulfilled' && job.value ? [job.value] : []));
      const failed = [...jobs, waiting, wait].find(({ status }) => status === 'rejected');
      this.#waiting = waiting.status === 'fulfilled' ? waiting.value : 1;
      if (failed?.status === 'rejected' && fetched.length === 0) await this.#pause(failed.reason);
      return fetched;
    } finally {
      clearInterval(watch);
    }
  }

  /** Call it when no fetch is under way. */
  async close(withoutRedis: boolean): Promise<void> {
    this.#closing.abort();
    await this.#worker.close(withoutRedis);
    await closeRedis(this.#redis);
  }

  /**
   * Ends the wait for a job, so that the fetch under way returns.
   * @param other a connection that does not wait
   */
  stop(other: Redis): void {
    this.#closing.abort();
    if (this.#connectionId !== undefined) other.client('UNBLOCK', this.#connectionId).catch(() => undefined);
  }

  /** The id changes with every reconnect. */
  async #readConnectionId(): Promise<void> {
    this.#connectionId = undefined;
    this.#connectionId = await this.#redis.client('ID').catch(() => undefined);
  }

  #fetch(): Promise<Job<CommandJob> | undefined> {
    return this.#worker.getNextJob(`${this.#worker.id}:${this.#fetches++}`, { block: false });
  }

  /**
   * Number of jobs that wait. BullMQ leaves its marker, which ends the wait for a job, behind with every job it returns. The
   * marker is removed before the count, so that a job added later than the count sets a marker of its own.
   */
  async #countLeft(): Promise<number> {
    const [, left] = await Promise.all([
      this.#redis.zpopmin(this.#worker.toKey('marker')),
      this.#redis.llen(this.#worker.toKey('wait')),
    ]);
    return left;
  }

  /** Waits before the next attempt. */
  async #pause(error: unknown): Promise<void> {
    this.#waiting = 1;
    const { signal } = this.#closing;
    if (signal.aborted) return;
    if (this.#redis.status === 'ready') this.#onError(error);
    await delay(FETCH_RETRY_MS, undefined, { signal }).catch(() => undefined);
  }

  #cutSilentConnection(): void {
    if (this.#redis.status === 'ready') this.#redis.disconnect(true);
  }
}
