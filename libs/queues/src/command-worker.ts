/**
 * The worker's end of a command: takes the jobs of one shard and answers their callers.
 *
 * Guarantees:
 * - A command is handed to `handle` at most once, ever: one attempt, and a job that stalled (its worker died or lost
 *   its lock) is buried, not run again. Whoever waited for it gets 502 from the shard's next worker: at once for what
 *   the former owner left behind, else when BullMQ's stall check finds it.
 * - A command is not handed over after its `startBy`; its caller gets 503.
 * - Commands are handed over in the order they were called. BullMQ's own loop fetches in two interleaved ways and may
 *   swap neighbours; `command-takes.ts` takes in one way and in order.
 * - Redis away: nothing is taken; what runs keeps running, and its answer is published when Redis is back.
 * Only the holder of the shard's lease may open one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError, toErrorReply } from '@dormouse/gateway-contract';
import { closeRedis, openRedis, redisKeys, type Redis } from '@dormouse/redis';
import { Job, Worker, type RedisQueueBackend } from 'bullmq';
import type { CommandJob, CommandReply, ReplyMessage } from './command-job.js';
import { CommandTakes, oneConnection, TAKE_WAIT_S } from './command-takes.js';
import { commandQueueName } from './names.js';

/** Default of `lockMs`: longer than any pause of a healthy event loop. */
const LOCK_MS = 10_000;
/** Without Redis neither a take nor a finished job ends; closing waits no longer than this for each. */
const REDIS_WITHIN_MS = 2_000;

/** A command as its worker gets it. */
export interface ReceivedCommand {
  /** Grows with every call to the shard: the order in which its commands were called. */
  order: number;
  channelId: string;
  /** Name and input as the caller sent them; whoever runs it validates both against the catalogue. */
  name: string;
  input: unknown;
  /** Epoch milliseconds: not to be started later. Check again after any wait of your own. */
  startBy: number;
  requestId: string;
  /** What the network's id of the message is to be made from; see `CallOptions`. */
  sendAs?: string;
  /**
   * Work that begins when the answer is on its way. The command is not finished, and its worker not closed, before it is
   * done.
   */
  afterAnswer(work: () => Promise<unknown>): void;
}

export interface CommandWorkerSettings {
  redisUrl: string;
  shard: number;
  /** Commands in hand at once, those that wait in a lane included. */
  concurrency: number;
  /**
   * A job whose lock was not renewed for this long counts as stalled. Renewed three times as often, checked twice as
   * often. Default 10 s.
   */
  lockMs?: number;
  /** Answers one command. A throw is reported to `onError` and answered with 502. */
  handle: (command: ReceivedCommand) => Promise<CommandReply>;
  onError: (error: unknown) => void;
}

export interface CommandWorker {
  /** Stops taking commands and waits for those that run. */
  close(): Promise<void>;
}

/** Starts taking the commands of a shard. */
export function openCommandWorker(settings: CommandWorkerSettings): CommandWorker {
  return new CommandTaker(settings);
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

class CommandTaker implements CommandWorker {
  readonly #settings: CommandWorkerSettings;
  readonly #lockMs: number;
  readonly #takes: CommandTakes;
  /** Answers callers and finishes jobs. */
  readonly #redis: Redis;
  readonly #worker: Worker<CommandJob, unknown, string, RedisQueueBackend>;
  /** Jobs in hand by id, with their lock tokens. */
  readonly #held = new Map<string, string>();
  /** From take to finished job. */
  readonly #running = new Set<Promise<void>>();
  /** The part of it that is the handler's. */
  readonly #handling = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  readonly #renewals: NodeJS.Timeout;
  readonly #taking: Promise<void>;
  #closed: Promise<void> | undefined;

  constructor(settings: CommandWorkerSettings) {
    this.#settings = settings;
    this.#lockMs = settings.lockMs ?? LOCK_MS;
    const { redisUrl, onError } = settings;
    const queueName = commandQueueName(settings.shard);
    this.#takes = new CommandTakes({ redisUrl, queueName, lockMs: this.#lockMs, onError });
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
    this.#taking = this.#takeUntilStopped();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    this.#takes.stop(this.#redis);
    await within(TAKE_WAIT_S * 1_000 + REDIS_WITHIN_MS, this.#taking);
    await Promise.allSettled(this.#handling);
    await within(REDIS_WITHIN_MS, Promise.all(this.#running));
    clearInterval(this.#renewals);
    const withoutRedis = this.#redis.status !== 'ready';
    await within(REDIS_WITHIN_MS, Promise.all([this.#takes.close(withoutRedis), this.#worker.close(withoutRedis)]));
    await closeRedis(this.#redis);
  }

  async #takeUntilStopped(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#answerAbandoned().catch(this.#settings.onError);
    if (signal.aborted) return;
    await this.#worker.startStalledCheckTimer();
    while (!signal.aborted) {
      const free = this.#settings.concurrency - this.#running.size;
      if (free <= 0) await Promise.race(this.#running);
      else for (const job of await this.#takes.next(free)) this.#start(job);
    }
  }

  #start(taken: Job<CommandJob>): void {
    const { id, token } = taken;
    if (id === undefined || token === undefined) return;
    this.#held.set(id, token);
    // The connection that it was taken on waits for the next one.
    const job = new Job<CommandJob>(this.#worker, taken.name, taken.data, taken.opts, id);
    const isLost = taken.deferredFailure !== undefined || taken.stalledCounter > 0 || taken.attemptsStarted > 1;
    const run = (isLost ? this.#bury(job, id, token) : this.#answer(job, id, token))
      .catch(this.#settings.onError)
      .finally(() => {
        this.#held.delete(id);
        this.#running.delete(run);
      });
    this.#running.add(run);
  }

  async #bury(job: Job<CommandJob>, id: string, token: string): Promise<void> {
    await this.#reply(job.data, { ok: false, error: restarted() });
    this.#held.delete(id);
    await job.moveToFailed(new Error('its worker was lost'), token, false);
  }

  /** The reply goes out before the job is finished: a crash between the two ends in a second, ignored reply. */
  async #answer(job: Job<CommandJob>, id: string, token: string): Promise<void> {
    const { replied } = await this.#handled(this.#handle(job, id));
    await replied;
    // A lock that is renewed after its job was finished would be reported as lost.
    this.#held.delete(id);
    await job.moveToCompleted(null, token, false);
  }

  /**
   * Does the command, gives its answer to Redis, then does what may follow the answer.
   * @returns when Redis has taken the answer; closing does not wait for that
   */
  async #handle(job: Job<CommandJob>, id: string): Promise<{ replied: Promise<void> }> {
    const after: (() => Promise<unknown>)[] = [];
    const reply = await this.#outcome(job, id, (work) => after.push(work));
    const replied = this.#reply(job.data, reply);
    replied.catch(() => undefined); // its failure is met by whoever awaits it, after the work that follows
    await Promise.all(after.map((work) => work().catch(this.#settings.onError)));
    return { replied };
  }

  async #outcome(job: Job<CommandJob>, id: string, afterAnswer: ReceivedCommand['afterAnswer']): Promise<CommandReply> {
    const { channelId, input, startBy, requestId, sendAs } = job.data;
    const named = sendAs === undefined ? {} : { sendAs };
    if (Date.now() > startBy) return { ok: false, error: tooLate() };
    const command = { order: Number(id), channelId, name: job.name, input, startBy, requestId, ...named, afterAnswer };
    try {
      return await this.#settings.handle(command);
    } catch (error) {
      this.#settings.onError(error);
      return { ok: false, error: toErrorReply(new GatewayError(502)) };
    }
  }

  /** Closing waits for it. */
  #handled<T>(work: Promise<T>): Promise<T> {
    const handling = work.finally(() => this.#handling.delete(handling));
    this.#handling.add(handling);
    return handling;
  }

  async #reply({ clientId, callId }: Pick<CommandJob, 'clientId' | 'callId'>, reply: CommandReply): Promise<void> {
    const message: ReplyMessage = { callId, reply };
    await this.#redis.publish(redisKeys.replies(clientId), JSON.stringify(message));
  }

  async #renewLocks(): Promise<void> {
    if (this.#held.size === 0) return;
    const lost = await this.#worker
      .extendJobLocks([...this.#held.keys()], [...this.#held.values()], this.#lockMs)
      .catch((error: unknown) => this.#settings.onError(error));
    if (lost?.length) this.#settings.onError(new Error(`lost the lock of commands ${lost.join(', ')}`));
  }

  /** Before the first take nothing that is under way is ours: it was left by an owner whose lease has ended. */
  async #answerAbandoned(): Promise<void> {
    const ids = await this.#redis.lrange(this.#worker.toKey('active'), 0, -1);
    for (const id of ids) {
      const data = await this.#redis.hget(this.#worker.toKey(id), 'data');
      if (data !== null) await this.#reply(JSON.parse(data) as CommandJob, { ok: false, error: restarted() });
    }
  }
}

async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
