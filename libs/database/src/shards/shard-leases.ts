/**
 * Who owns which shard, as rows of the regional database.
 *
 * What it guarantees: a shard has at most one owner at any time of the database's clock, and its epoch grows by one
 * with every change of owner (a worker that takes back what it lost counts as a new one). Only an owner that still
 * stands in the row can renew or release. With PostgreSQL away nobody gains, keeps or gives up anything here; owners
 * let go by their own clocks (`shard-owner.ts`). Redis and S3 play no part. Before its lease ends only a worker that is dead
 * for certain loses a shard (`dead-workers.ts`).
 */
import type { Fence } from '../fence.js';
import type { RegionalDatabase } from '../open-database.js';
import { defineStatement, narrowed } from '../statement.js';
import { transaction } from '../transaction.js';
import { freeShardsOfEarlierWorkers } from './dead-workers.js';

export interface ShardLeasesOptions {
  readonly database: Pick<RegionalDatabase, 'pool'>;
  readonly workerId: string;
  /** Version of this program, for operators. */
  readonly version?: string;
  /** How long a lease or a heartbeat holds without being renewed. */
  readonly ttlMs: number;
  /** Uid of the pod that this worker runs in, by which its successor there knows it. */
  readonly podUid?: string | undefined;
}

/** How the shards are to be spread at this moment. */
export interface Fleet {
  /** Ids of the living workers that take shards, in the order every worker sees. */
  workerIds: string[];
  /** The worker that an operator placed a shard on, for every shard whose one lives and takes shards. */
  placed: ReadonlyMap<number, string>;
  /** How many other shards there are: they are spread evenly. */
  spreadCount: number;
}

const DEFAULT_SHARDS = 8;

const toFence = (row: { shard: number; epoch: string }): Fence => ({ shard: row.shard, epoch: BigInt(row.epoch) });

const IN_TTL = `now() + make_interval(secs => $2::float8 / 1000)`;

/** Of workers `w`: those that live and take shards. A requested drain counts at once, whether the worker has read it or not. */
export const TAKES_SHARDS = 'w.expires_at > now() AND NOT w.draining AND w.drained_at IS NULL';

const LOCK_SHARDS = defineStatement({
  name: 'lock-shards',
  text: 'LOCK TABLE shard_leases IN SHARE ROW EXCLUSIVE MODE',
  parameters: [],
});

const COUNT_SHARDS = defineStatement({
  name: 'count-shards',
  text: 'SELECT count(*)::int AS shards FROM shard_leases',
  parameters: [],
  row: { shards: 'int4' },
});

const SHARD_NUMBERS = defineStatement({
  name: 'shard-numbers',
  text: 'SELECT shard FROM shard_leases ORDER BY shard',
  parameters: [],
  row: { shard: 'int4' },
});

const ADD_SHARDS = defineStatement({
  name: 'add-shards',
  text: 'INSERT INTO shard_leases (shard) SELECT generate_series(0, $1::int - 1)',
  parameters: ['int4'],
});

/**
 * `FOR NO KEY UPDATE` lets claimers pass each other; the change of epoch then waits for writers under the fence. Taking a
 * shard that was placed on a worker that is gone ends the placement. `$3`, for both alike, is the limit; null: all.
 */
const claim = (name: string, which: string) =>
  defineStatement({
    name,
    text: `
UPDATE shard_leases SET owner_id = $1, epoch = epoch + 1, expires_at = ${IN_TTL},
  placed_on = CASE WHEN placed_on = $1 THEN placed_on END
WHERE shard IN (
  SELECT shard FROM shard_leases l WHERE (owner_id IS NULL OR expires_at <= now()) AND ${which}
  ORDER BY random() LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
)
RETURNING shard, epoch`,
    parameters: ['text', 'float8', 'int8?'],
    row: { shard: 'int4', epoch: 'int8' },
  });

const CLAIM_SPREAD = claim(
  'claim-shards',
  `(placed_on IS NULL OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = l.placed_on AND ${TAKES_SHARDS}))`,
);
const CLAIM_PLACED = claim('claim-placed-shards', 'placed_on = $1');

const RENEW = defineStatement({
  name: 'renew-shards',
  text: `
UPDATE shard_leases l SET expires_at = ${IN_TTL}
FROM unnest($3::int[], $4::int8[]) AS held(shard, epoch)
WHERE l.shard = held.shard AND l.epoch = held.epoch AND l.owner_id = $1
RETURNING l.shard, l.epoch`,
  parameters: ['text', 'float8', 'int4[]', 'int8[]'],
  row: { shard: 'int4', epoch: 'int8' },
});

const RELEASE = defineStatement({
  name: 'release-shard',
  text: 'UPDATE shard_leases SET owner_id = NULL, expires_at = NULL WHERE shard = $1 AND epoch = $2 AND owner_id = $3',
  parameters: ['int4', 'int8', 'text'],
});

const HEARTBEAT = defineStatement({
  name: 'heartbeat',
  text: `
INSERT INTO workers (id, expires_at, draining, version, pod_uid) VALUES ($1, ${IN_TTL}, $3, $4, $5)
ON CONFLICT (id) DO UPDATE SET expires_at = EXCLUDED.expires_at, heartbeat_at = now(), draining = EXCLUDED.draining`,
  parameters: ['text', 'float8', 'bool', 'text', 'text?'],
});

const FLEET = defineStatement({
  name: 'fleet',
  text: `WITH takers AS (SELECT id FROM workers w WHERE ${TAKES_SHARDS})
         SELECT ARRAY(SELECT id FROM takers ORDER BY id) AS workers,
                (SELECT count(*)::int FROM shard_leases) AS shards,
                coalesce((SELECT json_agg(json_build_array(shard, placed_on)) FROM shard_leases
                          WHERE placed_on IN (SELECT id FROM takers)), '[]') AS placed`,
  parameters: [],
  row: { workers: 'text[]', shards: 'int4', placed: narrowed<[number, string][]>('json') },
});

const END_PLACEMENTS_ON = defineStatement({
  name: 'end-placements-on',
  text: 'UPDATE shard_leases SET placed_on = NULL WHERE placed_on = $1',
  parameters: ['text'],
});

const DELETE_WORKER = defineStatement({
  name: 'delete-worker',
  text: "DELETE FROM workers WHERE id = $1 OR expires_at < now() - interval '1 hour'",
  parameters: ['text'],
});

/** The numbers of the region's shards, in order. */
export async function shardNumbers(pool: RegionalDatabase['pool']): Promise<number[]> {
  return (await SHARD_NUMBERS.all(pool)).map(({ shard }) => shard);
}

/** How many shards the region has: the table of leases is the only record of it. */
export async function countShards(pool: RegionalDatabase['pool']): Promise<number> {
  return (await COUNT_SHARDS.first(pool))?.shards ?? 0;
}

export class ShardLeases {
  readonly workerId: string;
  readonly ttlMs: number;
  private readonly version: string;
  private readonly podUid: string | undefined;
  private readonly pool: RegionalDatabase['pool'];

  constructor({ database, workerId, version = 'unknown', ttlMs, podUid }: ShardLeasesOptions) {
    this.pool = database.pool;
    this.workerId = workerId;
    this.version = version;
    this.podUid = podUid;
    this.ttlMs = ttlMs;
  }

  /**
   * Makes the region's shards at its first start; from then on the table holds how many there are.
   * @param firstCount how many a region gets that has none yet; default: 8. More are added in the table alone
   * @returns how many there are
   */
  async ensureShards(firstCount = DEFAULT_SHARDS): Promise<number> {
    return transaction({ pool: this.pool }, async (connection) => {
      await LOCK_SHARDS.count(connection); // several workers may be the first
      const present = (await COUNT_SHARDS.first(connection))?.shards ?? 0;
      if (present > 0) return present;
      await ADD_SHARDS.count(connection, firstCount);
      return firstCount;
    });
  }

  /**
   * Takes shards that nobody owns or whose owner's time is over: up to `limit` of those that are spread, or all that an
   * operator placed here.
   */
  async claim(which: { limit: number } | 'placed here'): Promise<Fence[]> {
    const rows =
      which === 'placed here'
        ? await CLAIM_PLACED.all(this.pool, this.workerId, this.ttlMs, null)
        : await CLAIM_SPREAD.all(this.pool, this.workerId, this.ttlMs, which.limit);
    return rows.map(toFence);
  }

  /** Prolongs the leases that are still this worker's. @returns those; any other is lost */
  async renew(held: Fence[]): Promise<Fence[]> {
    const shards = held.map(({ shard }) => shard);
    const epochs = held.map(({ epoch }) => epoch);
    return (await RENEW.all(this.pool, this.workerId, this.ttlMs, shards, epochs)).map(toFence);
  }

  /**
   * Frees what workers still own that ran in this worker's pod before it: they are dead for certain. Without a pod: nothing.
   * @returns the shards
   */
  async freeThoseOfEarlierWorkers(): Promise<number[]> {
    return this.podUid === undefined ? [] : freeShardsOfEarlierWorkers(this.pool, this.podUid, this.workerId);
  }

  /** Gives a shard up. Call it once nothing is done for the shard any more. */
  async release({ shard, epoch }: Fence): Promise<void> {
    await RELEASE.count(this.pool, shard, epoch, this.workerId);
  }

  /** Records that this worker lives; a draining one takes no more shards and is not counted when they are spread. */
  async heartbeat(draining: boolean): Promise<void> {
    await HEARTBEAT.count(this.pool, this.workerId, this.ttlMs, draining, this.version, this.podUid ?? null);
  }

  /** Who takes shards, and what operators want where. */
  async fleet(): Promise<Fleet> {
    const row = await FLEET.first(this.pool);
    const placed = new Map(row?.placed);
    return { workerIds: row?.workers ?? [], placed, spreadCount: (row?.shards ?? 0) - placed.size };
  }

  /** The worker is gone for good, and what was placed on it is spread; rows of workers that died long ago go, too. */
  async deregister(): Promise<void> {
    await END_PLACEMENTS_ON.count(this.pool, this.workerId);
    await DELETE_WORKER.count(this.pool, this.workerId);
  }
}

/**
 * How many shards a worker should own when `shardCount` of them are spread evenly over the living workers. The shares
 * of all workers add up to `shardCount`, so every shard has a taker.
 */
export function fairShare(workerId: string, workerIds: string[], shardCount: number): number {
  const rank = workerIds.indexOf(workerId);
  if (rank === -1) return 0;
  const share = Math.floor(shardCount / workerIds.length);
  return share + (rank < shardCount % workerIds.length ? 1 : 0);
}
