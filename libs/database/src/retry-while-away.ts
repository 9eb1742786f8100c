/**
 * The one loop that repeats reads and writes while a database is away.
 *
 * What it guarantees: only what {@link isStoreAway} lists is repeated, so the work must be harmless when it is done twice. What
 * fails by its own fault, or after the caller's limit, rejects with the error of the last attempt. The first attempt starts at once.
 *
 * p-retry was looked at: its limits are counts and durations that are known beforehand, ours are leases that are renewed meanwhile;
 * it takes no clock; and its releases since 8 need Node 22.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isStoreAway } from './store-errors.js';

export interface RetryTerms {
  /** The pause after the first failure. Each further one is twice as long. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Whether the work may still be repeated after a pause of `pauseMs`. Called once per failure that can be retried. */
  mayRetry(pauseMs: number, error: unknown): boolean;
  /** Whether it may still be repeated now that the pause is over. Absent: yes. */
  mayResume?(): boolean;
  /** Absent: a timer. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

/**
 * Repeats `work` until it succeeds, fails by its own fault, or may not be repeated.
 * @throws the error of the last attempt
 */
export async function retryWhileAway<T>(work: () => Promise<T>, terms: RetryTerms): Promise<T> {
  const { firstPauseMs, longestPauseMs, pause = delay } = terms;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isStoreAway(error) || !terms.mayRetry(pauseMs, error)) throw error;
      await pause(pauseMs);
      if (terms.mayResume?.() === false) throw error;
    }
  }
}
