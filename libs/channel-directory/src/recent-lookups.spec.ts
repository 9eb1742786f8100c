import { RecentLookups } from './recent-lookups.js';

describe('RecentLookups', () => {
  let nowMs = 0;
  let reads = 0;
  const make = (maxEntries = 100) => new RecentLookups<string>({ cacheMs: 1_000, maxEntries, now: () => nowMs });
  const read = (value: string | undefined) => () => {
    reads += 1;
    return Promise.resolve(value);
  };

  beforeEach(() => {
    nowMs = 5_000;
    reads = 0;
  });

  it('reads once within the time and again after it', async () => {
    const lookups = make();
    await lookups.find('key', read('one'));
    nowMs += 1_000;
    expect(await lookups.find('key', read('two'))).toBe('one');
    nowMs += 1;
    expect(await lookups.find('key', read('two'))).toBe('two');
    expect(reads).toBe(2);
  });

  it('counts the age from the start of the read, however slow it was', async () => {
    const lookups = make();
    const slow = lookups.find('key', () => {
      nowMs += 900;
      return Promise.resolve('old');
    });
    expect(await slow).toBe('old');
    nowMs += 101;
    expect(await lookups.find('key', read('new'))).toBe('new');
  });

  it('shares one read among look-ups that overlap', async () => {
    const lookups = make();
    const found = await Promise.all([1, 2, 3].map(() => lookups.find('key', read('one'))));
    expect(found).toEqual(['one', 'one', 'one']);
    expect(reads).toBe(1);
  });

  it('remembers neither misses nor failures', async () => {
    const lookups = make();
    expect(await lookups.find('key', read(undefined))).toBeUndefined();
    await expect(lookups.find('key', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await lookups.find('key', read('there'))).toBe('there');
  });

  it('forgets on demand, and a read that was running then does not bring the old answer back', async () => {
    const lookups = make();
    let answer: (value: string) => void = () => undefined;
    const running = lookups.find('key', () => new Promise<string>((resolve) => (answer = resolve)));
    lookups.forget('key');
    answer('old');
    await running;
    expect(await lookups.find('key', read('new'))).toBe('new');
  });

  it('keeps at most the given number of entries, dropping the one read longest ago', async () => {
    const lookups = make(2);
    await lookups.find('a', read('a'));
    await lookups.find('b', read('b'));
    await lookups.find('c', read('c'));
    await lookups.find('b', read('b'));
    await lookups.find('c', read('c'));
    expect(reads).toBe(3);
    await lookups.find('a', read('a'));
    expect(reads).toBe(4);
  });
});
