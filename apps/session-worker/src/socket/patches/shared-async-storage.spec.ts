import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { SHARING_IS_FASTER, SharedAsyncStorage, withSharedAsyncStorage } from './shared-async-storage.js';

const turn = (): Promise<void> => delay(0);

describe('SharedAsyncStorage', () => {
  it('keeps the value of each storage through everything that is awaited, apart from that of the others', async () => {
    const storages = [1, 2, 3].map(() => new SharedAsyncStorage<number>());
    const seen = await Promise.all(
      storages.map((storage, index) =>
        storage.run(index, async () => {
          await turn();
          const others = storages.filter((other) => other !== storage).map((other) => other.getStore());
          return [storage.getStore(), ...others];
        }),
      ),
    );
    expect(seen).toEqual([0, 1, 2].map((index) => [index, undefined, undefined]));
    expect(storages.map((storage) => storage.getStore())).toEqual([undefined, undefined, undefined]);
  });

  it('lets one run within another, and gives the outer value back', async () => {
    const outer = new SharedAsyncStorage<string>();
    const inner = new SharedAsyncStorage<string>();
    await outer.run('a', async () => {
      await inner.run('b', async () => {
        await turn();
        expect([outer.getStore(), inner.getStore()]).toEqual(['a', 'b']);
        outer.run('c', () => expect([outer.getStore(), inner.getStore()]).toEqual(['c', 'b']));
        outer.exit(() => expect([outer.getStore(), inner.getStore()]).toEqual([undefined, 'b']));
      });
      expect([outer.getStore(), inner.getStore()]).toEqual(['a', undefined]);
    });
  });

  it('hands the value to work that nobody waits for', async () => {
    const storage = new SharedAsyncStorage<number>();
    let detached: Promise<number | undefined> | undefined;
    storage.run(7, () => {
      detached = turn().then(() => storage.getStore());
    });
    expect(await detached).toBe(7);
  });
});

describe('withSharedAsyncStorage', () => {
  it('changes what is made within it where that pays, and nothing after it', () => {
    const made = withSharedAsyncStorage(() => new asyncHooks.AsyncLocalStorage());
    expect(made instanceof SharedAsyncStorage).toBe(SHARING_IS_FASTER);
    expect(new asyncHooks.AsyncLocalStorage()).not.toBeInstanceOf(SharedAsyncStorage);
    expect(() =>
      withSharedAsyncStorage(() => {
        throw new Error('no socket');
      }),
    ).toThrow('no socket');
    expect(asyncHooks.AsyncLocalStorage).toBe(AsyncLocalStorage);
  });
});
