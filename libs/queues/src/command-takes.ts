/**
 * Takes the jobs of one shard's command queue, in the order they were added.
 *
 * Who waits for a job asks for it in the same breath: Redis keeps what is said behind a blocking command until that one
 * ends, so the job comes with the news that there is one, and with it how many more there are. One write and one answer
 * a job, where BullMQ's own way (wait, take, find nothing, wait) needs four. The connection serves nothing else: what
 * is said to it waits as long as it waits.
 *
 * Redis away: takes wait, and are asked again once it is back. One whose answer was lost has taken its job for nobody;
 * the stall check buries it, as if its worker had died.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { closeRedis, inOneWrite, openRedis, type Redis } from '@dormouse/redis';
import { createRedisBackend, Worker, type BackendFactory, type Job, type RedisQueueBackend } from 'bullmq';
import type { CommandJob } from './command-job.js';

/** How long a take blocks when there is nothing and nobody ends it. */
export const TAKE_WAIT_S = 1;
/** Jobs of one take; more would only wait in this process. */
const MOST_AT_ONCE = 16;
/** Between attempts to take a job while Redis refuses. */
const TAKE_RETRY_MS = 500;
const SILENT_AFTER_MS = 4_000;

/** BullMQ's Redis without the second connection that it makes for its own way of waiting. */
export const oneConnection: BackendFactory<RedisQueueBackend> = (name, options) => createRedisBackend(name, options);

export interface CommandTakesSettings {
  redisUrl: string;
  queueName: string;
  lockMs: number;
  /** Default {@link TAKE_WAIT_S}. */
  waitS?: number;
  /** A take that is answered so long after its wait has a dead connection, which is made anew. Default 4 s. */
  silentAfterMs?: number;
  onError: (error: unknown) => void;
}

export class CommandTakes {
  readonly #redis: Redis;
  readonly #worker: Worker<CommandJob, unknown, string, RedisQueueBackend>;
  readonly #waitS: number;
  readonly #silentAfterMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #closing = new AbortController();
  /** The connection's number, by which another one can end its wait; undefined while it is not known. */
  #connectionId: number | undefined;
  /** How many jobs are known to wait. The first take looks for itself. */
  #waiting = 1;
  /** Makes lock tokens differ. */
  #turn = 0;

  constructor(settings: CommandTakesSettings) {
    const { redisUrl, queueName, lockMs, waitS = TAKE_WAIT_S, silentAfterMs = SILENT_AFTER_MS, onError } = settings;
    this.#waitS = waitS;
    this.#silentAfterMs = silentAfterMs;
    this.#onError = onError;
    this.#redis = openRedis({ url: redisUrl, name: `${queueName}:takes` });
    this.#redis.on('ready', () => void this.#learnConnectionId());
    const options = { connection: this.#redis, autorun: false, lockDuration: lockMs };
    this.#worker = new Worker(queueName, null, options, oneConnection);
    this.#worker.on('error', onError);
  }

  /** Up to `most` jobs, in order. When there are none it waits for one, but not for ever. Never rejects. */
  async next(most: number): Promise<Job<CommandJob>[]> {
    const watch = setInterval(() => this.#cutSilentConnection(), this.#waitS * 1_000 + this.#silentAfterMs);
    try {
      const asked = Math.min(this.#waiting, most, MOST_AT_ONCE);
      // Asked for behind all that is taken below, and before that write: what was planned first has its turn first.
      const left = nextTurn().then(() => this.#countLeft());
      inOneWrite(this.#redis);
      const noticed =
        asked === 0 ? this.#redis.bzpopmin(this.#worker.toKey('marker'), this.#waitS) : Promise.resolve(null);
      const takes = Array.from({ length: Math.max(asked, 1) }, () => this.#take());
      const [jobs, [waiting, wait]] = await Promise.all([
        Promise.allSettled(takes),
        Promise.allSettled([left, noticed]),
      ]);
      // What was taken is handed over even if something beside it failed.
      const taken = jobs.flatMap((job) => (job.status === 'fulfilled' && job.value ? [job.value] : []));
      const failed = [...jobs, waiting, wait].find(({ status }) => status === 'rejected');
      this.#waiting = waiting.status === 'fulfilled' ? waiting.value : 1;
      if (failed?.status === 'rejected' && taken.length === 0) await this.#rest(failed.reason);
      return taken;
    } finally {
      clearInterval(watch);
    }
  }

  /** Call it when no take is under way. */
  async close(withoutRedis: boolean): Promise<void> {
    this.#closing.abort();
    await this.#worker.close(withoutRedis);
    await closeRedis(this.#redis);
  }

  /**
   * Ends the wait for a job, so that the take under way ends with what there is.
   * @param other a connection that does not wait
   */
  stop(other: Redis): void {
    this.#closing.abort();
    if (this.#connectionId !== undefined) other.client('UNBLOCK', this.#connectionId).catch(() => undefined);
  }

  /** A connection that dropped meanwhile has another number when it is back. */
  async #learnConnectionId(): Promise<void> {
    this.#connectionId = undefined;
    this.#connectionId = await this.#redis.client('ID').catch(() => undefined);
  }

  #take(): Promise<Job<CommandJob> | undefined> {
    return this.#worker.getNextJob(`${this.#worker.id}:${this.#turn++}`, { block: false });
  }

  /**
   * How many jobs wait. BullMQ leaves its marker, which ends the wait for a job, behind with every job it gives; it is
   * taken away first, so that a job added later than this count has a marker of its own.
   */
  async #countLeft(): Promise<number> {
    const [, left] = await Promise.all([
      this.#redis.zpopmin(this.#worker.toKey('marker')),
      this.#redis.llen(this.#worker.toKey('wait')),
    ]);
    return left;
  }

  async #rest(error: unknown): Promise<void> {
    this.#waiting = 1;
    const { signal } = this.#closing;
    if (signal.aborted) return;
    if (this.#redis.status === 'ready') this.#onError(error);
    await delay(TAKE_RETRY_MS, undefined, { signal }).catch(() => undefined);
  }

  #cutSilentConnection(): void {
    if (this.#redis.status === 'ready') this.#redis.disconnect(true);
  }
}
