/** Channels and their sessions as the operators of a region see them. Ages are by the database's clock. */
import { defineStatement, narrowed, type RegionalDatabase, type RowOf } from '@dormouse/database';
import type { SessionState } from '@dormouse/gateway-contract';

type Pool = RegionalDatabase['pool'];

const COLUMNS = `id, account_id, shard, session_state, session_reason, linked, wake_at,
  extract(epoch FROM now() - session_since)::float8 AS for_s`;

const ROW = {
  id: 'text',
  account_id: 'text',
  shard: 'int4',
  session_state: narrowed<SessionState>('text'),
  session_reason: 'text?',
  linked: 'bool',
  wake_at: 'timestamptz?',
  for_s: 'float8',
} as const;

const PAGE = defineStatement({
  name: 'fleet-channels',
  text: `SELECT ${COLUMNS} FROM channels
         WHERE deleted_at IS NULL AND session_state = $1 AND (shard, id) > ($2::int, $3)
         ORDER BY shard, id LIMIT $4`,
  parameters: ['text', 'int4', 'text', 'int8'],
  row: ROW,
});

const COUNT = defineStatement({
  name: 'fleet-channels-total',
  text: 'SELECT count(*)::int AS total FROM channels WHERE deleted_at IS NULL AND session_state = $1',
  parameters: ['text'],
  row: { total: 'int4' },
});

const ONE = defineStatement({
  name: 'fleet-channel',
  text: `SELECT ${COLUMNS} FROM channels WHERE id = $1 AND deleted_at IS NULL`,
  parameters: ['text'],
  row: ROW,
});

const BY_SHARD = defineStatement({
  name: 'fleet-sessions-by-shard',
  text: `SELECT shard, session_state AS state, count(*)::int AS count FROM channels
         WHERE deleted_at IS NULL AND session_state = ANY ($1) AND ($2::int IS NULL OR shard = $2)
         GROUP BY shard, session_state`,
  parameters: ['text[]', 'int4?'],
  row: { shard: 'int4', state: narrowed<SessionState>('text'), count: 'int4' },
});

const BY_STATE = defineStatement({
  name: 'figures-of-sessions',
  text: `SELECT session_state AS state, count(*)::int AS count FROM channels
         WHERE deleted_at IS NULL GROUP BY session_state`,
  parameters: [],
  row: { state: narrowed<SessionState>('text'), count: 'int4' },
});

/** By shard, because that is how they are indexed. */
const OVERDUE = defineStatement({
  name: 'figures-of-overdue-wakes',
  text: `SELECT count(*)::int AS overdue, coalesce(max(late_s), 0)::float8 AS most_overdue_s
         FROM unnest($1::int[]) AS of(shard), LATERAL (
           SELECT extract(epoch FROM now() - wake_at) AS late_s FROM channels c
           WHERE c.shard = of.shard AND wake_at < now() - $2::int * interval '1 second'
             AND session_state = 'hibernated' AND linked AND deleted_at IS NULL) AS late`,
  parameters: ['int4[]', 'int4'],
  row: { overdue: 'int4', most_overdue_s: 'float8' },
});

const SLOW = defineStatement({
  name: 'stuck-channels',
  text: `SELECT ${COLUMNS}, count(*) OVER ()::int AS total FROM channels
         WHERE deleted_at IS NULL AND session_state = ANY ($1) AND session_since < now() - $2::int * interval '1 second'
         ORDER BY session_since, id LIMIT $3`,
  parameters: ['text[]', 'int4', 'int8'],
  row: { ...ROW, total: 'int4' },
});

const CLOSED = defineStatement({
  name: 'closed-channels',
  text: `SELECT ${COLUMNS}, count(*) OVER ()::int AS total FROM channels
         WHERE deleted_at IS NULL AND session_state = 'closed' AND linked AND session_reason IS NOT NULL
         ORDER BY session_since, id LIMIT $1`,
  parameters: ['int8'],
  row: { ...ROW, total: 'int4' },
});

const DAMAGED = defineStatement({
  name: 'damaged-snapshots',
  text: `SELECT id, shard, session_reason IS NOT DISTINCT FROM 'state_unreadable' AS lost, count(*) OVER ()::int AS total,
                ARRAY(SELECT (one->>'generation')::int FROM jsonb_array_elements(snapshots) AS one
                      WHERE one @> '{"damaged": true}') AS generations
         FROM channels
         WHERE deleted_at IS NULL AND (
           (session_state = 'closed' AND session_reason = 'state_unreadable')
           OR (session_state = ANY ($1) AND snapshots @> '[{"damaged": true}]'))
         ORDER BY lost DESC, session_since, id LIMIT $2`,
  parameters: ['text[]', 'int8'],
  row: { id: 'text', shard: 'int4', lost: 'bool', total: 'int4', generations: 'int4[]' },
});

export type FleetChannelRow = RowOf<typeof ONE>;

/** The live channels in a state, by shard and id, after the one given. */
export async function channelsInState(
  pool: Pool,
  state: SessionState,
  after: { shard: number; id: string },
  limit: number,
): Promise<FleetChannelRow[]> {
  return PAGE.all(pool, state, after.shard, after.id, limit);
}

export async function countInState(pool: Pool, state: SessionState): Promise<number> {
  return (await COUNT.first(pool, state))?.total ?? 0;
}

/** The channel, or undefined when the region has no such live one. */
export async function fleetChannel(pool: Pool, id: string): Promise<FleetChannelRow | undefined> {
  return ONE.first(pool, id);
}

/** How many sessions of the region are in each of these states, by shard. @param shard absent: of all shards */
export async function sessionsByShard(
  pool: Pool,
  states: readonly SessionState[],
  shard?: number,
): Promise<RowOf<typeof BY_SHARD>[]> {
  return BY_SHARD.all(pool, states, shard ?? null);
}

/** How many sessions of the region are in each state; states without any are left out. */
export async function sessionsByState(pool: Pool): Promise<RowOf<typeof BY_STATE>[]> {
  return BY_STATE.all(pool);
}

/** Sleeping channels of these shards that should have been woken more than `afterS` ago. */
export async function overdueWakes(
  pool: Pool,
  shards: readonly number[],
  afterS: number,
): Promise<RowOf<typeof OVERDUE>> {
  return (await OVERDUE.first(pool, shards, afterS)) ?? { overdue: 0, most_overdue_s: 0 };
}

/** The first channels that have been in one of these states for more than `forS`; each row has the `total` of them. */
export async function channelsStuckIn(
  pool: Pool,
  states: readonly SessionState[],
  forS: number,
  limit: number,
): Promise<RowOf<typeof SLOW>[]> {
  return SLOW.all(pool, states, forS, limit);
}

/** The first linked channels that are closed for a reason; each row has the `total` of them. */
export async function closedChannels(pool: Pool, limit: number): Promise<RowOf<typeof CLOSED>[]> {
  return CLOSED.all(pool, limit);
}

/**
 * The first channels that lost a snapshot; each row has the `total` of them. `lost`: none opened.
 * @param awake states in which a session has its rows, so that a snapshot was opened for it
 */
export async function damagedSnapshots(
  pool: Pool,
  awake: readonly SessionState[],
  limit: number,
): Promise<RowOf<typeof DAMAGED>[]> {
  return DAMAGED.all(pool, awake, limit);
}
