/**
 * What servers do by themselves, as jobs of BullMQ (`@nestjs/bullmq` runs them): names, options, and schedules that come back.
 *
 * Guarantees: a job is only an occasion to look at rows in PostgreSQL, which stay the truth. So a job may run twice, or for nothing, and
 * one that is lost costs a delay: every process that has a {@link RepeatedJob} stores its schedule again in intervals, also in a Redis
 * that was flushed. With Redis away no job runs; nothing else fails.
 */
import type { Queue } from 'bullmq';
import pTimeout from 'p-timeout';

export type { Job, Queue } from 'bullmq';

/** Names of the queues of background jobs, each with its one owner. */
export const JOB_QUEUES = {
  /** control-plane: sends the mail that is due, and looks for what people get mail about. */
  mail: 'mail',
  /** control-plane: completes the ends of accounts. */
  accountEnds: 'account-ends',
  /** control-plane: deletes what is kept no longer. */
  retention: 'retention',
  /** billing: reads the facts of an account at Stripe, and brings its subscription in order. */
  billingTurns: 'billing-turns',
  /** billing: compares every account with Stripe. */
  billingSweep: 'billing-sweep',
  /** billing: fetches from a region which numbers count. */
  numbers: 'billing-numbers',
  /** billing: computes the standings of accounts whose facts have changed. */
  standings: 'billing-standings',
} as const;

/** Options of every background job. The next one on schedule is the retry of one that failed. */
export const BACKGROUND_JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/** How often each process stores its schedules again. */
const STORED_AGAIN_MS = 5_000;

export interface RepeatedJobTerms {
  /** Of the job, and of its schedule. */
  readonly name: string;
  readonly everyMs: number;
  /** A schedule could not be stored; it is tried again. */
  readonly onError: (error: unknown) => void;
  /** Default: 5 s. */
  readonly storedAgainMs?: number;
}

/** A job that runs in intervals, in one of the processes that have this. */
export class RepeatedJob {
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<unknown> | undefined;

  constructor(
    private readonly queue: Pick<Queue, 'upsertJobScheduler'>,
    private readonly terms: RepeatedJobTerms,
  ) {}

  /** Stores the schedule now, and again in intervals. Does not wait for Redis. */
  start(): void {
    this.#timer = setInterval(() => this.#store(), this.terms.storedAgainMs ?? STORED_AGAIN_MS);
    this.#timer.unref();
    this.#store();
  }

  /** The schedule stays: it belongs to other processes, too. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    // While Redis is away it is not stored, and nobody waits for it.
    if (this.#storing) await pTimeout(this.#storing, { milliseconds: 1_000, fallback: () => undefined });
  }

  /** One at a time: what waits for an absent Redis must not pile up. */
  #store(): void {
    const { name, everyMs: every, onError } = this.terms;
    this.#storing ??= this.queue
      .upsertJobScheduler(name, { every }, { name, opts: BACKGROUND_JOB_OPTIONS })
      .catch(onError)
      .finally(() => (this.#storing = undefined));
  }
}
