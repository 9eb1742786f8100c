import { processorMsBetween } from './processor-time.js';

const postgres = (ms: number) => ({ name: 'postgres', ms });

describe('processorMsBetween', () => {
  it('adds up the processor time of processes by name, new ones included, ended ones left out', () => {
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
    const used = processorMsBetween([
      [first, second],
      [second, third],
    ]);
    expect(used).toEqual(
      new Map([
        ['postgres', 51],
        ['edge-api', 2],
      ]),
    );
  });
});
