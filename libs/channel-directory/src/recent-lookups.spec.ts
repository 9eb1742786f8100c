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
    nowMs += 999;
    expect(await lookups.find('key', read('two'))).toBe('one');
    nowMs += 1;
    expect(await lookups.find('key', read('two'))).toBe('two');
    expect(reads).toBe(2);
  });

  it('with a time of 0 reads each time, also within one millisecond', async () => {
    const lookups = new RecentLookups<string>({ cacheMs: 0, maxEntries: 100, now: () => nowMs });
    const running = lookups.find('key', () => Promise.resolve('before the change'));
    expect(await lookups.find('key', read('after it'))).toBe('after it');
    expect(await running).toBe('before the change');
    expect(await lookups.find('key', read('after the next'))).toBe('after the next');
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

  it('drops the least recently used entry first, however long ago it was read', async () => {
    const lookups = make(2);
    await lookups.find('a', read('a'));
    await lookups.find('b', read('b'));
    await lookups.find('a', read('a'));
    await lookups.find('c', read('c'));
    await lookups.find('a', read('a'));
    expect(reads).toBe(3);
    await lookups.find('b', read('b'));
    expect(reads).toBe(4);
  });

  it('gives no answer from after the present of a clock that was set back', async () => {
    const lookups = make();
    await lookups.find('key', read('one'));
    nowMs -= 3_600_000;
    expect(await lookups.find('key', read('two'))).toBe('two');
  });

  describe('with notified changes', () => {
    let notifiedUntilMs: number | undefined;
    const notified = (maxEntries = 100) =>
      new RecentLookups<string>({
        cacheMs: 1_000,
        maxEntries,
        now: () => nowMs,
        ownerOf: (value) => value.slice(0, 1),
        notifiedUntilMs: () => notifiedUntilMs,
      });
    /** A read that a spec resolves. */
    const held = () => {
      let answer: (value: string | undefined) => void = () => undefined;
      const value = new Promise<string | undefined>((resolve) => (answer = resolve));
      return { read: () => value, answer: (found: string | undefined) => answer(found) };
    };

    beforeEach(() => (notifiedUntilMs = undefined));

    it('counts the age from the moment until which all changes were notified', async () => {
      const lookups = notified();
      await lookups.find('key', read('one'));
      nowMs += 300_000;
      notifiedUntilMs = nowMs - 999;
      expect(await lookups.find('key', read('two'))).toBe('one');
      nowMs += 1;
      expect(await lookups.find('key', read('two'))).toBe('two');
    });

    it('counts it from the read again without a proof, and when the clock was set back', async () => {
      const lookups = notified();
      notifiedUntilMs = nowMs;
      await lookups.find('key', read('one'));
      nowMs += 1_001;
      notifiedUntilMs = nowMs + 1;
      expect(await lookups.find('key', read('two'))).toBe('two');
      nowMs += 1_001;
      notifiedUntilMs = undefined;
      expect(await lookups.find('key', read('three'))).toBe('three');
    });

    it('forgets an owner by every key, and no other', async () => {
      const lookups = notified();
      notifiedUntilMs = nowMs;
      for (const key of ['old token', 'new token']) await lookups.find(key, read('a'));
      await lookups.find('other', read('b'));
      lookups.forgetOwner('a');
      for (const key of ['old token', 'new token']) expect(await lookups.find(key, read('a2'))).toBe('a2');
      expect(await lookups.find('other', read('b2'))).toBe('b');
    });

    it('forgets an owner by a key that was forgotten and found again, but not by one that is another owner’s now', async () => {
      const lookups = notified(2);
      notifiedUntilMs = nowMs;
      await lookups.find('key', read('a'));
      lookups.forget('key');
      await lookups.find('key', read('b'));
      lookups.forgetOwner('a');
      expect(await lookups.find('key', read('a2'))).toBe('b');
      lookups.forgetOwner('b');
      expect(await lookups.find('key', read('a2'))).toBe('a2');
    });

    it('does not remember what a read found whose owner was forgotten while it ran', async () => {
      const lookups = notified();
      notifiedUntilMs = nowMs;
      const [mine, other] = [held(), held()];
      const found = [lookups.find('mine', mine.read), lookups.find('other', other.read)];
      lookups.forgetOwner('a');
      mine.answer('a');
      other.answer('b');
      expect(await Promise.all(found)).toEqual(['a', 'b']);
      expect(await lookups.find('mine', read('a2'))).toBe('a2');
      expect(await lookups.find('other', read('b2'))).toBe('b');
    });

    it('does not share a read that began longer ago, whatever was notified since', async () => {
      const lookups = notified();
      const slow = held();
      const first = lookups.find('key', slow.read);
      nowMs += 1_001;
      notifiedUntilMs = nowMs;
      expect(await lookups.find('key', read('new'))).toBe('new');
      slow.answer('old');
      expect(await first).toBe('old');
      expect(await lookups.find('key', read('newer'))).toBe('new');
    });

    it('forgets everything, what reads that run now will find included', async () => {
      const lookups = notified();
      notifiedUntilMs = nowMs;
      const running = held();
      const found = lookups.find('running', running.read);
      await lookups.find('key', read('a'));
      lookups.forgetAll();
      running.answer('a');
      await found;
      for (const key of ['key', 'running']) expect(await lookups.find(key, read('a2'))).toBe('a2');
    });

    it('caches neither misses nor failures, whatever was notified', async () => {
      const lookups = notified();
      notifiedUntilMs = nowMs;
      expect(await lookups.find('key', read(undefined))).toBeUndefined();
      await expect(lookups.find('key', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
      expect(await lookups.find('key', read('a'))).toBe('a');
    });
  });
});
