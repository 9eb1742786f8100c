import { WAKE_AGAIN_MS, WAKE_TRIES } from './session-times.js';

/** The attempts to wake one session: how many have failed, and when the wake was requested. */
export class WakeTries {
  private failed = 0;
  private requestedMs = 0;

  constructor(private readonly now: () => number) {}

  /** A wake was requested. */
  requested(): void {
    this.requestedMs = this.now();
  }

  /** It is open. @returns milliseconds since the wake was requested */
  succeeded(): number {
    this.failed = 0;
    return this.now() - this.requestedMs;
  }

  /** @returns whether to retry at once */
  mayTryAgain(): boolean {
    this.failed += 1;
    return this.failed < WAKE_TRIES;
  }

  /** It sleeps on. @returns time of the next scheduled wake, in epoch milliseconds */
  givenUp(): number {
    this.failed = 0;
    return this.now() + WAKE_AGAIN_MS * (1 + Math.random());
  }
}
