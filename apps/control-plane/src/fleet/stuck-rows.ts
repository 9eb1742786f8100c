/** What does not mend itself in time, as a region's database has it. Every list is the worst hundred and how many there are. */
import type { RegionalDatabase } from '@dormouse/database';
import type { StuckThings } from '@dormouse/management-contract';
import { CHANNEL_COLUMNS, rounded, toFleetChannel, type ChannelRow } from './fleet-rows.js';

type Pool = RegionalDatabase['pool'];

const FIRST = 100;
/** A connect, a wake and falling asleep are over by then, or something keeps them from it. */
const SLOW_AFTER_S = 120;
/** States that a session only passes through. */
const PASSING = ['connecting', 'waking', 'hibernating'];
/** States in which a session has its rows, so that a snapshot was opened for it. */
const AWAKE = ['open', ...PASSING];

type Counted<Row> = Row & { total: number };

/** @throws when the database does not answer */
export async function readStuck(pool: Pool): Promise<Omit<StuckThings, 'late_commands'>> {
  const [shards, slow, closed, damaged, dead, failing] = await Promise.all([
    readFreeShards(pool),
    readSlowChannels(pool),
    readClosedChannels(pool),
    readDamagedSnapshots(pool),
    readDeadLetters(pool),
    readFailingWebhooks(pool),
  ]);
  return {
    shards_without_owner: shards,
    slow_channels: slow,
    closed_channels: closed,
    damaged_snapshots: damaged,
    dead_letters: dead,
    failing_webhooks: failing,
  };
}

async function first<Row extends object, Item>(
  pool: Pool,
  query: { name: string; text: string; values?: unknown[] },
  toItem: (row: Row) => Item,
): Promise<{ total: number; first: Item[] }> {
  const { rows } = await pool.query<Counted<Row>>(query);
  return { total: rows[0]?.total ?? 0, first: rows.map(toItem) };
}

const readFreeShards = (pool: Pool) =>
  first(
    pool,
    {
      name: 'stuck-shards',
      text: `SELECT shard, extract(epoch FROM now() - expires_at)::float8 AS for_s, count(*) OVER ()::int AS total
             FROM shard_leases WHERE owner_id IS NULL OR expires_at <= now() ORDER BY expires_at, shard LIMIT ${FIRST}`,
    },
    ({ shard, for_s: forS }: { shard: number; for_s: number | null }) => ({
      shard,
      ...(forS === null ? {} : { for_s: rounded(forS) }),
    }),
  );

const readSlowChannels = (pool: Pool) =>
  first<ChannelRow, ReturnType<typeof toFleetChannel>>(
    pool,
    {
      name: 'stuck-channels',
      text: `SELECT ${CHANNEL_COLUMNS}, count(*) OVER ()::int AS total FROM channels
             WHERE deleted_at IS NULL AND session_state = ANY ($1) AND session_since < now() - $2 * interval '1 second'
             ORDER BY session_since, id LIMIT ${FIRST}`,
      values: [PASSING, SLOW_AFTER_S],
    },
    toFleetChannel,
  );

const readClosedChannels = (pool: Pool) =>
  first<ChannelRow, ReturnType<typeof toFleetChannel>>(
    pool,
    {
      name: 'closed-channels',
      text: `SELECT ${CHANNEL_COLUMNS}, count(*) OVER ()::int AS total FROM channels
             WHERE deleted_at IS NULL AND session_state = 'closed' AND linked AND session_reason IS NOT NULL
             ORDER BY session_since, id LIMIT ${FIRST}`,
    },
    toFleetChannel,
  );

interface DamagedRow {
  id: string;
  shard: number;
  generations: number[];
  lost: boolean;
}

const readDamagedSnapshots = (pool: Pool) =>
  first(
    pool,
    {
      name: 'damaged-snapshots',
      text: `SELECT id, shard, session_reason IS NOT DISTINCT FROM 'state_unreadable' AS lost, count(*) OVER ()::int AS total,
                    ARRAY(SELECT (one->>'generation')::int FROM jsonb_array_elements(snapshots) AS one
                          WHERE one @> '{"damaged": true}') AS generations
             FROM channels
             WHERE deleted_at IS NULL AND (
               (session_state = 'closed' AND session_reason = 'state_unreadable')
               OR (session_state = ANY ($1) AND snapshots @> '[{"damaged": true}]'))
             ORDER BY lost DESC, session_since, id LIMIT ${FIRST}`,
      values: [AWAKE],
    },
    ({ id, shard, generations, lost }: DamagedRow) => ({ channel_id: id, shard, generations, lost }),
  );

interface DeadRow {
  channel_id: string;
  webhook_id: string;
  dead_letters: number;
  oldest_age_s: number;
}

const readDeadLetters = (pool: Pool) =>
  first(
    pool,
    {
      name: 'stuck-dead-letters',
      text: `SELECT channel_id, webhook_id, count(*)::int AS dead_letters, count(*) OVER ()::int AS total,
                    extract(epoch FROM now() - min(died_at))::float8 AS oldest_age_s
             FROM dead_letters GROUP BY channel_id, webhook_id ORDER BY min(died_at), channel_id LIMIT ${FIRST}`,
    },
    (row: DeadRow) => ({
      channel_id: row.channel_id,
      webhook: row.webhook_id,
      dead_letters: row.dead_letters,
      oldest_age_s: rounded(row.oldest_age_s),
    }),
  );

interface FailingRow {
  channel_id: string;
  webhook_id: string;
  attempts: number;
  backlog: string;
  oldest_age_s: number | null;
  last_error: string | null;
}

const readFailingWebhooks = (pool: Pool) =>
  first(
    pool,
    {
      name: 'failing-webhooks',
      text: `SELECT c.channel_id, c.webhook_id, c.attempts, s.last_seq - c.position + held.events AS backlog, c.last_error,
                    extract(epoch FROM now() - oldest.created_at)::float8 AS oldest_age_s, count(*) OVER ()::int AS total
             FROM webhook_cursors c JOIN event_sequences s USING (channel_id), LATERAL (
               SELECT count(*) AS events, min(seq) AS first FROM webhook_held_events h
               WHERE c.has_held AND h.channel_id = c.channel_id AND h.webhook_id = c.webhook_id
             ) AS held LEFT JOIN LATERAL (
               SELECT created_at FROM events e WHERE e.channel_id = c.channel_id
                 AND (e.seq > c.position OR e.seq = held.first) ORDER BY e.seq LIMIT 1) AS oldest ON true
             WHERE c.attempts > 0 ORDER BY oldest.created_at, c.channel_id LIMIT ${FIRST}`,
    },
    (row: FailingRow) => ({
      channel_id: row.channel_id,
      webhook: row.webhook_id,
      attempts: row.attempts,
      backlog: Number(row.backlog),
      oldest_age_s: rounded(Math.max(0, row.oldest_age_s ?? 0)),
      ...(row.last_error === null ? {} : { last_error: row.last_error }),
    }),
  );
