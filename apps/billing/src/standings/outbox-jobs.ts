/** Writes standings to the regions: at once when it is kicked, and in short intervals in any case; each region on its own. */
import type { Logger } from '@dormouse/bootstrap';
import { JOB_QUEUES, RepeatedJob, type Job, type Queue } from '@dormouse/queues';
import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { JobKick } from '../jobs/job-kick.js';
import { OneAtATime } from '../jobs/one-at-a-time.js';
import { OutageLog } from '../jobs/outage-log.js';
import { Regions } from '../regions/regions.js';
import { LOG, REGION_POLL_MS } from '../services.js';
import { StandingOutbox } from './standing-outbox.js';

/** More than there are regions: one that is away occupies one. */
const CONCURRENCY = 8;

@Processor(JOB_QUEUES.regionStandings, { concurrency: CONCURRENCY })
export class OutboxJobs extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #schedules: readonly RepeatedJob[];
  readonly #kick: JobKick;
  readonly #turns = new OneAtATime();
  readonly #outages: OutageLog;

  constructor(
    @InjectQueue(JOB_QUEUES.regionStandings) queue: Queue,
    @Inject(Regions) private readonly regions: Regions,
    @Inject(StandingOutbox) private readonly outbox: StandingOutbox,
    @Inject(REGION_POLL_MS) everyMs: number,
    @Inject(LOG) private readonly log: Logger,
  ) {
    super();
    const onError = (error: unknown): void => this.onError(error);
    queue.on('error', onError);
    this.#outages = new OutageLog(log, 'writing standings to a region');
    this.#kick = new JobKick(queue, onError);
    this.#schedules = regions.names.map((name) => new RepeatedJob(queue, { name, everyMs, onError }));
  }

  /** The region has standings to get. */
  kick(region: string): void {
    this.#kick.kick(region);
  }

  onApplicationBootstrap(): void {
    for (const schedule of this.#schedules) schedule.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.#schedules.map((schedule) => schedule.stop()));
  }

  /** A job has the name of its region. */
  async process({ name: region }: Job): Promise<void> {
    await this.#turns.run(region, () => this.#deliver(region));
  }

  async #deliver(region: string): Promise<void> {
    const link = this.regions.link(region);
    if (!link) return;
    try {
      const written = await this.outbox.deliver(link);
      this.#outages.worked(region);
      if (written > 0) this.log.info({ region, written }, 'standings written');
    } catch (error) {
      this.#outages.failed(region, error);
    }
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    this.log.warn({ err: error }, 'the queue of standings to the regions does not answer');
  }
}
