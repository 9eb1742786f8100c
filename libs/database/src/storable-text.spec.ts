import { storable, storableJson } from './storable-text.js';

describe('storable', () => {
  it('replaces NUL and lone surrogates, in nested values and keys', () => {
    expect(storable({ a: ['x\u0000y', '\uD83D'], '\u0000k': { b: '\uDC00z' } })).toEqual({
      a: ['x\uFFFDy', '\uFFFD'],
      '\uFFFDk': { b: '\uFFFDz' },
    });
  });

  it('leaves whole emoji, numbers, booleans and absent values alone', () => {
    const value = { text: 'ok 👍🏽 \n é', n: 1, yes: true, gone: undefined, none: null };
    expect(storable(value)).toEqual(value);
  });
});

describe('storableJson', () => {
  it('replaces what jsonb refuses, and nothing that only looks like it', () => {
    const value = { a: 'x\u0000y', b: ['\uD83D', '\uDE00 \uD83D'], '\uDC00': 1, c: '\\u0000 \\ud83d', d: '👍🏽' };
    expect(JSON.parse(storableJson(value))).toEqual({
      a: 'x\uFFFDy',
      b: ['\uFFFD', '\uFFFD \uFFFD'],
      '\uFFFD': 1,
      c: '\\u0000 \\ud83d',
      d: '👍🏽',
    });
  });

  it('writes dates as JSON does and numbers of 64 bits as text', () => {
    const at = new Date(0);
    expect(storableJson({ at, text: '\u0000' })).toBe('{"at":"1970-01-01T00:00:00.000Z","text":"\uFFFD"}');
    expect(storableJson({ size: 2n ** 64n })).toBe('{"size":"18446744073709551616"}');
  });
});
