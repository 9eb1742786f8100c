import type { LogOf } from '@dormouse/bootstrap';
import { BACKGROUND_JOB_OPTIONS, type Queue } from '@dormouse/queues';

/** Makes turns run soon. A kick that is lost costs a second: what is due is a row. */
export class TurnKick {
  readonly #pending = new Set<string>();

  constructor(
    private readonly queue: Pick<Queue, 'add'>,
    private readonly log: LogOf<'warn'>,
  ) {}

  /** Runs the turn of an account soon, unless it is running. Does not wait for Redis. */
  kick(accountId: string): void {
    if (this.#pending.has(accountId)) return;
    this.#pending.add(accountId);
    this.queue
      .add('turn', { accountId }, { ...BACKGROUND_JOB_OPTIONS, jobId: `turn-${accountId}` })
      .catch((error: unknown) => this.log.warn({ err: error, accountId }, 'a turn waits for the next look at the rows'))
      .finally(() => this.#pending.delete(accountId));
  }
}
