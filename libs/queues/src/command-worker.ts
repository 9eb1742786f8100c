/**
 * The worker's end of a command: takes the commands of one shard and answers their callers.
 *
 * A shard has two lists: callers append to the one that waits, its worker moves the oldest to the one of those taken, in
 * one step (BLMOVE), and removes it from there together with the answer. Whatever is in a list is a command as its
 * caller wrote it, so a caller takes it back by removing it from the list that waits, which fails once it was taken.
 *
 * Guarantees:
 * - A command is handed to `handle` at most once, ever: nothing goes back from taken to waiting. Whoever waited for a
 *   command whose worker died gets 502 from the shard's next worker, at once; one that was lost on its way to a living
 *   worker (the connection dropped under it) is found in the list within twice `lookEveryMs`, and answered alike.
 * - A command is not handed over after its `startBy`; its caller gets 503.
 * - Commands are handed over in the order they were called: takes go out on one connection and end in order.
 * - Redis away: nothing is taken; what runs keeps running, and its answer is published when Redis is back.
 * Only the holder of the shard's lease may open one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError, toErrorReply } from '@dormouse/gateway-contract';
import { closeRedis, openRedis, redisKeys, type Redis } from '@dormouse/redis';
import type { CommandJob, CommandReply, ReplyMessage } from './command-job.js';
import { commandLists, type CommandLists } from './names.js';

/** Default of `lookEveryMs`. */
const LOOK_EVERY_MS = 5_000;
/** How long a take waits when there is nothing; closing waits for it. A stopped process takes no longer either. */
const TAKE_WAIT_S = 1;
/** Takes that go out together: one waits for a command, the others look whether more came with it. */
const MAX_TAKES = 16;
/** Between attempts to take a command while Redis refuses. */
const TAKE_RETRY_MS = 500;
/** Without Redis neither a take nor a finished command ends; closing waits no longer than this for each. */
const REDIS_WITHIN_MS = 2_000;

/** A command as its worker gets it. */
export interface ReceivedCommand {
  /** Grows with every command of the shard: the order in which they were called. */
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
  /** Work that the answer need not wait for. The command is not finished, and its worker not closed, before it is done. */
  afterAnswer(work: Promise<unknown>): void;
}

export interface CommandWorkerSettings {
  redisUrl: string;
  shard: number;
  /** Commands in hand at once, those that wait in a lane included. */
  concurrency: number;
  /** How often it is looked for commands that were lost on their way here. Default 5 s. */
  lookEveryMs?: number;
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
  readonly #lists: CommandLists;
  /** Answers, and everything that does not block. */
  readonly #redis: Redis;
  /** A connection that waits for commands does nothing else meanwhile. */
  readonly #takes: Redis;
  /** Commands in hand, as they stand in the list. */
  readonly #held = new Set<string>();
  /** From take to finished command. */
  readonly #running = new Set<Promise<void>>();
  /** The part of it that is the handler's. */
  readonly #handling = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  readonly #looking: NodeJS.Timeout;
  readonly #taking: Promise<void>;
  #order = 0;
  /** Seen in the list at the last look, and not in hand. */
  #strays = new Set<string>();
  #closed: Promise<void> | undefined;

  constructor(settings: CommandWorkerSettings) {
    this.#settings = settings;
    this.#lists = commandLists(settings.shard);
    this.#redis = openRedis({ url: settings.redisUrl, name: `commands.${settings.shard}:answers` });
    this.#takes = openRedis({ url: settings.redisUrl, name: `commands.${settings.shard}:takes` });
    this.#looking = setInterval(() => void this.#lookForStrays(), settings.lookEveryMs ?? LOOK_EVERY_MS);
    this.#taking = this.#takeUntilStopped();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#looking);
    await within(TAKE_WAIT_S * 1_000 + REDIS_WITHIN_MS, this.#taking);
    this.#takes.disconnect();
    await Promise.allSettled(this.#handling);
    await within(REDIS_WITHIN_MS, Promise.all(this.#running));
    await closeRedis(this.#redis);
  }

  async #takeUntilStopped(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#answerAbandoned().catch(this.#settings.onError);
    // One at a time while they come singly, more and more at once while every take brings a command.
    for (let takes = 1; !signal.aborted;) {
      const free = this.#settings.concurrency - this.#running.size;
      if (free <= 0) {
        await Promise.race(this.#running);
        continue;
      }
      const count = Math.min(takes, free);
      const jobs = await this.#take(count);
      for (const job of jobs) this.#start(job);
      takes = jobs.length === count ? Math.min(takes * 2, MAX_TAKES) : 1;
    }
  }

  /** Up to so many commands, the oldest first: none when none came for a while, or Redis cannot be asked. */
  async #take(count: number): Promise<string[]> {
    const { waiting, taken } = this.#lists;
    const takes = this.#takes.pipeline().blmove(waiting, taken, 'LEFT', 'RIGHT', TAKE_WAIT_S);
    for (let more = 1; more < count; more++) takes.lmove(waiting, taken, 'LEFT', 'RIGHT');
    try {
      const results = (await takes.exec()) ?? [];
      const jobs = results.map(([, job]) => job).filter((job) => typeof job === 'string');
      const failure = results.find(([error]) => error !== null)?.[0];
      if (failure && jobs.length === 0) throw failure;
      return jobs;
    } catch (error) {
      if (this.#stopping.signal.aborted) return [];
      this.#settings.onError(error);
      await delay(TAKE_RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      return [];
    }
  }

  #start(job: string): void {
    this.#held.add(job);
    const run = this.#answer(job)
      .catch(this.#settings.onError)
      .finally(() => {
        this.#held.delete(job);
        this.#running.delete(run);
      });
    this.#running.add(run);
  }

  async #answer(job: string): Promise<void> {
    const command = JSON.parse(job) as CommandJob;
    const after: Promise<unknown>[] = [];
    const reply = await this.#outcome(command, (work) => after.push(this.#handled(work).catch(this.#settings.onError)));
    if (after.length > 0) {
      await this.#reply(command, reply);
      await Promise.all(after);
      await this.#redis.lrem(this.#lists.taken, 1, job);
    } else {
      await this.#finish(job, command, reply);
    }
  }

  async #outcome(command: CommandJob, afterAnswer: (work: Promise<unknown>) => void): Promise<CommandReply> {
    const { channelId, name, input, startBy, requestId, sendAs } = command;
    const named = sendAs === undefined ? {} : { sendAs };
    if (Date.now() > startBy) return { ok: false, error: tooLate() };
    const received = { order: ++this.#order, channelId, name, input, startBy, requestId, ...named, afterAnswer };
    try {
      return await this.#handled((async () => this.#settings.handle(received))());
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

  async #reply(command: Pick<CommandJob, 'clientId' | 'callId'>, reply: CommandReply): Promise<void> {
    await this.#redis.publish(redisKeys.replies(command.clientId), answerOf(command, reply));
  }

  /** The reply goes out before the command leaves the list: a crash between the two ends in a second, ignored reply. */
  async #finish(job: string, command: Pick<CommandJob, 'clientId' | 'callId'>, reply: CommandReply): Promise<void> {
    await this.#redis
      .pipeline()
      .publish(redisKeys.replies(command.clientId), answerOf(command, reply))
      .lrem(this.#lists.taken, 1, job)
      .exec();
  }

  /** Before the first take nothing that is taken is ours: it was left by an owner whose lease has ended. */
  async #answerAbandoned(): Promise<void> {
    for (const job of await this.#redis.lrange(this.#lists.taken, 0, -1)) await this.#bury(job);
  }

  /** What stands in the list at two looks and is not in hand was lost on its way here. */
  async #lookForStrays(): Promise<void> {
    try {
      const listed = await this.#redis.lrange(this.#lists.taken, 0, -1);
      const strays = listed.filter((job) => !this.#held.has(job));
      for (const job of strays) if (this.#strays.has(job)) await this.#bury(job);
      this.#strays = new Set(strays);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#settings.onError(error);
    }
  }

  async #bury(job: string): Promise<void> {
    await this.#finish(job, JSON.parse(job) as CommandJob, { ok: false, error: restarted() });
  }
}

function answerOf({ callId }: Pick<CommandJob, 'callId'>, reply: CommandReply): string {
  return JSON.stringify({ callId, reply } satisfies ReplyMessage);
}

async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
