import { jest } from '@jest/globals';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator } from '../simulator.js';
import { RandomRun } from './random-run.js';

jest.setTimeout(120_000);
quietLibsignal();

describe('random operation with faults', () => {
  it.each([20261127, 42])('delivers everything acknowledged to every reader (seed %i)', async (seed) => {
    const simulator = await startSimulator();
    const run = new RandomRun(simulator, { seed, clients: 3, phones: 3, operations: 60, limitMs: 15_000 });
    const result = await run.run();
    await simulator.stop();
    expect(result).toMatchObject({ seed, missing: [], doubled: [], unreadable: [] });
    expect(result.acknowledged).toBeGreaterThan(5);
  });
});
