/** How often something is billed. */
export interface Cadence {
  interval: 'day' | 'week' | 'month' | 'year';
  interval_count: number;
}

const DAY_SECONDS = 86_400;
const FIXED_SECONDS = { day: DAY_SECONDS, week: 7 * DAY_SECONDS };

/** The moment that lies so many intervals after the anchor; the 31st becomes the last day of a shorter month, and is the 31st again after it. */
export function anniversary(anchor: number, { interval, interval_count }: Cadence, count: number): number {
  if (interval === 'day' || interval === 'week') return anchor + FIXED_SECONDS[interval] * interval_count * count;
  const date = new Date(anchor * 1000);
  const months = date.getUTCMonth() + count * interval_count * (interval === 'year' ? 12 : 1);
  const year = date.getUTCFullYear() + Math.floor(months / 12);
  const month = ((months % 12) + 12) % 12;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const moved = Date.UTC(
    year,
    month,
    Math.min(date.getUTCDate(), lastDay),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  );
  return moved / 1000;
}

/** The end of the period that begins at `start`: the first anniversary of the anchor after it. */
export function periodEnd(anchor: number, cadence: Cadence, start: number): number {
  let count = 0;
  while (anniversary(anchor, cadence, count) <= start) count += 1;
  return anniversary(anchor, cadence, count);
}
