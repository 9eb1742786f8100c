import { outsideTraces } from '@dormouse/traces';

/** The next attempt to connect: at most one is planned or runs, and a running one can check whether it was cancelled. */
export class AttemptTimer {
  private planned: { timer: NodeJS.Timeout; dueAtMs: number; begin: () => void } | undefined;
  private running = false;

  constructor(private readonly now: () => number) {}

  /** Whether an attempt is planned or runs. */
  get busy(): boolean {
    return this.planned !== undefined;
  }

  /** When the planned attempt begins, in epoch milliseconds. */
  get dueAtMs(): number | undefined {
    return this.planned?.dueAtMs;
  }

  /** Replaces what was planned. `attempt` gets a check of whether it is still current. */
  plan(delayMs: number, attempt: (isCurrent: () => boolean) => void): void {
    this.cancel();
    const begin = (): void => {
      this.running = true;
      // What it opens lives longer than the request that it is for.
      outsideTraces(() => attempt(() => this.planned === planned));
    };
    const planned = { begin, dueAtMs: this.now() + delayMs, timer: setTimeout(begin, delayMs) };
    this.planned = planned;
  }

  /** Begins an attempt that is planned for later at once. */
  hurry(): void {
    if (!this.planned || this.running) return;
    clearTimeout(this.planned.timer);
    Object.assign(this.planned, { dueAtMs: this.now(), timer: setTimeout(this.planned.begin, 0) });
  }

  cancel(): void {
    clearTimeout(this.planned?.timer);
    this.planned = undefined;
    this.running = false;
  }
}
