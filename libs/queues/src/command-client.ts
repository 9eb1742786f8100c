/**
 * The caller's end of a command.
 *
 * Guarantees: a call ends with the handler's reply, or with 503 only if the command was not and never will be
 * started, or with 502 when that is not certain. A call is added to its queue at most once.
 * - Redis away before the call: 503 at once, nothing was added. Away while adding: 502. Away while waiting: the reply
 *   may be lost; then 502 as soon as Redis is back and the command is finished.
 * - No worker for the shard: at the start deadline the job is withdrawn from the queue: 503.
 * - The caller gives up: the job is withdrawn in the same way. One that a worker has taken goes on to its reply.
 */
import { randomUUID } from 'node:crypto';
import {
  COMMANDS,
  fromErrorReply,
  GatewayError,
  type CommandInput,
  type CommandName,
  type CommandResult,
} from '@dormouse/gateway-contract';
import { closeRedis, openRedis, redisKeys, subscribeTo, type RedisLog, type Subscription } from '@dormouse/redis';
import { inSpan } from '@dormouse/traces';
import { Queue } from 'bullmq';
import type { CommandJob } from './command-job.js';
import { commandSpan } from './command-span.js';
import { isReadable, MESSAGE_FORM, parseReply } from './message-form.js';
import { COMMAND_JOB_OPTIONS, commandQueueName, QUEUE_EVENTS_KEPT } from './names.js';
import { withdraw } from './withdraw.js';

/**
 * How long a reply takes from Redis to this process at most. A worker rejects a late command by its own clock; this long
 * after `startBy` its reply has arrived, and a job that is still queued has no worker.
 */
const REPLY_TRANSIT_MS = 250;
/** Interval between polls for a job whose reply may have been missed. */
const JOB_POLL_INTERVAL_MS = 1_000;
const RETRY_AFTER_S = 3;

export interface CommandClientSettings {
  redisUrl: string;
  /** Unique among live clients; default: random. */
  clientId?: string;
  /** Upper bound of the start timeout of every call; absent: only the timeouts of the catalogue apply. */
  startWithinMs?: number | undefined;
  log?: RedisLog;
}

/** The channel that a command is sent to. */
export interface CommandTarget {
  id: string;
  shard: number;
}

export interface CallOptions {
  requestId: string;
  /** The network's message id is derived from it: a send that is repeated with the same value arrives once. */
  sendAs?: string | undefined;
  /** Override the timeouts of the catalogue, in milliseconds. */
  startWithinMs?: number;
  answerWithinMs?: number;
  /** Aborted when nobody waits for the answer any more: a command that no worker has taken is not carried out then. */
  gaveUp?: AbortSignal | undefined;
}

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: GatewayError): void;
  timers: NodeJS.Timeout[];
  /** Set once the job is in the queue. */
  job?: { queue: Queue<CommandJob>; id: string };
}

const notStarted = () =>
  new GatewayError(503, {
    details: 'reconnecting, waking or redeploying: the request was not started in time',
    retryAfterS: RETRY_AFTER_S,
  });
const queueAway = (cause?: unknown) =>
  new GatewayError(503, { details: 'the command queue is not reachable', retryAfterS: RETRY_AFTER_S }, { cause });
const outcomeUnknown = (cause?: unknown) =>
  new GatewayError(502, { details: 'no answer in time: the outcome is not known' }, { cause });

/** Sends commands and receives the replies on a pub/sub channel of its own. */
export class CommandClient {
  readonly clientId: string;
  readonly #redis;
  readonly #replies: Subscription;
  readonly #queues = new Map<number, Queue<CommandJob>>();
  readonly #pending = new Map<string, PendingCall>();
  readonly #startWithinMs: number;
  #closing = false;

  constructor({ redisUrl, clientId = randomUUID(), startWithinMs = Infinity, log }: CommandClientSettings) {
    this.clientId = clientId;
    this.#startWithinMs = startWithinMs;
    this.#redis = openRedis({ url: redisUrl, name: 'commands', whenAway: 'fail', log });
    const endMissed = (): void => this.#endMissedReplies();
    this.#replies = subscribeTo(this.#redis, redisKeys.replies(clientId), (text) => this.#receive(text), endMissed);
    this.#redis.on('ready', endMissed);
  }

  /** Resolves once calls are possible. Calls before that end with 503. */
  async start(): Promise<void> {
    await this.#replies.started;
    if (this.#redis.status !== 'ready')
      await new Promise<void>((resolve) => this.#redis.once('ready', () => resolve()));
  }

  /** Whether a call is possible at this moment. */
  isReady(): boolean {
    return !this.#closing && this.#redis.status === 'ready' && this.#replies.isLive();
  }

  /** Number of calls that wait for their reply. */
  get pendingCalls(): number {
    return this.#pending.size;
  }

  /**
   * Sends a command to a channel and waits for the reply. A worker receives the commands of one client to one channel in
   * the order of these calls.
   * @throws {GatewayError} the error of the handler, or 502, 503 as guaranteed at the top of this file
   */
  async call<Name extends CommandName>(
    channel: CommandTarget,
    name: Name,
    input: CommandInput<Name>,
    options: CallOptions,
  ): Promise<CommandResult<Name>> {
    if (!this.isReady()) throw queueAway();
    const { gaveUp } = options;
    if (gaveUp?.aborted) throw notStarted();
    const command = COMMANDS[name];
    const startWithinMs = options.startWithinMs ?? Math.min(command.startWithinMs, this.#startWithinMs);
    const lastsMs = (command.lasts as (input: CommandInput<Name>) => number)(input);
    const answerWithinMs = Math.max(options.answerWithinMs ?? command.answerWithinMs + lastsMs, startWithinMs);
    const callId = randomUUID();
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(callId, { resolve, reject, timers: [] });
    });
    // The call may end (close, a deadline) while its job is still being added: no unhandled rejection then.
    answer.catch(() => undefined);
    const startBy = Date.now() + startWithinMs;
    this.#setDeadlines(callId, startWithinMs, answerWithinMs);
    const giveUp = (): void => void this.#endUnstarted(callId);
    gaveUp?.addEventListener('abort', giveUp, { once: true });
    try {
      const { clientId } = this;
      const { requestId, sendAs } = options;
      const { revision } = command;
      const named = sendAs === undefined ? {} : { sendAs };
      const ids = { callId, clientId, channelId: channel.id, requestId };
      const job = { form: MESSAGE_FORM, revision, ...ids, input, startBy, ...named };
      // A job that is added only after the deadline is rejected by its worker: `startBy` is past.
      await Promise.race([this.#add(callId, channel, name, job), answer]);
      if (gaveUp?.aborted) giveUp();
      return (await answer) as CommandResult<Name>;
    } finally {
      gaveUp?.removeEventListener('abort', giveUp);
      this.#forget(callId);
    }
  }

  /** Ends the calls that still wait (withdrawn: 503, else 502) and disconnects. Drain the callers first. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#pending.keys()].map((callId) => this.#endNow(callId)));
    await this.#replies.close();
    await Promise.all([...this.#queues.values()].map((queue) => queue.close().catch(() => undefined)));
    await closeRedis(this.#redis);
  }

  async #add(callId: string, channel: CommandTarget, name: CommandName, job: CommandJob): Promise<void> {
    const { name: spanName, facts } = commandSpan('send', channel.shard, name, channel.id);
    const queue = this.#queue(channel.shard);
    try {
      const { id } = await inSpan(spanName, { kind: 'producer', facts }, ({ traceparent }) =>
        queue.add(name, traceparent === undefined ? job : { ...job, traceparent }, COMMAND_JOB_OPTIONS),
      );
      const call = this.#pending.get(callId);
      if (call && id !== undefined) call.job = { queue, id };
    } catch (error) {
      // A queue whose connection dropped while it was opened stays unusable; the next call opens a new one.
      this.#drop(channel.shard, queue);
      throw wasSent(error) ? outcomeUnknown(error) : queueAway(error);
    }
  }

  #queue(shard: number): Queue<CommandJob> {
    const known = this.#queues.get(shard);
    if (known) return known;
    const queue = new Queue<CommandJob>(commandQueueName(shard), {
      connection: this.#redis,
      streams: { events: { maxLen: QUEUE_EVENTS_KEPT } },
    });
    queue.on('error', () => undefined);
    this.#queues.set(shard, queue);
    return queue;
  }

  /** Closed, since each open queue listens on the connection that all share. */
  #drop(shard: number, queue: Queue<CommandJob>): void {
    if (this.#queues.get(shard) === queue) this.#queues.delete(shard);
    queue.close().catch(() => undefined);
  }

  #setDeadlines(callId: string, startWithinMs: number, answerWithinMs: number): void {
    const call = this.#pending.get(callId);
    if (!call) return;
    const startMs = Math.min(startWithinMs + REPLY_TRANSIT_MS, answerWithinMs);
    call.timers.push(setTimeout(() => void this.#endUnstarted(callId), startMs));
    call.timers.push(setTimeout(() => void this.#endNow(callId), answerWithinMs));
  }

  /** At the start deadline, or when the caller gives up: withdraws the job if no worker took it; otherwise the call goes on waiting. */
  async #endUnstarted(callId: string): Promise<void> {
    if (await this.#withdrawn(callId)) this.#pending.get(callId)?.reject(notStarted());
  }

  async #endNow(callId: string): Promise<void> {
    const withdrawn = await this.#withdrawn(callId);
    this.#pending.get(callId)?.reject(withdrawn ? notStarted() : outcomeUnknown());
  }

  /**
   * Runs after an outage of either connection, once both are back. A reply is published before its job is removed. So if
   * the job is gone, its reply was missed or arrives in a moment. If the job is still there, the reply may have been missed
   * already: the job is polled until its call ends.
   */
  #endMissedReplies(): void {
    if (!this.isReady()) return;
    for (const [callId, { job }] of this.#pending) if (job) void this.#endIfGone(callId, job);
  }

  async #endIfGone(callId: string, job: NonNullable<PendingCall['job']>): Promise<void> {
    const jobs = await this.#redis.exists(job.queue.toKey(job.id)).catch(() => 1);
    const call = this.#pending.get(callId);
    const next = jobs === 0 ? () => call?.reject(outcomeUnknown()) : () => void this.#endIfGone(callId, job);
    call?.timers.push(setTimeout(next, jobs === 0 ? REPLY_TRANSIT_MS : JOB_POLL_INTERVAL_MS));
  }

  async #withdrawn(callId: string): Promise<boolean> {
    const job = this.#pending.get(callId)?.job;
    if (!job) return false;
    return withdraw(this.#redis, (type) => job.queue.toKey(type), job.id).catch(() => false);
  }

  #receive(message: string): void {
    const received = parseReply(message);
    const call = received && this.#pending.get(received.callId);
    // The call has ended: at its deadline, or by the reply of the shard's next owner.
    if (!call) return;
    const { form, reply } = received;
    // The command may have run: workers reply in the form of the job, so this is a fault, not an upgrade.
    if (!isReadable(form)) call.reject(outcomeUnknown());
    else if (reply.ok) call.resolve(reply.result);
    else call.reject(fromErrorReply(reply.error));
  }

  #forget(callId: string): void {
    this.#pending.get(callId)?.timers.forEach(clearTimeout);
    this.#pending.delete(callId);
  }
}

/** Whether a command may have reached Redis. ioredis has this message when it was rejected before it was written. */
function wasSent(error: unknown): boolean {
  return !(error instanceof Error && error.message.includes("Stream isn't writeable"));
}
