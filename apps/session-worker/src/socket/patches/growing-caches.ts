/**
 * Lets the caches of sent messages and of keys take the room of what is in them.
 *
 * lru-cache lays out eight arrays for as many entries as a cache is limited to; the two of a socket take 70 kB before anything
 * was sent. A cache limited by the sum of its entries' sizes has arrays that grow, and with a size of one for each entry the
 * limit is the same.
 */

/** Caches of a socket's `messageRetryManager` that are limited to a number of entries. */
const LIMITED = ['recentMessagesMap', 'baseKeys'] as const;

/** What the library sets for them. */
interface LimitedCache {
  readonly max: number;
  readonly ttl: number;
  readonly ttlAutopurge: boolean;
  readonly dispose: unknown;
}

/**
 * @param retries `messageRetryManager` of a socket that has just been made: its caches are empty
 * @throws {Error} when it has no such caches, or they are in use
 */
export function letCachesGrow(retries: object): void {
  for (const name of LIMITED) {
    const cache: unknown = Reflect.get(retries, name);
    if (!isLimitedCache(cache)) throw new Error(`the library's messageRetryManager has no limited cache ${name}`);
    const { max: maxSize, ttl, ttlAutopurge, dispose } = cache;
    const growing = { maxSize, sizeCalculation: () => 1, ttl, ttlAutopurge, ...(dispose !== undefined && { dispose }) };
    Reflect.set(retries, name, Reflect.construct(cache.constructor, [growing]));
  }
}

function isLimitedCache(cache: unknown): cache is LimitedCache {
  if (typeof cache !== 'object' || cache === null) return false;
  const max: unknown = Reflect.get(cache, 'max');
  return (
    typeof max === 'number' &&
    max > 0 &&
    Reflect.get(cache, 'size') === 0 &&
    typeof Reflect.get(cache, 'ttl') === 'number' &&
    typeof Reflect.get(cache, 'ttlAutopurge') === 'boolean'
  );
}
