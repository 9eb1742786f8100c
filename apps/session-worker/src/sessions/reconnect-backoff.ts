/**
 * When to connect again after a socket closed.
 *
 * What it guarantees: the delay grows with the number of closes in a sliding window, so a connection that opens for a
 * moment and drops again is not tried faster than one that never opens; after `maxInWindow` closes within the window
 * it answers to give up instead of looping.
 */

export interface BackoffLimits {
  /** Delay after the first close. */
  readonly baseMs: number;
  /** No delay is longer. */
  readonly maxDelayMs: number;
  /** Closes longer ago are forgotten. */
  readonly windowMs: number;
  /** More closes than this within the window are too many. */
  readonly maxInWindow: number;
}

/** With these a session gives up after most of an hour of trouble. */
export const DEFAULT_BACKOFF: BackoffLimits = {
  baseMs: 1_000,
  maxDelayMs: 300_000,
  windowMs: 3_600_000,
  maxInWindow: 18,
};

export class ReconnectBackoff {
  private closes: number[] = [];

  constructor(
    private readonly limits: BackoffLimits,
    private readonly now: () => number,
    /** Uniform in [0, 1). */
    private readonly random: () => number = Math.random,
  ) {}

  /**
   * Notes a close.
   * @param persist never gives up: what is tried does no harm
   * @returns milliseconds to wait before connecting again, between half and the whole of the step; undefined when
   *   there were too many closes
   */
  afterClose(persist = false): number | undefined {
    const nowMs = this.now();
    this.closes = this.closes.filter((atMs) => nowMs - atMs < this.limits.windowMs);
    this.closes.push(nowMs);
    if (!persist && this.closes.length > this.limits.maxInWindow) return undefined;
    const stepMs = Math.min(this.limits.maxDelayMs, this.limits.baseMs * 2 ** (this.closes.length - 1));
    return Math.round(stepMs * (0.5 + this.random() / 2));
  }

  /** Forgets the past: a person or a long rest gives the session a new start. */
  reset(): void {
    this.closes = [];
  }
}
