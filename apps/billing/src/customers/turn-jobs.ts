import type { LogOf } from '@dormouse/bootstrap';
import { BACKGROUND_JOB_OPTIONS, JOB_QUEUES, type Job, type Queue } from '@dormouse/queues';
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { GlobalDatabase } from '@dormouse/database';
import type { CustomerTurns } from './customer-turns.js';
import { dueTurns } from './turns.js';

/** Name of the job that looks for turns that are due; every other job is the turn of one account. */
export const FIND_DUE_TURNS = 'find-due-turns';
/** How often it runs: what no kick reached waits so long. */
export const FIND_DUE_TURNS_EVERY_MS = 1_000;

const TURN = 'turn';
const TURNS_AT_ONCE = 8;
const FOUND_AT_ONCE = 200;

interface TurnJob {
  accountId?: string;
}

/** Makes turns run soon. A kick that is lost costs a second: what is due is a row. */
export class TurnJobs {
  constructor(
    private readonly queue: Pick<Queue, 'add'>,
    private readonly log: LogOf<'warn'>,
  ) {}

  /** Runs the turn of an account soon, unless it is running. Does not wait. */
  kick(accountId: string): void {
    this.queue
      .add(TURN, { accountId } satisfies TurnJob, { ...BACKGROUND_JOB_OPTIONS, jobId: `turn-${accountId}` })
      .catch((error: unknown) =>
        this.log.warn({ err: error, accountId }, 'a turn waits for the next look at the rows'),
      );
  }
}

/** Runs turns, several accounts side by side. */
@Processor(JOB_QUEUES.billingTurns, { concurrency: TURNS_AT_ONCE })
export class TurnProcessor extends WorkerHost {
  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly turns: CustomerTurns,
    private readonly jobs: TurnJobs,
  ) {
    super();
  }

  async process({ name, data }: Job<TurnJob>): Promise<void> {
    if (name === FIND_DUE_TURNS) {
      for (const accountId of await dueTurns(this.database.pool, FOUND_AT_ONCE)) this.jobs.kick(accountId);
    } else if (data.accountId !== undefined) {
      await this.turns.run(data.accountId);
    }
  }
}
