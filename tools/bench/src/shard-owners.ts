import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

const POLL_MS = 50;

/** Who owns the shards of a region. */
export interface Owners {
  /** Sum of the epochs of all shards: grows by one with each change of an owner. */
  changes: number;
  /** How many shards each living owner has. */
  sizes: number[];
}

export async function ownersIn(database: pg.Client): Promise<Owners> {
  const { rows } = await database.query<{ changes: string; owned: string }>(
    `SELECT (SELECT sum(epoch) FROM shard_leases) AS changes, count(*) AS owned FROM shard_leases
     WHERE expires_at > now() GROUP BY owner_id`,
  );
  return { changes: Number(rows[0]?.changes ?? 0), sizes: rows.map(({ owned }) => Number(owned)) };
}

/** Waits until that many workers have equal shares of the shards. */
export async function untilShared(database: pg.Client, workers: number): Promise<Owners> {
  for (;;) {
    const owners = await ownersIn(database);
    if (owners.sizes.length === workers && Math.max(...owners.sizes) - Math.min(...owners.sizes) <= 1) return owners;
    await delay(POLL_MS);
  }
}
