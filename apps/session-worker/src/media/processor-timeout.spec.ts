import { startTimeout } from './processor-timeout.js';

const TIMES = { timeoutMs: 1_000, maxTimeoutMs: 4_000 };

describe('startTimeout', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** Milliseconds after which the work is ended, in steps of 100; it gets `share` of the time of a processor. */
  const endOf = (times: Parameters<typeof startTimeout>[0], share: number | undefined): number => {
    const startMs = performance.now();
    const elapsedMs = () => performance.now() - startMs;
    let endMs = 0;
    // The process may have worked before.
    startTimeout(
      times,
      () => (endMs = elapsedMs()),
      () => (share === undefined ? undefined : 700 + share * elapsedMs()),
    );
    for (let step = 0; step < 100; step += 1) jest.advanceTimersByTime(100);
    return endMs;
  };

  it('ends work that has a processor for itself after its timeout', () => {
    expect(endOf(TIMES, 1)).toBe(1_000);
  });

  it('does not count the time in which other processes had the processor', () => {
    expect(endOf(TIMES, 0.5)).toBeGreaterThan(1_900);
    expect(endOf(TIMES, 0.5)).toBeLessThan(2_001);
  });

  it('ends work that gets no processor time, or waits for something else, at the maximum', () => {
    expect(endOf(TIMES, 0)).toBe(4_000);
  });

  it('ends work after its timeout where it has no other maximum, or the processor time is not known', () => {
    expect(endOf({ timeoutMs: 1_000 }, 0)).toBe(1_000);
    expect(endOf(TIMES, undefined)).toBe(1_000);
  });

  it('ends nothing once it is cancelled', () => {
    const onTimeout = jest.fn();
    const cancel = startTimeout(TIMES, onTimeout, () => 0);
    jest.advanceTimersByTime(3_000);
    cancel();
    jest.advanceTimersByTime(10_000);
    expect(onTimeout).not.toHaveBeenCalled();
  });
});
