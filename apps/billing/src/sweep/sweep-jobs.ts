import type { Logger } from '@dormouse/bootstrap';
import { JOB_QUEUES, RepeatedJob, type Job, type Queue } from '@dormouse/queues';
import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LOG, STRIPE_SETTINGS } from '../services.js';
import { StripeSide } from '../stripe/stripe-side.js';
import type { StripeSettings } from '../stripe/stripe-settings.js';
import { SweepMetrics } from './sweep-metrics.js';

const NAME = 'sweep';
/** A sweep over many accounts takes minutes; the job is this process's as long as it runs. */
const LOCK_MS = 600_000;

/** Compares all accounts with Stripe in intervals, in one of the processes. */
@Processor(JOB_QUEUES.billingSweep, { concurrency: 1, lockDuration: LOCK_MS })
export class SweepJobs extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #schedule: RepeatedJob;

  constructor(
    @InjectQueue(JOB_QUEUES.billingSweep) queue: Queue,
    @Inject(StripeSide) private readonly side: StripeSide,
    @Inject(STRIPE_SETTINGS) { sweepEveryMs }: StripeSettings,
    @Inject(SweepMetrics) private readonly metrics: SweepMetrics,
    @Inject(LOG) private readonly log: Logger,
  ) {
    super();
    const onError = (error: unknown): void => this.onError(error);
    this.#schedule = new RepeatedJob(queue, { name: NAME, everyMs: sweepEveryMs, onError });
  }

  onApplicationBootstrap(): void {
    this.#schedule.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#schedule.stop();
  }

  async process(): Promise<void> {
    this.metrics.ended(await this.side.sweep.run());
    await this.side.deleteOld();
  }

  @OnWorkerEvent('failed')
  onFailed(_job: Job | undefined, error: Error): void {
    this.log.warn({ err: error }, 'accounts could not be compared with Stripe; it is repeated');
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    this.log.warn({ err: error }, 'the queue of the sweep does not answer');
  }
}
