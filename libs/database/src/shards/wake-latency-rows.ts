/** How long wakes took, counted by minute, worker and duration. */
import type { RegionalDatabase } from '../open-database.js';
import { defineStatement } from '../statement.js';

type Pool = RegionalDatabase['pool'];

/** Wakes of one minute that took about as long. */
export interface WakeCount {
  readonly minuteMs: number;
  /** The bound they are counted under, in milliseconds. */
  readonly upToMs: number;
  readonly wakes: number;
  readonly maxMs: number;
}

const ADD = defineStatement({
  name: 'add-wake-latencies',
  text: `INSERT INTO wake_latencies (minute, worker_id, up_to_ms, wakes, max_ms)
         SELECT to_timestamp(minute / 1000), $1, up_to_ms, wakes, max_ms
         FROM unnest($2::float8[], $3::int[], $4::int[], $5::int[]) AS counted(minute, up_to_ms, wakes, max_ms)
         ON CONFLICT (minute, worker_id, up_to_ms) DO UPDATE SET
           wakes = wake_latencies.wakes + EXCLUDED.wakes, max_ms = greatest(wake_latencies.max_ms, EXCLUDED.max_ms)`,
  parameters: ['text', 'float8[]', 'int4[]', 'int4[]', 'int4[]'],
});

const DELETE_OLD = defineStatement({
  name: 'delete-old-wake-latencies',
  text: "DELETE FROM wake_latencies WHERE minute < now() - interval '1 hour'",
  parameters: [],
});

const OF_WINDOW = defineStatement({
  name: 'figures-of-wakes',
  text: `SELECT up_to_ms, sum(wakes)::int AS wakes, max(max_ms)::int AS max_ms FROM wake_latencies
         WHERE minute > now() - $1::int * interval '1 second' GROUP BY up_to_ms ORDER BY up_to_ms`,
  parameters: ['int4'],
  row: { up_to_ms: 'int4', wakes: 'int4', max_ms: 'int4' },
});

const BY_MINUTE = defineStatement({
  name: 'wakes-by-minute',
  text: `SELECT minute, up_to_ms, sum(wakes)::int AS wakes, max(max_ms)::int AS max_ms FROM wake_latencies
         WHERE minute > now() - $1::int * interval '1 minute' GROUP BY minute, up_to_ms ORDER BY minute, up_to_ms`,
  parameters: ['int4'],
  row: { minute: 'timestamptz', up_to_ms: 'int4', wakes: 'int4', max_ms: 'int4' },
});

/** Adds to what is counted of a worker. */
export async function addWakeCounts(pool: Pool, workerId: string, counts: readonly WakeCount[]): Promise<void> {
  await ADD.count(
    pool,
    workerId,
    counts.map(({ minuteMs }) => minuteMs),
    counts.map(({ upToMs }) => upToMs),
    counts.map(({ wakes }) => wakes),
    counts.map(({ maxMs }) => maxMs),
  );
}

/** Deletes what is older than an hour. */
export async function deleteOldWakeCounts(pool: Pool): Promise<void> {
  await DELETE_OLD.count(pool);
}

/** Wakes of all workers in the last `windowS` seconds by the bound they are counted under, in ascending order. */
export async function wakeBuckets(
  pool: Pool,
  windowS: number,
): Promise<{ up_to_ms: number; wakes: number; max_ms: number }[]> {
  return OF_WINDOW.all(pool, windowS);
}

/** Wakes of all workers in the last minutes, by minute and by the bound they are counted under, in ascending order. */
export async function wakesByMinute(
  pool: Pool,
  minutes: number,
): Promise<{ minute: Date; up_to_ms: number; wakes: number; max_ms: number }[]> {
  return BY_MINUTE.all(pool, minutes);
}
