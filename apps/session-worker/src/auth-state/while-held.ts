/**
 * Reads and writes of an owner: retried while PostgreSQL is away, as long as the shard certainly is its own. What the fence
 * refused, and other failures, are not retried. Retries are safe because every such write is idempotent: it sets rows to
 * given values.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isStoreAway } from '@dormouse/database';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/** @param held whether the shard certainly belongs to this worker at this moment */
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
