/**
 * Keeps the library's caches from holding what they have nothing to do with.
 *
 * They end every entry by a timer of its own, and a timer keeps the asynchronous context it was made in. Entries are made
 * in the middle of key transactions, whose context holds every session and key that was read: some twenty kilobytes for
 * each message for five minutes, and for each contact for three days. Made outside of every context, a timer holds its
 * entry alone.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs something in the context in which this file was loaded: none. */
const outside = AsyncLocalStorage.snapshot();

/** What of a cache makes timers: `get` does for caches that count age from the last use. */
const MAKE_TIMERS = ['set', 'get'] as const;

const untied = new WeakSet<object>();

/**
 * Unties all caches of the class that this one is of.
 * @param cache one of the library's own (`lru-cache`)
 * @throws {Error} when it is something else: the library has changed
 */
export function detachCacheTimers(cache: unknown): void {
  if (typeof cache !== 'object' || cache === null) throw new Error('the library has no such cache');
  const prototype: unknown = Reflect.getPrototypeOf(cache);
  if (typeof prototype !== 'object' || prototype === null || untied.has(prototype)) return;
  for (const name of MAKE_TIMERS) {
    const method: unknown = Reflect.get(prototype, name);
    if (typeof method !== 'function') throw new Error(`a cache of the library has no ${name}`);
    Reflect.set(prototype, name, function (this: unknown, ...given: unknown[]): unknown {
      return outside(() => Reflect.apply(method, this, given) as unknown);
    });
  }
  untied.add(prototype);
}
