import { waysToName } from './typed-numbers.js';

describe('numbers as people type them', () => {
  it.each([
    ['5531988887777', '553188887777'],
    ['553188887777', '5531988887777'],
    ['525512345678', '5215512345678'],
    ['5215512345678', '525512345678'],
    ['541123456789', '5491123456789'],
    ['5491123456789', '541123456789'],
  ])('%s may be known as %s', (typed, other) => {
    expect(waysToName(typed)).toEqual([typed, other]);
  });

  it('leaves other numbers alone', () => {
    expect(waysToName('6591234567')).toEqual(['6591234567']);
  });
});
