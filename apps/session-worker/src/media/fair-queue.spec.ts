import { FairQueue } from './fair-queue.js';

/** Work that ends when it is told to, in the order in which it began. */
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
  it('gives no owner more than its share, though slots are free', async () => {
    const { begun, add, endNext, settle } = works(new FairQueue({ slots: 2, slotsPerOwner: 1 }));
    void add('a', 'a1');
    void add('a', 'a2');
    await settle();
    expect(begun).toEqual(['a1']);
    await endNext();
    expect(begun).toEqual(['a1', 'a2']);
  });

  it('goes round: another owner waits for two pieces of work, however many are before it', async () => {
    const { begun, add, endNext, settle } = works(new FairQueue({ slots: 1, slotsPerOwner: 1 }));
    for (let number = 1; number <= 4; number += 1) void add('a', `a${number}`);
    void add('b', 'b1');
    void add('c', 'c1');
    await settle();
    for (let ended = 0; ended < 5; ended += 1) await endNext();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4']);
  });

  it('forgets who gave up waiting, and goes on after work that failed', async () => {
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
