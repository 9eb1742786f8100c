import { BACKGROUND_JOB_OPTIONS, type Queue } from '@dormouse/queues';

/** Has a job run at once, beside its schedule. While Redis is away the schedule is what remains. */
export class JobKick {
  readonly #pending = new Set<string>();

  constructor(
    private readonly queue: Pick<Queue, 'add'>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Adds the job. Does not wait for Redis; one that waits for it already stands for all. */
  kick(name: string): void {
    if (this.#pending.has(name)) return;
    this.#pending.add(name);
    this.queue
      .add(name, {}, BACKGROUND_JOB_OPTIONS)
      .catch(this.onError)
      .finally(() => this.#pending.delete(name));
  }
}
