/**
 * How an owner reads and writes: again and again while PostgreSQL is away, as long as the shard surely is its own. What
 * the fence refused, or what failed for a reason of its own, is not repeated. Repeating is safe because every such
 * write sets rows to what they should be.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isStoreAway } from '@dormouse/database';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/** @param held does the shard surely belong to this worker at this moment? */
export async function whileHeld<T>(held: () => boolean, work: () => Promise<T>): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isStoreAway(error) || !held()) throw error;
      await delay(pauseMs);
      if (!held()) throw error;
    }
  }
}
