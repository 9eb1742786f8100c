import { evenDuration, evenFailure, type Timer } from './even-duration.js';

describe('evenDuration', () => {
  let nowMs = 0;
  const timer: Timer = {
    nowMs: () => nowMs,
    pause: (ms) => {
      nowMs += ms;
      return Promise.resolve();
    },
  };
  const workOf = (ms: number): Promise<void> => {
    nowMs += ms;
    return Promise.resolve();
  };
  const failAfter = async (ms: number): Promise<never> => {
    await workOf(ms);
    throw new Error('failed');
  };
  const durationOf = async (run: () => Promise<unknown>): Promise<number> => {
    const startedMs = nowMs;
    await run().catch(() => undefined);
    return nowMs - startedMs;
  };

  it('ends at a quarter of a second, whatever was done and whether it failed', async () => {
    expect(await durationOf(() => evenDuration(() => workOf(0), timer))).toBe(250);
    expect(await durationOf(() => evenDuration(() => failAfter(28), timer))).toBe(250);
    expect(await durationOf(() => evenDuration(() => workOf(260), timer))).toBe(500);
  });

  it('may be for failures alone', async () => {
    expect(await durationOf(() => evenFailure(() => workOf(23), timer))).toBe(23);
    expect(await durationOf(() => evenFailure(() => failAfter(23), timer))).toBe(250);
    await expect(evenFailure(() => failAfter(0), timer)).rejects.toThrow('failed');
  });
});
