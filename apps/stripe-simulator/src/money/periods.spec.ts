import { anniversary, periodEnd } from './periods.js';

const monthly = { interval: 'month', interval_count: 1 } as const;
const at = (text: string): number => Date.parse(`${text}Z`) / 1000;
const text = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19);

describe('periods', () => {
  it('of the 31st end on the last day of shorter months, and on the 31st again after them', () => {
    const anchor = at('2027-12-31T08:30:15');
    const ends = [1, 2, 3, 4].map((count) => text(anniversary(anchor, monthly, count)));
    expect(ends).toEqual(['2028-01-31T08:30:15', '2028-02-29T08:30:15', '2028-03-31T08:30:15', '2028-04-30T08:30:15']);
  });

  it.each([
    ['day', 3, '2027-01-04T00:00:00'],
    ['week', 2, '2027-01-15T00:00:00'],
    ['month', 12, '2028-01-01T00:00:00'],
    ['year', 1, '2028-01-01T00:00:00'],
  ] as const)('of %s times %d', (interval, interval_count, end) => {
    expect(text(anniversary(at('2027-01-01T00:00:00'), { interval, interval_count }, 1))).toBe(end);
  });

  it('end at the first anniversary after their start, also when that lies many periods after the anchor', () => {
    const anchor = at('2027-01-31T00:00:00');
    expect(text(periodEnd(anchor, monthly, at('2028-06-30T00:00:00')))).toBe('2028-07-31T00:00:00');
    expect(text(periodEnd(anchor, monthly, anchor))).toBe('2027-02-28T00:00:00');
  });
});
