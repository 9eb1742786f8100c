import { storable } from './storable-text.js';

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
