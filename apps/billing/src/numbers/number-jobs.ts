/** Fetches from every region, in short intervals, which numbers count: each region on its own, in one process at a time. */
import type { Logger } from '@dormouse/bootstrap';
import { JOB_QUEUES, RepeatedJob, type Job, type Queue } from '@dormouse/queues';
import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { OneAtATime } from '../jobs/one-at-a-time.js';
import { OutageLog } from '../jobs/outage-log.js';
import { Regions } from '../regions/regions.js';
import { LOG, REGION_POLL_MS } from '../services.js';
import { StandingJobs } from '../standings/standing-jobs.js';
import { NumberPull } from './number-pull.js';

/** More than there are regions: one that is away occupies one. */
const CONCURRENCY = 8;

@Processor(JOB_QUEUES.numbers, { concurrency: CONCURRENCY })
export class NumberJobs extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #schedules: readonly RepeatedJob[];
  readonly #turns = new OneAtATime();
  readonly #outages: OutageLog;

  constructor(
    @InjectQueue(JOB_QUEUES.numbers) queue: Queue,
    @Inject(Regions) private readonly regions: Regions,
    @Inject(NumberPull) private readonly pull: NumberPull,
    @Inject(StandingJobs) private readonly standings: StandingJobs,
    @Inject(REGION_POLL_MS) everyMs: number,
    @Inject(LOG) private readonly log: Logger,
  ) {
    super();
    queue.on('error', (error) => this.onError(error));
    this.#outages = new OutageLog(log, 'fetching the numbers of a region');
    this.#schedules = regions.names.map(
      (name) => new RepeatedJob(queue, { name, everyMs, onError: (error) => this.onError(error) }),
    );
  }

  onApplicationBootstrap(): void {
    for (const schedule of this.#schedules) schedule.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.#schedules.map((schedule) => schedule.stop()));
  }

  /** A job has the name of its region. */
  async process({ name: region }: Job): Promise<void> {
    await this.#turns.run(region, () => this.#fetch(region));
  }

  async #fetch(region: string): Promise<void> {
    const link = this.regions.link(region);
    if (!link) return;
    try {
      const changed = await this.pull.pull(link);
      this.#outages.worked(region);
      if (changed.length > 0) this.standings.kick();
    } catch (error) {
      this.#outages.failed(region, error);
    }
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    this.log.warn({ err: error }, 'the queue of numbers does not answer');
  }
}
