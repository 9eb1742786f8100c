import { AsyncLocalStorage } from 'node:async_hooks';
import { MessageRetryManager } from '@whiskeysockets/baileys';
import { libraryLog } from '../library-log.js';
import { detachCacheTimers } from './lru-cache-timers.js';

type Cache = new (options: object) => { set(key: string, value: number): void; get(key: string): number | undefined };

const silent = { debug: () => undefined };

/** A cache of the class that the library uses, with the context in which an entry ends. */
function cacheOfTheLibrary(context: AsyncLocalStorage<string>) {
  const ownCache: unknown = Reflect.get(new MessageRetryManager(libraryLog(silent), 5), 'recentMessagesMap');
  let ended: (context: string | undefined) => void = () => undefined;
  const endsIn = new Promise<string | undefined>((resolve) => (ended = resolve));
  // Longer than a busy machine may pause between two statements.
  const options = { ttl: 250, ttlAutopurge: true, updateAgeOnGet: true, dispose: () => ended(context.getStore()) };
  const made: unknown = Reflect.construct((ownCache as { constructor: Cache }).constructor, [options]);
  return { cache: made as InstanceType<Cache>, endsIn };
}

describe("the library's caches", () => {
  const context = new AsyncLocalStorage<string>();

  it('would hold the context in which an entry was made', async () => {
    const { cache, endsIn } = cacheOfTheLibrary(context);
    context.run('a key transaction', () => cache.set('a', 1));
    expect(await endsIn).toBe('a key transaction');
  });

  it('hold nothing but their entries once their timers are detached', async () => {
    detachCacheTimers(cacheOfTheLibrary(context).cache);
    detachCacheTimers(cacheOfTheLibrary(context).cache); // once and for all
    const { cache, endsIn } = cacheOfTheLibrary(context);
    context.run('a key transaction', () => cache.set('a', 1));
    expect(context.run('another', () => cache.get('a'))).toBe(1);
    expect(await endsIn).toBeUndefined();
  });

  it('are checked: anything else is refused', () => {
    expect(() => detachCacheTimers(null)).toThrow('no such cache');
    expect(() => detachCacheTimers([])).toThrow('has no set');
  });
});
