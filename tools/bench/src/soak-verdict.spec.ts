import { growthOf, MAY_GROW_BYTES, type Sample } from './soak-verdict.js';

const MB = 2 ** 20;

/** A sample each half minute; `heapMb` by the minute. */
function soak(minutes: number, heapMb: (minute: number) => number): Sample[] {
  return Array.from({ length: minutes * 2 }, (_, index) => {
    const minute = (index + 1) / 2;
    return { atMs: minute * 60_000, rssBytes: 0, heapBytes: heapMb(minute) * MB, bufferBytes: 0 };
  });
}

describe('growthOf', () => {
  it('does not count what fills in the first ten minutes', () => {
    const growth = growthOf(soak(60, (minute) => 90 + Math.min(minute, 7) * 3));
    expect(growth?.grownBytes).toBe(0);
    expect(growth?.warm.atMs).toBe(600_000);
    expect(growth?.end.atMs).toBe(3_600_000);
  });

  it('sees a straight line of less than a megabyte in ten minutes', () => {
    expect(growthOf(soak(60, (minute) => 90 + minute * 0.05))?.grownBytes).toBeGreaterThan(MAY_GROW_BYTES);
  });

  it('is not fooled by what is under way at one moment', () => {
    expect(growthOf(soak(60, (minute) => (minute === 60 || minute === 9 ? 120 : 90)))?.grownBytes).toBe(0);
  });

  it('compares the halves of a short run', () => {
    expect(growthOf(soak(4, (minute) => minute))?.grownBytes).toBeCloseTo(2 * MB, -6);
    expect(growthOf([])).toBeUndefined();
  });
});
