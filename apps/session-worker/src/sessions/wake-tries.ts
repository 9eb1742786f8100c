import { WAKE_AGAIN_MS, WAKE_TRIES } from './session-times.js';

/** The attempts to wake one session: how many came to nothing, and since when it is waited for. */
export class WakeTries {
  private failed = 0;
  private askedMs = 0;

  constructor(private readonly now: () => number) {}

  /** It is asked to wake. */
  asked(): void {
    this.askedMs = this.now();
  }

  /** It is open. @returns how long after it was asked to wake */
  succeeded(): number {
    this.failed = 0;
    return this.now() - this.askedMs;
  }

  /** @returns may it be tried again at once? */
  mayTryAgain(): boolean {
    this.failed += 1;
    return this.failed < WAKE_TRIES;
  }

  /** It sleeps on. @returns when it is to be woken by itself, in epoch milliseconds */
  givenUp(): number {
    this.failed = 0;
    return this.now() + WAKE_AGAIN_MS * (1 + Math.random());
  }
}
