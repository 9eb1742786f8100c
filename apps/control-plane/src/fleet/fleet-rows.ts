/** Workers, shards and sessions of a region, as its database has them. Ages are by the database's clock. */
import type { RegionalDatabase } from '@dormouse/database';
import { SESSION_STATES, type SessionState } from '@dormouse/gateway-contract';
import type {
  FleetChannel,
  FleetChannelList,
  FleetChannelsQuery,
  FleetShard,
  FleetWorker,
} from '@dormouse/management-contract';

type Pool = RegionalDatabase['pool'];

/** Of a row of `workers w`: it lives and takes shards. The same as the session worker has it. */
const TAKES_SHARDS = 'w.expires_at > now() AND NOT w.draining AND w.drained_at IS NULL';

interface WorkerRow {
  id: string;
  version: string;
  started_at: Date;
  heartbeat_age_s: number;
  living: boolean;
  draining: boolean;
  drained_at: Date | null;
  shards: number[];
}

/** The workers of the region, or the one of this id. */
export async function readWorkers(pool: Pool, id?: string): Promise<FleetWorker[]> {
  const { rows } = await pool.query<WorkerRow>({
    name: 'fleet-workers',
    text: `SELECT id, version, started_at, draining, drained_at, expires_at > now() AS living,
                  extract(epoch FROM now() - heartbeat_at)::float8 AS heartbeat_age_s,
                  ARRAY(SELECT shard FROM shard_leases
                        WHERE owner_id = workers.id AND expires_at > now() ORDER BY shard) AS shards
           FROM workers WHERE $1::text IS NULL OR id = $1 ORDER BY id`,
    values: [id ?? null],
  });
  return rows.map((row) => ({
    id: row.id,
    version: row.version,
    started_at: epochS(row.started_at),
    heartbeat_age_s: rounded(row.heartbeat_age_s),
    living: row.living,
    shards: row.shards,
    state: workerState(row),
    ...(row.drained_at === null ? {} : { drain_asked_at: epochS(row.drained_at) }),
  }));
}

function workerState({ draining, drained_at: drainedAt, shards }: WorkerRow): FleetWorker['state'] {
  if (draining) return 'ending';
  if (drainedAt === null) return 'taking';
  return shards.length === 0 ? 'drained' : 'draining';
}

/** Wants a living worker to hold no shards, or no longer so. False when there is no such worker. */
export async function setDrain(pool: Pool, id: string, wanted: boolean): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE workers SET drained_at = CASE WHEN $2 THEN coalesce(drained_at, now()) END
     WHERE id = $1 AND expires_at > now()`,
    [id, wanted],
  );
  return rowCount === 1;
}

interface ShardRow {
  shard: number;
  owner_id: string | null;
  epoch: string;
  lease_left_s: number;
  placed_on: string | null;
  leaving: boolean;
  sessions: Partial<Record<SessionState, number>>;
}

/** The shards of the region without their queues, or the one of this number. */
export async function readShards(pool: Pool, shard?: number): Promise<Omit<FleetShard, 'commands'>[]> {
  const { rows } = await pool.query<ShardRow>({
    name: 'fleet-shards',
    text: `WITH counted AS (
             SELECT shard, json_object_agg(session_state, channels) AS sessions FROM (
               SELECT shard, session_state, count(*) AS channels FROM channels
               WHERE deleted_at IS NULL AND session_state = ANY ($2) AND ($1::int IS NULL OR shard = $1)
               GROUP BY shard, session_state) AS each GROUP BY shard)
           SELECT l.shard, l.epoch, CASE WHEN l.expires_at > now() THEN l.owner_id END AS owner_id,
                  coalesce(greatest(0, extract(epoch FROM l.expires_at - now())), 0)::float8 AS lease_left_s,
                  (SELECT w.id FROM workers w WHERE w.id = l.placed_on AND ${TAKES_SHARDS}) AS placed_on,
                  EXISTS (SELECT 1 FROM workers w WHERE w.id = l.owner_id AND NOT (${TAKES_SHARDS})) AS leaving,
                  coalesce(counted.sessions, '{}') AS sessions
           FROM shard_leases l LEFT JOIN counted USING (shard) WHERE $1::int IS NULL OR l.shard = $1 ORDER BY l.shard`,
    values: [shard ?? null, SESSION_STATES],
  });
  return rows.map((row) => ({
    shard: row.shard,
    ...(row.owner_id === null ? {} : { owner: row.owner_id }),
    epoch: Number(row.epoch),
    lease_left_s: rounded(row.lease_left_s),
    ...(row.placed_on === null ? {} : { placed_on: row.placed_on }),
    state: shardState(row),
    sessions: byState(row.sessions),
  }));
}

function shardState(row: ShardRow): FleetShard['state'] {
  if (row.owner_id === null) return 'waiting';
  const elsewhere = row.placed_on !== null && row.placed_on !== row.owner_id;
  return elsewhere || row.leaving ? 'moving' : 'settled';
}

/** Places a shard on a worker. False when that worker does not live or takes no shards. */
export async function placeShard(pool: Pool, shard: number, workerId: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE shard_leases SET placed_on = $2
     WHERE shard = $1 AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $2 AND ${TAKES_SHARDS})`,
    [shard, workerId],
  );
  return rowCount === 1;
}

export async function unplaceShard(pool: Pool, shard: number): Promise<void> {
  await pool.query('UPDATE shard_leases SET placed_on = NULL WHERE shard = $1', [shard]);
}

export interface ChannelRow {
  id: string;
  account_id: string;
  shard: number;
  session_state: SessionState;
  for_s: number;
  session_reason: string | null;
  linked: boolean;
  wake_at: Date | null;
}

export const CHANNEL_COLUMNS = `id, account_id, shard, session_state, session_reason, linked, wake_at,
  extract(epoch FROM now() - session_since)::float8 AS for_s`;

export function toFleetChannel(row: ChannelRow): FleetChannel {
  return {
    id: row.id,
    account_id: row.account_id,
    shard: row.shard,
    state: row.session_state,
    for_s: rounded(Math.max(0, row.for_s)),
    ...(row.session_reason === null ? {} : { reason: row.session_reason }),
    linked: row.linked,
    ...(row.wake_at === null ? {} : { wake_at: epochS(row.wake_at) }),
  };
}

/** A page of the channels in a state, by shard and id. */
export async function readChannels(pool: Pool, { state, count, after }: FleetChannelsQuery): Promise<FleetChannelList> {
  const [, shard = '-1', id = ''] = /^(\d+)\.(.*)$/.exec(after ?? '') ?? [];
  const [page, counted] = await Promise.all([
    pool.query<ChannelRow>({
      name: 'fleet-channels',
      text: `SELECT ${CHANNEL_COLUMNS} FROM channels
             WHERE deleted_at IS NULL AND session_state = $1 AND (shard, id) > ($2::int, $3)
             ORDER BY shard, id LIMIT $4`,
      values: [state, shard, id, count + 1],
    }),
    pool.query<{ total: number }>({
      name: 'fleet-channels-total',
      text: 'SELECT count(*)::int AS total FROM channels WHERE deleted_at IS NULL AND session_state = $1',
      values: [state],
    }),
  ]);
  const rows = page.rows.slice(0, count);
  const last = rows.at(-1);
  return {
    channels: rows.map(toFleetChannel),
    total: counted.rows[0]?.total ?? 0,
    ...(page.rows.length > count && last ? { next: `${last.shard}.${last.id}` } : {}),
  };
}

/** The channel, or undefined when the region has no such living one. */
export async function readChannel(pool: Pool, id: string): Promise<FleetChannel | undefined> {
  const { rows } = await pool.query<ChannelRow>({
    name: 'fleet-channel',
    text: `SELECT ${CHANNEL_COLUMNS} FROM channels WHERE id = $1 AND deleted_at IS NULL`,
    values: [id],
  });
  return rows[0] && toFleetChannel(rows[0]);
}

/** Every state with its count, 0 where there is none. */
export function byState(counts: Partial<Record<SessionState, number>>): Record<SessionState, number> {
  return Object.fromEntries(SESSION_STATES.map((state) => [state, counts[state] ?? 0])) as Record<SessionState, number>;
}

/** Seconds to the millisecond. */
export function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

function epochS(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}
