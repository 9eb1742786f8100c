/**
 * The fence: a write made as the owner of a shard carries the epoch of that ownership and is refused once a newer
 * owner exists.
 *
 * How it holds: every fenced statement locks the shard's lease row FOR KEY SHARE where shard and epoch match. Taking a
 * shard over changes `epoch`, which is part of a unique key and therefore waits for those locks; so either the write
 * commits before the new owner begins, or it finds no row and changes nothing. Renewing a lease changes no key column
 * and passes beside the writers. With PostgreSQL away nothing is written at all.
 */
import type { Connection, Database } from './open-database.js';
import { defineStatement } from './statement.js';
import { transaction } from './transaction.js';

/** Under which ownership something is written. */
export interface Fence {
  readonly shard: number;
  /** The turn of ownership; grows with every change of owner. */
  readonly epoch: bigint;
}

/** The write came from an owner that has been replaced: close the sockets of the shard, write nothing more. */
export class FencedError extends Error {
  constructor(readonly fence: Fence) {
    super(`shard ${fence.shard} has a newer owner than epoch ${fence.epoch}`);
    this.name = 'FencedError';
  }
}

/**
 * The common table expression that single-statement writers put first. `$1` is the shard, `$2` the epoch; the
 * statement must select its rows `FROM fence` and return the count of `fence`, so that nothing is written without it.
 */
export const FENCE_CTE = 'fence AS (SELECT 1 FROM shard_leases WHERE shard = $1 AND epoch = $2 FOR KEY SHARE)';

/**
 * The same for writes of many channels in one statement: each row of the common table expression `given` names its `shard`
 * and `epoch`, and is joined with `fence` by both. It finds leases one by one, so that no plan walks through the table.
 */
export const FENCES_CTE = `fence AS (
  SELECT held.shard, held.epoch FROM (SELECT DISTINCT shard, epoch FROM given) held, LATERAL (
    SELECT 1 FROM shard_leases WHERE shard = held.shard AND epoch = held.epoch FOR KEY SHARE
  ) lease
)`;

const HOLD_FENCE = defineStatement({
  name: 'hold-fence',
  text: 'SELECT 1 AS held FROM shard_leases WHERE shard = $1 AND epoch = $2 FOR KEY SHARE',
  parameters: ['int4', 'int8'],
  row: { held: 'int4' },
});

/**
 * Runs `work` in a transaction that holds the fence until it ends.
 * @throws {FencedError} before `work` runs, if the epoch is not the newest.
 */
export async function fencedTransaction<T>(
  database: Pick<Database<unknown>, 'pool'>,
  fence: Fence,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return transaction(database, async (connection) => {
    if ((await HOLD_FENCE.count(connection, fence.shard, fence.epoch)) !== 1) throw new FencedError(fence);
    return work(connection);
  });
}
