/** A region in figures: what its database says at this moment, without its queues. */
import type { RegionalDatabase } from '@dormouse/database';
import type { SessionState } from '@dormouse/gateway-contract';
import type { RegionFigures } from '@dormouse/management-contract';
import { byState, rounded } from './fleet-rows.js';

type Pool = RegionalDatabase['pool'];

const WAKES_WINDOW_S = 900;
/** A sleeping channel counts as overdue that much after its time: a few at once are woken, in their turn. */
const OVERDUE_AFTER_S = 60;

/** Every figure of the database. @throws when it does not answer */
export async function readRegionFigures(pool: Pool): Promise<Omit<RegionFigures, 'region' | 'commands'>> {
  const [owners, sessions, overdue, wakes, events] = await Promise.all([
    readOwners(pool),
    readSessions(pool),
    readOverdue(pool),
    readWakes(pool),
    readEvents(pool),
  ]);
  return { ...owners, sessions, sleeping: { count: sessions.hibernated, ...overdue }, wakes, events };
}

async function readOwners(pool: Pool): Promise<Pick<RegionFigures, 'workers' | 'shards'>> {
  const { rows } = await pool.query<{ living: number; draining: number; total: number; without_owner: number }>({
    name: 'figures-of-owners',
    text: `SELECT (SELECT count(*)::int FROM workers WHERE expires_at > now()) AS living,
                  (SELECT count(*)::int FROM workers
                   WHERE expires_at > now() AND (draining OR drained_at IS NOT NULL)) AS draining,
                  count(*)::int AS total,
                  (count(*) FILTER (WHERE owner_id IS NULL OR expires_at <= now()))::int AS without_owner
           FROM shard_leases`,
  });
  const { living = 0, draining = 0, total = 0, without_owner = 0 } = rows[0] ?? {};
  return { workers: { living, draining }, shards: { total, without_owner } };
}

async function readSessions(pool: Pool): Promise<Record<SessionState, number>> {
  const { rows } = await pool.query<{ state: SessionState; count: number }>({
    name: 'figures-of-sessions',
    text: `SELECT session_state AS state, count(*)::int AS count FROM channels
           WHERE deleted_at IS NULL GROUP BY session_state`,
  });
  return byState(Object.fromEntries(rows.map(({ state, count }) => [state, count])));
}

async function readOverdue(pool: Pool): Promise<Omit<RegionFigures['sleeping'], 'count'>> {
  const { rows } = await pool.query<{ overdue: number; most_overdue_s: number }>({
    name: 'figures-of-overdue-wakes',
    // By shard, because that is how they are indexed.
    text: `SELECT count(*)::int AS overdue, coalesce(max(late_s), 0)::float8 AS most_overdue_s FROM shard_leases l,
             LATERAL (SELECT extract(epoch FROM now() - wake_at) AS late_s FROM channels c
                      WHERE c.shard = l.shard AND wake_at < now() - $1 * interval '1 second'
                        AND session_state = 'hibernated' AND linked AND deleted_at IS NULL) AS late`,
    values: [OVERDUE_AFTER_S],
  });
  const { overdue = 0, most_overdue_s = 0 } = rows[0] ?? {};
  return { overdue, most_overdue_s: rounded(most_overdue_s) };
}

interface WakeBucket {
  up_to_ms: number;
  wakes: number;
  max_ms: number;
}

async function readWakes(pool: Pool): Promise<RegionFigures['wakes']> {
  const { rows } = await pool.query<WakeBucket>({
    name: 'figures-of-wakes',
    text: `SELECT up_to_ms, sum(wakes)::int AS wakes, max(max_ms)::int AS max_ms FROM wake_latencies
           WHERE minute > now() - $1 * interval '1 second' GROUP BY up_to_ms ORDER BY up_to_ms`,
    values: [WAKES_WINDOW_S],
  });
  return { window_s: WAKES_WINDOW_S, ...wakePercentiles(rows) };
}

/**
 * Percentiles of counted durations: the bound under which that part of them lies.
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
  const { rows } = await pool.query<{ backlog: string; behind: number; oldest_age_s: number; dead: number }>({
    name: 'figures-of-events',
    text: `SELECT coalesce(sum(s.last_seq - c.position + held.events), 0) AS backlog, count(*)::int AS behind,
                  coalesce(extract(epoch FROM now() - min(oldest.created_at)), 0)::float8 AS oldest_age_s,
                  (SELECT count(*)::int FROM dead_letters) AS dead
           FROM webhook_cursors c JOIN event_sequences s USING (channel_id), LATERAL (
             SELECT count(*) AS events, min(seq) AS first FROM webhook_held_events h
             WHERE c.has_held AND h.channel_id = c.channel_id AND h.webhook_id = c.webhook_id) AS held LEFT JOIN LATERAL (
             SELECT created_at FROM events e WHERE e.channel_id = c.channel_id
               AND (e.seq > c.position OR e.seq = held.first) ORDER BY e.seq LIMIT 1) AS oldest ON true
           WHERE s.last_seq > c.position OR held.events > 0`,
  });
  const { backlog = '0', behind = 0, oldest_age_s = 0, dead = 0 } = rows[0] ?? {};
  return {
    backlog: Number(backlog),
    webhooks_behind: behind,
    oldest_age_s: rounded(Math.max(0, oldest_age_s)),
    dead_letters: dead,
  };
}
