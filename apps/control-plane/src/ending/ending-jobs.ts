/** Goes on with the ends of accounts, in one control plane at a time; see {@link RepeatedJob} for what Redis may lose. */
import type { Logger } from '@dormouse/bootstrap';
import { JOB_QUEUES, RepeatedJob, type Job, type Queue } from '@dormouse/queues';
import type { Redis } from '@dormouse/redis';
import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { EndedAccounts } from './ended-accounts.js';
import { JOBS_REDIS, LOG } from '../services.js';

const NAME = 'end-accounts';
const EVERY_MS = 15_000;

@Processor(JOB_QUEUES.accountEnds)
export class EndingJobs extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #schedule: RepeatedJob;

  constructor(
    @InjectQueue(JOB_QUEUES.accountEnds) queue: Queue,
    @Inject(EndedAccounts) private readonly ended: EndedAccounts,
    @Inject(JOBS_REDIS) private readonly redis: Pick<Redis, 'status'>,
    @Inject(LOG) private readonly log: Logger,
  ) {
    super();
    const onError = (error: unknown): void => this.onError(error);
    queue.on('error', onError);
    this.#schedule = new RepeatedJob(queue, { name: NAME, everyMs: EVERY_MS, onError });
  }

  onApplicationBootstrap(): void {
    this.#schedule.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    // While Redis is away a worker would wait for it. Otherwise it ends with the jobs that run.
    const isAway = this.redis.status !== 'ready';
    await Promise.all([this.worker.close(isAway), this.#schedule.stop()]);
  }

  async process(): Promise<void> {
    await this.ended.run();
  }

  /** What failed is done again at the next turn. */
  @OnWorkerEvent('failed')
  onFailed(_job: Job | undefined, error: Error): void {
    this.log.warn({ err: error }, 'going on with ends of accounts failed; it runs again');
  }

  /** That Redis is away is logged by its connection, once. */
  @OnWorkerEvent('error')
  onError(error: unknown): void {
    if (this.redis.status !== 'ready') return;
    this.log.warn({ err: error }, 'the queue of ends of accounts failed');
  }
}
