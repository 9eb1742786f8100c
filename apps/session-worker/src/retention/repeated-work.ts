import { setTimeout as delay } from 'node:timers/promises';
import type { LogOf } from '@dormouse/bootstrap';
import { errorOutline } from '../error-outline.js';

export interface RepeatedWorkOptions {
  /** How often it is looked whether there is something to do; jittered. */
  readonly everyMs: number;
  readonly log: LogOf<'warn'>;
  /** What the log has when the work fails: it is tried again. */
  readonly failed: string;
}

/** Work that is repeated in the background, and ends in the middle when it is stopped. */
export class RepeatedWork {
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;

  constructor(private readonly options: RepeatedWorkOptions) {}

  get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  start(work: () => Promise<unknown>): void {
    this.loop ??= this.repeat(work);
  }

  /** Resolves when the step that is under way is over. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  /** Aborts when the work is to end. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  /** @throws when the work is to end: what is left of it is for the next time */
  async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopping.signal });
  }

  private async repeat(work: () => Promise<unknown>): Promise<void> {
    const { everyMs, log, failed } = this.options;
    while (!this.isStopping) {
      try {
        await this.pause(everyMs * (0.75 + Math.random() / 2));
        await work();
      } catch (error) {
        if (!this.isStopping) log.warn({ failure: errorOutline(error) }, failed);
      }
    }
  }
}
