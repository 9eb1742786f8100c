/**
 * Deletes every hour what is kept no longer: old entries of the audit log, sign-ups that were never confirmed, ended sessions. In one
 * control plane at a time; see {@link RepeatedJob} for what Redis may lose. Without Redis or the database the rows stay until a later
 * run; none of them counts any more.
 */
import type { Logger } from '@dormouse/bootstrap';
import { JOB_QUEUES, RepeatedJob, type Job, type Queue } from '@dormouse/queues';
import type { Redis } from '@dormouse/redis';
import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { AuditRetention } from '../audit/audit-retention.js';
import { JOBS_REDIS, LOG } from '../services.js';
import { StaleUsers } from '../users/stale-users.js';

const EVERY_MS = 3_600_000;
const NAMES = ['delete-old-audit', 'delete-stale-users'] as const;

@Processor(JOB_QUEUES.retention)
export class RetentionJobs extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #schedules: readonly RepeatedJob[];

  constructor(
    @InjectQueue(JOB_QUEUES.retention) queue: Queue,
    @Inject(AuditRetention) private readonly audit: AuditRetention,
    @Inject(StaleUsers) private readonly users: StaleUsers,
    @Inject(JOBS_REDIS) private readonly redis: Pick<Redis, 'status'>,
    @Inject(LOG) private readonly log: Logger,
  ) {
    super();
    const onError = (error: unknown): void => this.onError(error);
    queue.on('error', onError);
    this.#schedules = NAMES.map((name) => new RepeatedJob(queue, { name, everyMs: EVERY_MS, onError }));
  }

  onApplicationBootstrap(): void {
    for (const schedule of this.#schedules) schedule.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    // While Redis is away a worker would wait for it. Otherwise it ends with the job that runs.
    const isAway = this.redis.status !== 'ready';
    await Promise.all([this.worker.close(isAway), ...this.#schedules.map((schedule) => schedule.stop())]);
  }

  async process({ name }: Job): Promise<void> {
    if (name === 'delete-old-audit') await this.audit.run();
    if (name === 'delete-stale-users') await this.users.run();
  }

  /** What failed is done again at the next turn. */
  @OnWorkerEvent('failed')
  onFailed(job: Job | undefined, error: Error): void {
    this.log.warn({ job: job?.name, err: error }, 'deleting what is kept no longer failed; it runs again');
  }

  /** That Redis is away is logged by its connection, once. */
  @OnWorkerEvent('error')
  onError(error: unknown): void {
    if (this.redis.status !== 'ready') return;
    this.log.warn({ err: error }, 'the queue of what is kept no longer failed');
  }
}
