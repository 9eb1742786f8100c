import { readRange } from './byte-ranges.js';

describe('readRange', () => {
  it.each([
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=90-', { start: 90 }],
    ['bytes=90-500', { start: 90, end: 99 }],
    ['bytes=-10', { last: 10 }],
    ['bytes=-500', { last: 100 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
  ])('reads %s of 100 bytes', (header, range) => expect(readRange(header, 100)).toEqual(range));

  it.each([undefined, '', 'bytes=-', 'bytes=9-3', 'bytes=0-1,4-5', 'lines=1-2', 'bytes=a-b'])(
    'gives the whole file for %j',
    (header) => expect(readRange(header, 100)).toBeUndefined(),
  );
});
