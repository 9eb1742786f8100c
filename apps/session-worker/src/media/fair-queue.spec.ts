import { FairQueue } from './fair-queue.js';

/** Work that ends on command, in the order in which it began. */
function works(queue: FairQueue) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const all: Promise<unknown>[] = [];
  const add = (owner: string, name: string, signal?: AbortSignal) => {
    const work = () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const done = queue.run(owner, work, signal);
    all.push(done);
    return done;
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const endNext = async () => {
    ends.shift()?.();
    await settle();
  };
  return { begun, add, endNext, settle, all };
}

describe('FairQueue', () => {
  it('gives an owner no more than its share for work that cannot be restarted, even if slots are free', async () => {
    const { begun, add, endNext, settle } = works(new FairQueue({ slots: 2, slotsPerOwner: 1 }));
    void add('a', 'a1');
    void add('a', 'a2');
    await settle();
    expect(begun).toEqual(['a1']);
    await endNext();
    expect(begun).toEqual(['a1', 'a2']);
  });

  it('lends an unused slot, and takes it back for another owner; the aborted work runs first later', async () => {
    const queue = new FairQueue({ slots: 2, slotsPerOwner: 1 });
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const add = (owner: string, name: string) =>
      queue.run(
        owner,
        (signal) => {
          begun.push(name);
          return new Promise<void>((resolve, reject) => {
            ends.set(name, resolve);
            signal?.addEventListener('abort', () => reject(signal.reason as Error));
          });
        },
        undefined,
        { canRestart: true },
      );
    const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
    const all = ['a1', 'a2', 'a3'].map((name) => add('a', name));
    await settle();
    expect(begun).toEqual(['a1', 'a2']);
    all.push(add('b', 'b1'));
    await settle();
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    ends.get('b1')?.();
    await settle();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a2']);
    ends.get('a1')?.(); // what was lent is the owner's share now
    await settle();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a2', 'a3']);
    all.push(add('b', 'b2'));
    await settle();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a2', 'a3', 'b2']);
    for (const name of ['a2', 'b2']) ends.get(name)?.();
    await settle();
    ends.get('a3')?.();
    await Promise.all(all);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a2', 'a3', 'b2', 'a3']);
  });

  it('aborts no more lent work than needed, the latest first, also while it still ends', async () => {
    const queue = new FairQueue({ slots: 3, slotsPerOwner: 1 });
    const stopped: string[] = [];
    const ends = new Map<string, (error?: Error) => void>();
    const add = (owner: string, name: string) =>
      queue.run(
        owner,
        (signal) =>
          new Promise<void>((resolve, reject) => {
            ends.set(name, (error) => (error ? reject(error) : resolve()));
            signal?.addEventListener('abort', () => stopped.push(name));
          }),
        undefined,
        { canRestart: true },
      );
    const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
    const all = ['a1', 'a2', 'a3'].map((name) => add('a', name));
    await settle();
    all.push(add('b', 'b1'));
    all.push(add('a', 'a4'));
    await settle();
    expect([stopped, ends.has('b1')]).toEqual([['a3'], false]);
    ends.get('a3')?.(new Error('stopped'));
    await settle();
    expect(ends.has('b1')).toBe(true);
    for (let left = 0; left < 3; left += 1) {
      for (const end of ends.values()) end();
      await settle();
    }
    await Promise.all(all);
  });

  it('serves owners in turn: another owner waits for two pieces of work, however many are queued before', async () => {
    const { begun, add, endNext, settle } = works(new FairQueue({ slots: 1, slotsPerOwner: 1 }));
    for (let number = 1; number <= 4; number += 1) void add('a', `a${number}`);
    void add('b', 'b1');
    void add('c', 'c1');
    await settle();
    for (let ended = 0; ended < 5; ended += 1) await endNext();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4']);
  });

  it('drops work whose caller left, and continues after work that failed', async () => {
    const queue = new FairQueue({ slots: 1, slotsPerOwner: 1 });
    const { begun, add, endNext, settle } = works(queue);
    const gone = new AbortController();
    const failing = queue.run('a', () => Promise.reject(new Error('failed')));
    const second = add('a', 'second', gone.signal);
    void add('b', 'third');
    gone.abort(new Error('gave up'));
    await expect(failing).rejects.toThrow('failed');
    await expect(second).rejects.toThrow('gave up');
    await settle();
    await endNext();
    expect(begun).toEqual(['third']);
    await expect(queue.run('a', () => Promise.resolve(), gone.signal)).rejects.toThrow('gave up');
  });
});
