import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator } from '../simulator.js';
import { RandomHistory } from './random-history.js';
import { isClean, RandomRun } from './random-run.js';

jest.setTimeout(120_000);
quietLibsignal();

describe('random operation with faults', () => {
  it.each([42])('delivers everything acknowledged to every reader (seed %i)', async (seed) => {
    const history = new RandomHistory();
    const simulator = await startSimulator({ log: history.log });
    const plan = {
      seed,
      clients: 2,
      phones: 3,
      operations: 60,
      limitMs: 10_000,
      settleMs: 15_000,
    };
    const result = await new RandomRun(simulator, plan, history).run();
    await simulator.stop();
    const clean = { seed, missing: [], wrong: [], doubled: [], unreadable: [], unconfirmed: [] };
    // What is known of the messages is of interest only when something is not as it must be.
    expect(isClean(result) ? { ...result, traces: {} } : result).toMatchObject({ ...clean, traces: {} });
    expect(result.acknowledged).toBeGreaterThan(4);
  });
});
