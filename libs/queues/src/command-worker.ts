/**
 * The worker's end of a command: receives the commands of one shard and replies to their callers.
 *
 * Guarantees:
 * - A command is passed to `handle` at most once, ever. There is one attempt, and a job that stalled (its worker died or
 *   lost its lock) fails and is not run again. Its caller gets 502 from the shard's next worker: at once for jobs that
 *   the former owner left behind, else when BullMQ's stall check finds the job.
 * - A command is not passed on after its `startBy`; its caller gets 503. Nor is one of a later form than this worker reads,
 *   nor one that a slow Redis gives out when closing has gone on without it.
 * - Commands are passed on in the order of the calls. BullMQ's own loop fetches in two interleaved ways and may swap
 *   neighbours; `job-fetcher.ts` fetches in one way and in order.
 * - Redis away: nothing is fetched; commands that run keep running, and their replies are published when Redis is back.
 * Only the holder of the shard's lease may open one.
 */
import { GatewayError, toErrorReply } from '@dormouse/gateway-contract';
import { closeRedis, openRedis, redisKeys, type Redis } from '@dormouse/redis';
import { activeSpan, inSpan } from '@dormouse/traces';
import { Job, Worker, type RedisQueueBackend } from 'bullmq';
import pTimeout from 'p-timeout';
import type { CommandJob, CommandReply, ReplyMessage } from './command-job.js';
import { commandSpan } from './command-span.js';
import { FETCH_WAIT_S, JobFetcher, oneConnection, SILENT_AFTER_MS } from './job-fetcher.js';
import { isReadable, replyForm } from './message-form.js';
import { commandQueueName } from './names.js';

/** Default of `lockMs`: longer than any pause of a healthy event loop. */
const LOCK_MS = 10_000;
/** Timeout of each step of closing: without Redis neither a fetch nor the completion of a job ends. */
const REDIS_TIMEOUT_MS = 2_000;
/** Default of `lastFetchWithinMs`: by then the fetcher has noticed that its connection is silent. */
const LAST_FETCH_WITHIN_MS = FETCH_WAIT_S * 1_000 + SILENT_AFTER_MS + 1_000;
/** Wait before a retry of a command that this worker is too old for. */
const UPGRADED_IN_S = 10;
const atMost = (milliseconds: number) => ({ milliseconds, message: false as const });

/** A command as its worker receives it. */
export interface ReceivedCommand {
  /** Grows with every call to the shard: the order of the calls. */
  order: number;
  channelId: string;
  /** Name and input as the caller sent them; the handler validates both against the catalogue. */
  name: string;
  input: unknown;
  /** Of the command in its caller's catalogue: a later one than that of the handler's must not be run. */
  revision: number;
  /** Epoch milliseconds after which the command must not be started. Check again after any wait of your own. */
  startBy: number;
  requestId: string;
  /** The network's message id is derived from it; see `CallOptions`. */
  sendAs?: string;
  /**
   * Adds work that starts when the reply has been sent. The command is not finished, and the worker does not close, before
   * it is done.
   */
  afterAnswer(work: () => Promise<unknown>): void;
}

export interface CommandWorkerSettings {
  redisUrl: string;
  shard: number;
  /** Maximum number of commands received and not finished, including those that wait in a lane. */
  concurrency: number;
  /**
   * A job whose lock was not renewed for this long counts as stalled. Locks are renewed in intervals of a third of it and
   * checked in intervals of half of it. Default 10 s.
   */
  lockMs?: number;
  /** Closing waits so long for the fetch under way; what arrives later is refused. Default 6 s. */
  lastFetchWithinMs?: number;
  /** Runs one command. An error it throws is reported to `onError`, and the caller gets 502. */
  handle: (command: ReceivedCommand) => Promise<CommandReply>;
  onError: (error: unknown) => void;
}

export interface CommandWorker {
  /** Stops receiving commands and waits for those that run. */
  close(): Promise<void>;
}

/** Starts to receive the commands of a shard. */
export function openCommandWorker(settings: CommandWorkerSettings): CommandWorker {
  return new CommandConsumer(settings);
}

const restarted = () =>
  toErrorReply(new GatewayError(502, { details: 'the session runtime restarted: the outcome is not known' }));
const tooLate = () =>
  toErrorReply(
    new GatewayError(503, {
      details: 'reconnecting, waking or redeploying: the request was not started in time',
      retryAfterS: 3,
    }),
  );

const leaving = () =>
  toErrorReply(new GatewayError(503, { details: 'redeploying: the request was not started', retryAfterS: 2 }));

const laterForm = () =>
  toErrorReply(
    new GatewayError(503, {
      details: 'the session worker is of an earlier version and cannot read this command yet: nothing was done',
      retryAfterS: UPGRADED_IN_S,
    }),
  );

class CommandConsumer implements CommandWorker {
  readonly #settings: CommandWorkerSettings;
  readonly #lockMs: number;
  readonly #fetcher: JobFetcher;
  /** Publishes replies and finishes jobs. */
  readonly #redis: Redis;
  readonly #worker: Worker<CommandJob, unknown, string, RedisQueueBackend>;
  /** Jobs that are not finished, by id, with their lock tokens. */
  readonly #held = new Map<string, string>();
  /** Work from the fetch to the finished job. */
  readonly #running = new Set<Promise<void>>();
  /** The part of that work that runs the handler. */
  readonly #handling = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  readonly #renewals: NodeJS.Timeout;
  readonly #loop: Promise<void>;
  /** Closing has waited for the handlers: from here on none may start. */
  #handlesNoMore = false;
  #closed: Promise<void> | undefined;

  constructor(settings: CommandWorkerSettings) {
    this.#settings = settings;
    this.#lockMs = settings.lockMs ?? LOCK_MS;
    const { redisUrl, onError } = settings;
    const queueName = commandQueueName(settings.shard);
    this.#fetcher = new JobFetcher({ redisUrl, queueName, lockMs: this.#lockMs, onError });
    this.#redis = openRedis({ url: redisUrl, name: `${queueName}:replies` });
    const options = {
      connection: this.#redis,
      autorun: false,
      lockDuration: this.#lockMs,
      stalledInterval: this.#lockMs / 2,
      maxStalledCount: 0,
    };
    this.#worker = new Worker(queueName, null, options, oneConnection);
    this.#worker.on('error', onError);
    this.#renewals = setInterval(() => void this.#renewLocks(), this.#lockMs / 3);
    this.#loop = this.#runUntilStopped();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    this.#fetcher.stop(this.#redis);
    await pTimeout(this.#loop, atMost(this.#settings.lastFetchWithinMs ?? LAST_FETCH_WITHIN_MS));
    this.#handlesNoMore = true;
    await Promise.allSettled(this.#handling);
    await pTimeout(Promise.all(this.#running), atMost(REDIS_TIMEOUT_MS));
    clearInterval(this.#renewals);
    const withoutRedis = this.#redis.status !== 'ready';
    const closed = Promise.all([this.#fetcher.close(withoutRedis), this.#worker.close(withoutRedis)]);
    await pTimeout(closed, atMost(REDIS_TIMEOUT_MS));
    await closeRedis(this.#redis);
  }

  async #runUntilStopped(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#answerAbandoned().catch(this.#settings.onError);
    if (signal.aborted) return;
    await this.#worker.startStalledCheckTimer();
    while (!signal.aborted) {
      const free = this.#settings.concurrency - this.#running.size;
      if (free <= 0) await Promise.race(this.#running);
      else for (const job of await this.#fetcher.next(free)) this.#start(job);
    }
  }

  #start(fetched: Job<CommandJob>): void {
    const { id, token } = fetched;
    if (id === undefined || token === undefined) return;
    this.#held.set(id, token);
    // The job gets another connection: the one it was fetched on is blocked by the wait for the next job.
    const job = new Job<CommandJob>(this.#worker, fetched.name, fetched.data, fetched.opts, id);
    const isLost = fetched.deferredFailure !== undefined || fetched.stalledCounter > 0 || fetched.attemptsStarted > 1;
    const run = (isLost ? this.#failLost(job, id, token) : this.#answer(job, id, token))
      .catch(this.#settings.onError)
      .finally(() => {
        this.#held.delete(id);
        this.#running.delete(run);
      });
    this.#running.add(run);
  }

  /** Replies 502 for a job whose former worker was lost, and removes it. */
  async #failLost(job: Job<CommandJob>, id: string, token: string): Promise<void> {
    await this.#reply(job.data, { ok: false, error: restarted() });
    this.#held.delete(id);
    await job.moveToFailed(new Error('its worker was lost'), token, false);
  }

  /** Publishes the reply before it finishes the job: after a crash between the two a second reply follows, which is ignored. */
  async #answer(job: Job<CommandJob>, id: string, token: string): Promise<void> {
    const { traceparent: parent = null, requestId, channelId } = job.data;
    const { name, facts } = commandSpan('process', this.#settings.shard, job.name, channelId);
    const terms = { kind: 'consumer', parent, requestId, facts } as const;
    const { replied } = await this.#handled(inSpan(name, terms, () => this.#handle(job, id)));
    await replied;
    // Otherwise a renewal after the job is finished would report its lock as lost.
    this.#held.delete(id);
    await job.moveToCompleted(null, token, false);
  }

  /**
   * Runs the command, publishes its reply, then does the work that was added for after the reply.
   * @returns `replied`, which settles when Redis has accepted the reply; closing does not wait for that
   */
  async #handle(job: Job<CommandJob>, id: string): Promise<{ replied: Promise<void> }> {
    const after: (() => Promise<unknown>)[] = [];
    const reply = await this.#outcome(job, id, (work) => after.push(work));
    if (!reply.ok) activeSpan().fail(String(reply.error.status));
    const replied = this.#reply(job.data, reply);
    replied.catch(() => undefined); // the caller awaits it after the work below; no unhandled rejection before that
    await Promise.all(after.map((work) => work().catch(this.#settings.onError)));
    return { replied };
  }

  async #outcome(job: Job<CommandJob>, id: string, afterAnswer: ReceivedCommand['afterAnswer']): Promise<CommandReply> {
    const { form, revision = 1, channelId, input, startBy, requestId, sendAs } = job.data;
    const named = sendAs === undefined ? {} : { sendAs };
    if (this.#handlesNoMore) return { ok: false, error: leaving() };
    if (!isReadable(form)) return { ok: false, error: laterForm() };
    if (Date.now() > startBy) return { ok: false, error: tooLate() };
    const asSent = { channelId, name: job.name, input, revision, startBy, requestId, ...named };
    const command = { order: Number(id), ...asSent, afterAnswer };
    try {
      return await this.#settings.handle(command);
    } catch (error) {
      this.#settings.onError(error);
      return { ok: false, error: toErrorReply(new GatewayError(502)) };
    }
  }

  /** Registers work that closing waits for. */
  #handled<T>(work: Promise<T>): Promise<T> {
    const handling = work.finally(() => this.#handling.delete(handling));
    this.#handling.add(handling);
    return handling;
  }

  async #reply({ form, clientId, callId }: CommandJob, reply: CommandReply): Promise<void> {
    const message: ReplyMessage = { form: replyForm(form), callId, reply };
    await this.#redis.publish(redisKeys.replies(clientId), JSON.stringify(message));
  }

  async #renewLocks(): Promise<void> {
    if (this.#held.size === 0) return;
    const lost = await this.#worker
      .extendJobLocks([...this.#held.keys()], [...this.#held.values()], this.#lockMs)
      .catch((error: unknown) => this.#settings.onError(error));
    if (lost?.length) this.#settings.onError(new Error(`lost the lock of commands ${lost.join(', ')}`));
  }

  /** Replies to active jobs before the first fetch: they were left behind by an owner whose lease has ended. */
  async #answerAbandoned(): Promise<void> {
    const ids = await this.#redis.lrange(this.#worker.toKey('active'), 0, -1);
    for (const id of ids) {
      const data = await this.#redis.hget(this.#worker.toKey(id), 'data');
      if (data !== null) await this.#reply(JSON.parse(data) as CommandJob, { ok: false, error: restarted() });
    }
  }
}
