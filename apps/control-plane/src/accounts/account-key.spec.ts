import { hashAccountKey, mintAccountKey, presentedKey } from './account-key.js';

describe('account key', () => {
  it('is new each time and hashed with SHA-256', () => {
    expect(new Set(Array.from({ length: 100 }, () => mintAccountKey())).size).toBe(100);
    expect(mintAccountKey()).toMatch(/^dmk_[\w-]{43}$/);
    expect(hashAccountKey('dmk_x')).toHaveLength(32);
  });

  it.each([
    ['Bearer dmk_a', 'dmk_a'],
    ['bearer   dmk_a', 'dmk_a'],
    ['Basic dmk_a', undefined],
    ['dmk_a', undefined],
    ['Bearer ', undefined],
    ['Bearer a b', undefined],
    [`Bearer ${'a'.repeat(300)}`, undefined],
    [undefined, undefined],
  ])('is read from %j', (authorization, key) => {
    expect(presentedKey(authorization)).toBe(key);
  });
});
