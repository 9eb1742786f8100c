import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { detachCacheTimers } from './lru-cache-timers.js';

type Cache = new (options: object) => { set(key: string, value: number): void; get(key: string): number | undefined };

/** The class of the library's caches in a copy of its own: that of the library is patched for all specs of a process. */
function copiedClass(): Cache {
  const library = createRequire(createRequire(import.meta.url).resolve('@whiskeysockets/baileys'));
  Reflect.deleteProperty(library.cache, library.resolve('lru-cache'));
  return (library('lru-cache') as { LRUCache: Cache }).LRUCache;
}

/** A cache with the context in which an entry ends. */
function newCache(Class: Cache, context: AsyncLocalStorage<string>) {
  let ended: (context: string | undefined) => void = () => undefined;
  const endsIn = new Promise<string | undefined>((resolve) => (ended = resolve));
  // Longer than a busy machine may pause between two statements.
  const options = { ttl: 250, ttlAutopurge: true, updateAgeOnGet: true, dispose: () => ended(context.getStore()) };
  return { cache: new Class(options), endsIn };
}

describe("the library's caches", () => {
  const context = new AsyncLocalStorage<string>();
  const Copy = copiedClass();

  it('would hold the context in which an entry was made', async () => {
    const { cache, endsIn } = newCache(Copy, context);
    context.run('a key transaction', () => cache.set('a', 1));
    expect(await endsIn).toBe('a key transaction');
  });

  it('hold nothing but their entries once their timers are detached', async () => {
    detachCacheTimers(newCache(Copy, context).cache);
    detachCacheTimers(newCache(Copy, context).cache); // once and for all
    const { cache, endsIn } = newCache(Copy, context);
    context.run('a key transaction', () => cache.set('a', 1));
    expect(context.run('another', () => cache.get('a'))).toBe(1);
    expect(await endsIn).toBeUndefined();
  });

  it('are checked: anything else is refused', () => {
    expect(() => detachCacheTimers(null)).toThrow('no such cache');
    expect(() => detachCacheTimers([])).toThrow('has no set');
  });
});
