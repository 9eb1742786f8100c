import { setTimeout as delay } from 'node:timers/promises';
import { retryWhileAway } from '@dormouse/database';
import type { Claim } from '@dormouse/event-outbox/delivery';

const PAUSE_MS = 250;

/**
 * Retries a claim's work on the database while its lease lasts: an outage shorter than that costs no duplicate.
 * Writes of one claim are made one after the other, in the order of the calls.
 */
export class WhileLeased {
  readonly #now: () => number;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #last = new WeakMap<Claim, Promise<unknown>>();

  constructor(now: () => number = () => performance.now(), pause: (ms: number) => Promise<unknown> = delay) {
    this.#now = now;
    this.#pause = pause;
  }

  /** Reads may pass each other. @throws what the last attempt failed with */
  read<T>(claim: Claim, work: () => Promise<T>): Promise<T> {
    return retryWhileAway(work, {
      firstPauseMs: PAUSE_MS,
      longestPauseMs: PAUSE_MS,
      pause: this.#pause,
      mayRetry: (pauseMs) => this.#now() + pauseMs < claim.leaseEndsAtMs,
    });
  }

  async write<T>(claim: Claim, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(claim) ?? Promise.resolve();
    const written = before.then(() => this.read(claim, work));
    this.#last.set(
      claim,
      written.catch(() => undefined),
    );
    return written;
  }
}
