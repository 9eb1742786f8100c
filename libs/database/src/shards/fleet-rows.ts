/** Workers and shards of a region for its operators. Ages are by the database's clock. */
import type { RegionalDatabase } from '../open-database.js';
import { defineStatement, type RowOf } from '../statement.js';
import { TAKES_SHARDS } from './shard-leases.js';

type Pool = RegionalDatabase['pool'];

const WORKERS = defineStatement({
  name: 'fleet-workers',
  text: `SELECT id, version, started_at, draining, drained_at, expires_at > now() AS living,
                extract(epoch FROM now() - heartbeat_at)::float8 AS heartbeat_age_s,
                ARRAY(SELECT shard FROM shard_leases
                      WHERE owner_id = workers.id AND expires_at > now() ORDER BY shard) AS shards
         FROM workers WHERE $1::text IS NULL OR id = $1 ORDER BY id`,
  parameters: ['text?'],
  row: {
    id: 'text',
    version: 'text',
    started_at: 'timestamptz',
    draining: 'bool',
    drained_at: 'timestamptz?',
    living: 'bool',
    heartbeat_age_s: 'float8',
    shards: 'int4[]',
  },
});

const SET_DRAIN = defineStatement({
  name: 'set-drain',
  text: `UPDATE workers SET drained_at = CASE WHEN $2::bool THEN coalesce(drained_at, now()) END
         WHERE id = $1 AND expires_at > now()`,
  parameters: ['text', 'bool'],
});

const SHARDS = defineStatement({
  name: 'fleet-shards',
  text: `SELECT l.shard, l.epoch, CASE WHEN l.expires_at > now() THEN l.owner_id END AS owner_id,
                coalesce(greatest(0, extract(epoch FROM l.expires_at - now())), 0)::float8 AS lease_left_s,
                (SELECT w.id FROM workers w WHERE w.id = l.placed_on AND ${TAKES_SHARDS}) AS placed_on,
                EXISTS (SELECT 1 FROM workers w WHERE w.id = l.owner_id AND NOT (${TAKES_SHARDS})) AS leaving
         FROM shard_leases l WHERE $1::int IS NULL OR l.shard = $1 ORDER BY l.shard`,
  parameters: ['int4?'],
  row: {
    shard: 'int4',
    epoch: 'int8',
    owner_id: 'text?',
    lease_left_s: 'float8',
    placed_on: 'text?',
    leaving: 'bool',
  },
});

const PLACE_SHARD = defineStatement({
  name: 'place-shard',
  text: `UPDATE shard_leases SET placed_on = $2
         WHERE shard = $1 AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $2 AND ${TAKES_SHARDS})`,
  parameters: ['int4', 'text'],
});

const END_PLACEMENT = defineStatement({
  name: 'end-placement',
  text: 'UPDATE shard_leases SET placed_on = NULL WHERE shard = $1',
  parameters: ['int4'],
});

const OWNER_FIGURES = defineStatement({
  name: 'figures-of-owners',
  text: `SELECT (SELECT count(*)::int FROM workers WHERE expires_at > now()) AS living,
                (SELECT count(*)::int FROM workers
                 WHERE expires_at > now() AND (draining OR drained_at IS NOT NULL)) AS draining,
                count(*)::int AS total,
                (count(*) FILTER (WHERE owner_id IS NULL OR expires_at <= now()))::int AS without_owner
         FROM shard_leases`,
  parameters: [],
  row: { living: 'int4', draining: 'int4', total: 'int4', without_owner: 'int4' },
});

const FREE_SHARDS = defineStatement({
  name: 'stuck-shards',
  text: `SELECT shard, extract(epoch FROM now() - expires_at)::float8 AS for_s, count(*) OVER ()::int AS total
         FROM shard_leases WHERE owner_id IS NULL OR expires_at <= now() ORDER BY expires_at, shard LIMIT $1`,
  parameters: ['int8'],
  row: { shard: 'int4', for_s: 'float8?', total: 'int4' },
});

export type WorkerRow = RowOf<typeof WORKERS>;
export type ShardRow = RowOf<typeof SHARDS>;
export type OwnerFiguresRow = RowOf<typeof OWNER_FIGURES>;
export type FreeShardRow = RowOf<typeof FREE_SHARDS>;

/** The workers of the region by id, or the one of this id. */
export async function workerRows(pool: Pool, id?: string): Promise<WorkerRow[]> {
  return WORKERS.all(pool, id ?? null);
}

/** Wants a living worker to hold no shards, or no longer so. False when there is no such worker. */
export async function setDrain(pool: Pool, id: string, wanted: boolean): Promise<boolean> {
  return (await SET_DRAIN.count(pool, id, wanted)) === 1;
}

/** The shards of the region by number, or the one of this number. */
export async function shardRows(pool: Pool, shard?: number): Promise<ShardRow[]> {
  return SHARDS.all(pool, shard ?? null);
}

/** Places a shard on a worker. False when that worker does not live or takes no shards. */
export async function placeShard(pool: Pool, shard: number, workerId: string): Promise<boolean> {
  return (await PLACE_SHARD.count(pool, shard, workerId)) === 1;
}

/** Lets a shard be spread as all others. */
export async function endPlacement(pool: Pool, shard: number): Promise<void> {
  await END_PLACEMENT.count(pool, shard);
}

/** How many workers live and drain, and how many shards there are and are without an owner. */
export async function ownerFigures(pool: Pool): Promise<OwnerFiguresRow> {
  return (await OWNER_FIGURES.first(pool)) ?? { living: 0, draining: 0, total: 0, without_owner: 0 };
}

/** The first `limit` shards without an owner, longest first; each row has the `total` of them. */
export async function freeShardRows(pool: Pool, limit: number): Promise<FreeShardRow[]> {
  return FREE_SHARDS.all(pool, limit);
}
