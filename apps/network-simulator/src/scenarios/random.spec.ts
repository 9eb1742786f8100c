import { jest } from '@jest/globals';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator } from '../simulator.js';
import { RandomRun } from './random-run.js';

jest.setTimeout(120_000);
quietLibsignal();

describe('random operation with faults', () => {
  it.each([42])('delivers everything acknowledged to every reader (seed %i)', async (seed) => {
    const simulator = await startSimulator();
    const run = new RandomRun(simulator, {
      seed,
      clients: 2,
      phones: 3,
      operations: 60,
      limitMs: 10_000,
      settleMs: 15_000,
    });
    const result = await run.run();
    await simulator.stop();
    expect(result).toMatchObject({ seed, missing: [], wrong: [], doubled: [], unreadable: [], unconfirmed: [] });
    expect(result.acknowledged).toBeGreaterThan(4);
  });
});
