import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { JOB_QUEUES, RepeatedJob, type Job, type Queue } from '@dormouse/queues';
import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { GLOBAL_DATABASE, LOG } from '../services.js';
import { StripeSide } from '../stripe/stripe-side.js';
import { TurnKick } from './turn-kick.js';
import { dueTurns } from './turns.js';

/** The job that looks for turns that are due; every other job is the turn of one account. */
const FIND_DUE = 'find-due-turns';
/** What no kick reached waits so long. */
const FIND_DUE_EVERY_MS = 1_000;
const TURNS_AT_ONCE = 8;
const FOUND_AT_ONCE = 200;

/** Runs turns, several accounts side by side, and looks every second for those that are due. */
@Processor(JOB_QUEUES.billingTurns, { concurrency: TURNS_AT_ONCE })
export class TurnJobs extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #schedule: RepeatedJob;

  constructor(
    @InjectQueue(JOB_QUEUES.billingTurns) queue: Queue,
    @Inject(GLOBAL_DATABASE) private readonly database: GlobalDatabase,
    @Inject(StripeSide) private readonly side: StripeSide,
    @Inject(TurnKick) private readonly kick: TurnKick,
    @Inject(LOG) private readonly log: Logger,
  ) {
    super();
    const onError = (error: unknown): void => this.onError(error);
    this.#schedule = new RepeatedJob(queue, { name: FIND_DUE, everyMs: FIND_DUE_EVERY_MS, onError });
  }

  onApplicationBootstrap(): void {
    this.#schedule.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#schedule.stop();
  }

  async process({ name, data }: Job<{ accountId?: string }>): Promise<void> {
    if (name === FIND_DUE) {
      for (const accountId of await dueTurns(this.database.pool, FOUND_AT_ONCE)) this.kick.kick(accountId);
    } else if (data.accountId !== undefined) {
      await this.side.turns.run(data.accountId);
    }
  }

  @OnWorkerEvent('failed')
  onFailed(_job: Job | undefined, error: Error): void {
    this.log.warn({ err: error }, 'a turn at Stripe failed; it is repeated');
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    this.log.warn({ err: error }, 'the queue of turns does not answer');
  }
}
