/** Runs what the mail needs, in one control plane at a time for each turn; see {@link RepeatedJob} for what Redis may lose. */
import type { Logger } from '@dormouse/bootstrap';
import { JOB_QUEUES, RepeatedJob, type Job, type Queue } from '@dormouse/queues';
import type { Redis } from '@dormouse/redis';
import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { JOBS_REDIS, LOG } from '../services.js';
import { MailSender } from './mail-sender.js';
import { RegionMails } from './region-mails.js';

const HOUR_MS = 3_600_000;

/** Names of the jobs, and their intervals. */
const JOBS = {
  'send-mail': 1_000,
  'watch-regions': 10_000,
  'delete-old-mail': HOUR_MS,
} as const;

@Processor(JOB_QUEUES.mail, { concurrency: 2 })
export class MailJobs extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #schedules: readonly RepeatedJob[];

  constructor(
    @InjectQueue(JOB_QUEUES.mail) queue: Queue,
    @Inject(MailSender) private readonly sender: MailSender,
    @Inject(RegionMails) private readonly regionMails: RegionMails,
    @Inject(JOBS_REDIS) private readonly redis: Pick<Redis, 'status'>,
    @Inject(LOG) private readonly log: Logger,
  ) {
    super();
    queue.on('error', (error) => this.onError(error));
    this.#schedules = Object.entries(JOBS).map(
      ([name, everyMs]) => new RepeatedJob(queue, { name, everyMs, onError: (error) => this.onError(error) }),
    );
  }

  onApplicationBootstrap(): void {
    for (const schedule of this.#schedules) schedule.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.sender.stop();
    // While Redis is away a worker would wait for it. Otherwise it ends with the jobs that run.
    const isAway = this.redis.status !== 'ready';
    await Promise.all([this.worker.close(isAway), ...this.#schedules.map((schedule) => schedule.stop())]);
  }

  async process({ name }: Job): Promise<void> {
    if (name === 'send-mail') await this.sender.sendDue();
    if (name === 'watch-regions') await this.regionMails.look();
    if (name === 'delete-old-mail') await this.sender.deleteOld();
  }

  /** What failed is done again at the next turn. */
  @OnWorkerEvent('failed')
  onFailed(job: Job | undefined, error: Error): void {
    this.log.warn({ job: job?.name, err: error }, 'a job of the mail failed; it runs again');
  }

  /** That Redis is away is logged by its connection, once. */
  @OnWorkerEvent('error')
  onError(error: unknown): void {
    if (this.redis.status !== 'ready') return;
    this.log.warn({ err: error }, 'the queue of the mail failed');
  }
}
