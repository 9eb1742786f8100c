/**
 * The next attempt to connect: at most one is planned or under way, and one that was cancelled in the meantime can
 * tell.
 */
export class AttemptTimer {
  private planned: { timer: NodeJS.Timeout; dueAtMs: number; begin: () => void } | undefined;
  private underWay = false;

  constructor(private readonly now: () => number) {}

  /** Planned, or under way and not `done`. */
  get busy(): boolean {
    return this.planned !== undefined;
  }

  /** When the planned attempt begins, in epoch milliseconds. */
  get dueAtMs(): number | undefined {
    return this.planned?.dueAtMs;
  }

  /** Replaces what was planned. `attempt` gets a check of whether it is still current. */
  plan(delayMs: number, attempt: (isWanted: () => boolean) => void): void {
    this.cancel();
    const begin = (): void => {
      this.underWay = true;
      attempt(() => this.planned === planned);
    };
    const planned = { begin, dueAtMs: this.now() + delayMs, timer: setTimeout(begin, delayMs) };
    this.planned = planned;
  }

  /** What is planned for later begins at once. */
  hurry(): void {
    if (!this.planned || this.underWay) return;
    clearTimeout(this.planned.timer);
    Object.assign(this.planned, { dueAtMs: this.now(), timer: setTimeout(this.planned.begin, 0) });
  }

  cancel(): void {
    clearTimeout(this.planned?.timer);
    this.planned = undefined;
    this.underWay = false;
  }
}
