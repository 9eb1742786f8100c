import { processorMsBetween } from './processor-time.js';

const postgres = (ms: number) => ({ name: 'postgres', ms });

describe('processorMsBetween', () => {
  it('adds up what the processes of a name took, those that came included, those that went left out', () => {
    const first = new Map([
      [1, postgres(1_000)],
      [2, postgres(5_000)],
      [3, { name: 'edge-api', ms: 7 }],
    ]);
    const second = new Map([
      [1, postgres(1_030)],
      [3, { name: 'edge-api', ms: 9 }],
      [4, postgres(20)],
    ]);
    const third = new Map([[1, postgres(1_031)]]);
    const taken = processorMsBetween([
      [first, second],
      [second, third],
    ]);
    expect(taken).toEqual(
      new Map([
        ['postgres', 51],
        ['edge-api', 2],
      ]),
    );
  });
});
