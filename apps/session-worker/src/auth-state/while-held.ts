/**
 * How an owner reads and writes: again and again while PostgreSQL is away, as long as the shard surely is its own. What
 * the fence refused, or what failed for a reason of its own, is not repeated. Repeating is safe because every such
 * write sets rows to what they should be.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FencedError } from '@dormouse/database';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/** SQLSTATE classes that say "not now": connection, resources, shutdown, and transactions that met another. */
const PASSING_CLASSES = new Set(['08', '40', '53', '57']);
/** A transaction that had fallen silent (this process was held up) was ended by the server. */
const SILENT_TRANSACTION = '25P03';
const PASSING_TEXTS = [
  'Connection terminated',
  'timeout exceeded',
  'Query read timeout',
  'Connection ended',
  'not queryable',
];

/** Could the same statement succeed a moment later? */
export function isPassing(error: unknown): boolean {
  if (error instanceof FencedError || !(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') {
    const sqlState = /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E');
    if (sqlState) return code === SILENT_TRANSACTION || PASSING_CLASSES.has(code.slice(0, 2));
    return /^E[A-Z]+$/.test(code);
  }
  return PASSING_TEXTS.some((text) => error.message.includes(text));
}

/** @param held does the shard surely belong to this worker at this moment? */
export async function whileHeld<T>(held: () => boolean, work: () => Promise<T>): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || !held()) throw error;
      await delay(pauseMs);
      if (!held()) throw error;
    }
  }
}
