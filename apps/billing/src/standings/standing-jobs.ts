/** Computes the standings of accounts that are due: at once when it is kicked, and every second in any case. */
import type { Logger } from '@dormouse/bootstrap';
import { JOB_QUEUES, RepeatedJob, type Job, type Queue } from '@dormouse/queues';
import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { JobKick } from '../jobs/job-kick.js';
import { OneAtATime } from '../jobs/one-at-a-time.js';
import { LOG, REGION_POLL_MS } from '../services.js';
import { Recompute } from './recompute.js';
import { RegionStandings } from './region-standings.js';
import { RulesInForce } from './rules-in-force.js';

const NAME = 'accounts-due';

@Processor(JOB_QUEUES.standings)
export class StandingJobs extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #schedule: RepeatedJob;
  readonly #kick: JobKick;
  readonly #turns = new OneAtATime();

  constructor(
    @InjectQueue(JOB_QUEUES.standings) queue: Queue,
    @Inject(Recompute) private readonly recompute: Recompute,
    @Inject(RulesInForce) private readonly rules: RulesInForce,
    @Inject(RegionStandings) private readonly regions: RegionStandings,
    @Inject(REGION_POLL_MS) everyMs: number,
    @Inject(LOG) private readonly log: Logger,
  ) {
    super();
    const onError = (error: unknown): void => this.onError(error);
    queue.on('error', onError);
    this.#schedule = new RepeatedJob(queue, { name: NAME, everyMs, onError });
    this.#kick = new JobKick(queue, onError);
  }

  /** Facts of an account have changed. */
  kick(): void {
    this.#kick.kick(NAME);
  }

  onApplicationBootstrap(): void {
    this.#schedule.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#schedule.stop();
  }

  async process({ name }: Job): Promise<void> {
    await this.#turns.run(name, () => this.#computeDue());
  }

  /** One account that fails holds up no other. */
  async #computeDue(): Promise<void> {
    await this.rules.take();
    for (const accountId of await this.recompute.due()) {
      try {
        for (const region of await this.recompute.account(accountId)) this.regions.kick(region);
      } catch (error) {
        this.log.error(
          { accountId, err: error },
          'the standings of an account could not be computed; they stay as they are',
        );
      }
    }
  }

  @OnWorkerEvent('failed')
  onFailed(_job: Job | undefined, error: Error): void {
    this.log.warn({ err: error }, 'standings could not be computed; it is repeated');
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    this.log.warn({ err: error }, 'the queue of standings does not answer');
  }
}
