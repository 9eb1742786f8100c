/**
 * Reads and writes of an owner: retried while PostgreSQL is away, as long as the shard certainly is its own. What the fence
 * refused, and other failures, are not retried. Retries are safe because every such write is idempotent: it sets rows to
 * given values.
 */
import { retryWhileAway } from '@dormouse/database';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/** @param held whether the shard certainly belongs to this worker at this moment */
export function whileHeld<T>(held: () => boolean, work: () => Promise<T>): Promise<T> {
  return retryWhileAway(work, {
    firstPauseMs: FIRST_PAUSE_MS,
    longestPauseMs: LONGEST_PAUSE_MS,
    mayRetry: held,
    mayResume: held,
  });
}
