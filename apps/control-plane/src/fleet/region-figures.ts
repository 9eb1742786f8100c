/** The present figures of a region from its database; those of its queues come from Redis. */
import { overdueWakes, sessionsByState } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import { ownerFigures, wakeBuckets } from '@dormouse/database/shards';
import { eventFigures } from '@dormouse/event-outbox';
import type { SessionState } from '@dormouse/gateway-contract';
import type { RegionFigures } from '@dormouse/management-contract';
import { byState, rounded } from './fleet-rows.js';

type Pool = RegionalDatabase['pool'];

const WAKES_WINDOW_S = 900;
/** How late a wake counts as overdue. Some delay is normal: only a few channels are woken at once. */
const OVERDUE_AFTER_S = 60;

/**
 * The figures that come from the database.
 * @param shards all shards of the region
 * @throws when it does not answer
 */
export async function readRegionFigures(
  pool: Pool,
  shards: readonly number[],
): Promise<Omit<RegionFigures, 'region' | 'commands'>> {
  const [owners, sessions, overdue, wakes, events] = await Promise.all([
    readOwners(pool),
    readSessions(pool),
    readOverdue(pool, shards),
    readWakes(pool),
    readEvents(pool),
  ]);
  return { ...owners, sessions, sleeping: { count: sessions.hibernated, ...overdue }, wakes, events };
}

async function readOwners(pool: Pool): Promise<Pick<RegionFigures, 'workers' | 'shards'>> {
  const { living, draining, total, without_owner } = await ownerFigures(pool);
  return { workers: { living, draining }, shards: { total, without_owner } };
}

async function readSessions(pool: Pool): Promise<Record<SessionState, number>> {
  return byState(Object.fromEntries((await sessionsByState(pool)).map(({ state, count }) => [state, count])));
}

async function readOverdue(pool: Pool, shards: readonly number[]): Promise<Omit<RegionFigures['sleeping'], 'count'>> {
  const { overdue, most_overdue_s } = await overdueWakes(pool, shards, OVERDUE_AFTER_S);
  return { overdue, most_overdue_s: rounded(most_overdue_s) };
}

interface WakeBucket {
  up_to_ms: number;
  wakes: number;
  max_ms: number;
}

async function readWakes(pool: Pool): Promise<RegionFigures['wakes']> {
  const rows = await wakeBuckets(pool, WAKES_WINDOW_S);
  return { window_s: WAKES_WINDOW_S, ...wakePercentiles(rows) };
}

/**
 * Percentiles of durations counted in buckets: the upper bound of the bucket that a percentile falls into.
 * @param buckets in ascending order
 */
export function wakePercentiles(buckets: readonly WakeBucket[]): Omit<RegionFigures['wakes'], 'window_s'> {
  const count = buckets.reduce((sum, { wakes }) => sum + wakes, 0);
  if (count === 0) return { count };
  const maxMs = Math.max(...buckets.map(({ max_ms }) => max_ms));
  const percentile = (part: number): number => {
    let seen = 0;
    const found = buckets.find(({ wakes }) => (seen += wakes) >= count * part);
    return Math.min(found?.up_to_ms ?? maxMs, maxMs);
  };
  return { count, p50_ms: percentile(0.5), p95_ms: percentile(0.95), max_ms: maxMs };
}

async function readEvents(pool: Pool): Promise<RegionFigures['events']> {
  const { backlog, behind, oldest_age_s, dead } = await eventFigures(pool);
  return {
    backlog: Number(backlog),
    webhooks_behind: behind,
    oldest_age_s: rounded(Math.max(0, oldest_age_s)),
    dead_letters: dead,
  };
}
