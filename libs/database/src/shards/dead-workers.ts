/**
 * Frees the shards of a worker before its leases end, because it is certain that its process is dead.
 *
 * What it needs from its caller: the proof. A lease that was not renewed proves nothing before its end, and neither does a
 * connection that has closed: a cut network looks the same, and behind it the worker still holds its sockets. The two
 * callers that have a proof are described in `apps/session-worker/src/shards/death-watch.ts`.
 *
 * What it guarantees: only leases of that worker are freed. Epochs stay: the next owner's claim raises them and waits for
 * what the dead worker had sent under the fence, as after any hand-off. With PostgreSQL away nothing is freed, and the
 * leases end by themselves.
 */
import pg from 'pg';
import type { RegionalDatabase } from '../open-database.js';
import { retryWhileAway } from '../retry-while-away.js';
import { defineStatement } from '../statement.js';

const CONNECT_WITHIN_MS = 2_000;
const ANSWER_WITHIN_MS = 2_000;

/** Frees what these workers own, and counts them no longer as living. */
const freeing = (dead: string): string => `
WITH dead AS (UPDATE workers SET expires_at = least(expires_at, now()) WHERE ${dead} RETURNING id)
UPDATE shard_leases SET owner_id = NULL, expires_at = NULL WHERE owner_id IN (SELECT id FROM dead)
RETURNING shard`;

const FREE_OF_WORKER = defineStatement({
  name: 'free-shards-of-dead-worker',
  text: freeing('id = $1'),
  parameters: ['text'],
  row: { shard: 'int4' },
});

const FREE_OF_POD = defineStatement({
  name: 'free-shards-of-earlier-worker',
  text: freeing('pod_uid = $1 AND id <> $2'),
  parameters: ['text', 'text'],
  row: { shard: 'int4' },
});

const inOrder = (rows: { shard: number }[]): number[] => rows.map(({ shard }) => shard).sort((a, b) => a - b);

/**
 * Frees the shards of a worker whose process is dead, on a connection of its own, and tries again while PostgreSQL is away.
 * @param url of the regional database
 * @param withinMs how long it is tried: after that the leases have ended
 * @returns the shards that it still owned
 * @throws the driver's errors
 */
export async function freeShardsOfDeadWorker(url: string, workerId: string, withinMs: number): Promise<number[]> {
  const startedMs = performance.now();
  return retryWhileAway(() => freeOnce(url, workerId), {
    firstPauseMs: 100,
    longestPauseMs: 1_000,
    mayRetry: (pauseMs, error) => !isNoDatabase(error) && performance.now() - startedMs + pauseMs < withinMs,
  });
}

/** A database that was dropped has no leases any more. */
const isNoDatabase = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '3D000';

async function freeOnce(url: string, workerId: string): Promise<number[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'session-worker death watch',
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
  });
  client.on('error', () => undefined); // it fails the query, or comes after it
  try {
    await client.connect();
    return inOrder(await FREE_OF_WORKER.all(client, workerId));
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Frees the shards of the workers that ran in a pod before this one.
 * @param podUid of the pod that `workerId` runs in; Kubernetes runs one container of a name in it at a time
 * @returns the shards that they still owned
 * @throws the driver's errors
 */
export async function freeShardsOfEarlierWorkers(
  pool: RegionalDatabase['pool'],
  podUid: string,
  workerId: string,
): Promise<number[]> {
  return inOrder(await FREE_OF_POD.all(pool, podUid, workerId));
}
