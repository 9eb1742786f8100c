import { KeyCache } from './key-cache.js';

const one = Buffer.from('one');
const two = Buffer.from('two');
const write = (value: Buffer | null, id = 'a', type = 'session') => [{ type, id, value }];

describe('KeyCache', () => {
  it('caches what was read and what was written, absent keys too', () => {
    const cache = new KeyCache();
    const read = cache.beginRead();
    read('session', 'a', one);
    read('session', 'b', null);
    expect([cache.find('session', 'a'), cache.find('session', 'b'), cache.find('session', 'c')]).toEqual([
      one,
      null,
      undefined,
    ]);
    cache.beginWrite(write(two))(true);
    expect(cache.find('session', 'a')).toEqual(two);
    cache.beginWrite(write(null))(true);
    expect(cache.find('session', 'a')).toBeNull();
  });

  it('holds the bytes of a value alone, not the pool that they are a part of', () => {
    const cache = new KeyCache();
    cache.beginWrite(write(Buffer.alloc(64 * 1024).subarray(0, 100)))(true);
    expect(cache.find('session', 'a')?.buffer.byteLength).toBe(100);
  });

  it('has no value of a key while it is being written, nor after a write that failed', () => {
    const cache = new KeyCache();
    cache.beginWrite(write(one))(true);
    const ended = cache.beginWrite(write(two));
    expect(cache.find('session', 'a')).toBeUndefined();
    ended(false);
    expect(cache.find('session', 'a')).toBeUndefined();
  });

  it('does not cache what was read while something was written', () => {
    const cache = new KeyCache();
    const before = cache.beginRead();
    const stored = cache.beginWrite(write(two));
    before('session', 'a', one);
    expect(cache.find('session', 'a')).toBeUndefined();
    const during = cache.beginRead();
    during('session', 'a', one);
    expect(cache.find('session', 'a')).toBeUndefined();
    stored(true);
    during('session', 'b', null);
    expect([cache.find('session', 'a'), cache.find('session', 'b')]).toEqual([two, undefined]);
  });

  it('does not put what a read saw before a commit in the place of what was written, however late the read ends', () => {
    const cache = new KeyCache();
    const stored = cache.beginWrite(write(two));
    const during = cache.beginRead();
    stored(true);
    during('session', 'a', one);
    expect(cache.find('session', 'a')).toEqual(two);
    const failed = cache.beginWrite(write(one));
    const read = cache.beginRead();
    failed(false);
    read('session', 'a', two);
    expect(cache.find('session', 'a')).toBeUndefined();
  });

  it('caches neither of two writes that ran in parallel', () => {
    const cache = new KeyCache();
    const first = cache.beginWrite(write(one));
    const second = cache.beginWrite(write(two));
    second(true);
    first(true);
    expect(cache.find('session', 'a')).toBeUndefined();
    cache.beginWrite(write(two))(true);
    expect(cache.find('session', 'a')).toEqual(two);
  });

  it('stays small: the entries used last, no pre-keys, nothing large', () => {
    const cache = new KeyCache();
    cache.beginWrite(write(one, 'first'))(true);
    for (let n = 0; n < 63; n++) cache.beginWrite(write(one, `${n}`))(true);
    expect(cache.find('session', 'first')).toEqual(one);
    cache.beginWrite(write(one, 'last'))(true);
    expect([cache.find('session', 'first'), cache.find('session', '0')]).toEqual([one, undefined]);
    cache.beginWrite(write(one, '1', 'pre-key'))(true);
    cache.beginWrite(write(Buffer.alloc(10_000), 'large'))(true);
    expect([cache.find('pre-key', '1'), cache.find('session', 'large')]).toEqual([undefined, undefined]);
  });

  describe('that was filled with all that is stored', () => {
    const stored = [
      { type: 'session', id: 'a', plain: one },
      { type: 'pre-key', id: '1', plain: two },
    ];
    const filled = (given = stored): KeyCache => {
      const cache = new KeyCache();
      cache.fill(given);
      return cache;
    };
    const finds = (cache: KeyCache) => [cache.find('session', 'a'), cache.find('session', 'b')];

    it('knows which keys there are not, but of types that it does not cache', () => {
      expect([...finds(filled()), filled().find('pre-key', '1'), filled().find('inbound-journal', '1')]).toEqual([
        one,
        null,
        undefined,
        undefined,
      ]);
    });

    it('follows writes, and knows nothing of what is absent while they run', () => {
      const cache = filled();
      const ended = cache.beginWrite(write(two, 'b'));
      expect(finds(cache)).toEqual([one, undefined]);
      ended(true);
      expect([...finds(cache), cache.find('session', 'c')]).toEqual([one, two, null]);
    });

    it.each([
      ['a write that failed', (cache: KeyCache) => cache.beginWrite(write(two, 'b'))(false)],
      [
        'two writes at once',
        (cache: KeyCache) => {
          const ends = [cache.beginWrite(write(two, 'b')), cache.beginWrite(write(one, 'b'))];
          for (const end of ends) end(true);
        },
      ],
      ['a value too large for it', (cache: KeyCache) => cache.beginWrite(write(Buffer.alloc(9_000), 'b'))(true)],
      [
        'more keys than it holds',
        (cache: KeyCache) => {
          cache.beginWrite(write(two, 'b'))(true);
          for (let n = 0; n < 64; n += 1) cache.beginWrite(write(one, `other ${n}`))(true);
        },
      ],
    ])('no longer knows what is absent after %s', (_, happens) => {
      const cache = filled();
      happens(cache);
      expect([cache.find('session', 'b'), cache.find('session', 'never there')]).toEqual([undefined, undefined]);
    });

    it('is not filled with more than half of what it holds, nor with a value too large for it', () => {
      const many = Array.from({ length: 33 }, (_, n) => ({ type: 'session', id: `${n}`, plain: one }));
      const large = [{ type: 'session', id: 'a', plain: Buffer.alloc(9_000) }];
      expect([filled(many), filled(large)].map((cache) => cache.find('session', 'b'))).toEqual([undefined, undefined]);
    });
  });
});
