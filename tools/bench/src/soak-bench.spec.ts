import { growthPerHour } from './soak-bench.js';

describe('growthPerHour', () => {
  it('is the slope of the line that fits best', () => {
    const points = [0, 1, 2, 3].map((minute) => ({ atMs: minute * 60_000, value: 100 + minute + (minute % 2) * 0.2 }));
    expect(growthPerHour(points)).toBeCloseTo(60 + 2.4, 5);
    expect(growthPerHour(points.map((point) => ({ ...point, value: 7 })))).toBe(0);
  });
});
