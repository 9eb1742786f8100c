/**
 * The next attempt to connect: at most one is planned or under way, and one that was cancelled in the meantime can
 * tell.
 */
export class AttemptTimer {
  private planned: { timer: NodeJS.Timeout; dueAtMs: number } | undefined;

  constructor(private readonly now: () => number) {}

  /** Planned, or under way and not `done`. */
  get busy(): boolean {
    return this.planned !== undefined;
  }

  /** When the planned attempt begins, in epoch milliseconds. */
  get dueAtMs(): number | undefined {
    return this.planned?.dueAtMs;
  }

  /** Replaces what was planned. `attempt` is told how to find out whether it is still wanted. */
  plan(delayMs: number, attempt: (isWanted: () => boolean) => void): void {
    this.cancel();
    const planned = {
      dueAtMs: this.now() + delayMs,
      timer: setTimeout(() => attempt(() => this.planned === planned), delayMs),
    };
    this.planned = planned;
  }

  cancel(): void {
    clearTimeout(this.planned?.timer);
    this.planned = undefined;
  }
}
