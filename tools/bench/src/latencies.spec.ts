import { measure, summarize, summarizeAll } from './latencies.js';

describe('summarize', () => {
  it('gives percentiles of the sorted series and the rate over the wall time', () => {
    const latencies = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(summarize(latencies, 2_000)).toEqual({ count: 100, p50Ms: 51, p95Ms: 96, p99Ms: 100, perSecond: 50 });
  });
});

describe('summarizeAll', () => {
  it('counts several series as one, without the time between them', () => {
    const summary = summarizeAll([
      { latenciesMs: [1, 2], elapsedMs: 1_000 },
      { latenciesMs: [3], elapsedMs: 2_000 },
    ]);
    expect(summary).toEqual({ count: 3, p50Ms: 2, p95Ms: 3, p99Ms: 3, perSecond: 1 });
  });
});

describe('measure', () => {
  it('makes every call once and never more at a time than allowed', async () => {
    const seen: number[] = [];
    let running = 0;
    let most = 0;
    const summary = await measure(
      async (index) => {
        most = Math.max(most, ++running);
        seen.push(index);
        await Promise.resolve();
        running--;
      },
      { total: 20, inFlight: 4 },
    );
    expect(summary.count).toBe(20);
    expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(most).toBe(4);
  });
});
