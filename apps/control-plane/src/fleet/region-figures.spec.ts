import { wakePercentiles } from './region-figures.js';

const bucket = (upToMs: number, wakes: number, maxMs = upToMs) => ({ up_to_ms: upToMs, wakes, max_ms: maxMs });

describe('wakePercentiles', () => {
  it('has no durations without wakes', () => {
    expect(wakePercentiles([])).toEqual({ count: 0 });
  });

  it('are upper bounds of the buckets that hold them', () => {
    const buckets = [bucket(100, 50), bucket(200, 44), bucket(400, 5), bucket(3_000, 1, 2_950)];
    expect(wakePercentiles(buckets)).toEqual({ count: 100, p50_ms: 100, p95_ms: 400, max_ms: 2_950 });
  });

  it('are never above the longest wake', () => {
    expect(wakePercentiles([bucket(105, 1, 101)])).toEqual({ count: 1, p50_ms: 101, p95_ms: 101, max_ms: 101 });
  });
});
