/** What a channel's record holds of its sleep: which snapshots hold its state, and when it is to be woken. */
import { defineStatement, type Connection, type RegionalDatabase } from '@dormouse/database';
import { needsReseal } from './settings-reseal.js';

type Pool = RegionalDatabase['pool'];

export const DUE_TO_WAKE = defineStatement({
  name: 'due-to-wake',
  text: `SELECT id FROM channels WHERE shard = ANY($1) AND wake_at <= now() AND session_state = 'hibernated'
           AND linked AND deleted_at IS NULL ORDER BY wake_at LIMIT $2`,
  parameters: ['int4[]', 'int8'],
  row: { id: 'text' },
});

const SNAPSHOTS = defineStatement({
  name: 'channel-snapshots',
  text: 'SELECT snapshots FROM channels WHERE id = $1',
  parameters: ['text'],
  row: { snapshots: 'jsonb' },
});

const LOCK_SNAPSHOTS = defineStatement({
  name: 'lock-snapshots',
  text: 'SELECT snapshots FROM channels WHERE id = $1 FOR UPDATE',
  parameters: ['text'],
  row: { snapshots: 'jsonb' },
});

const SET_SNAPSHOTS = defineStatement({
  name: 'set-snapshots',
  text: 'UPDATE channels SET snapshots = $2 WHERE id = $1',
  parameters: ['text', 'jsonb'],
});

const SET_WAKE = defineStatement({
  name: 'set-wake',
  text: 'UPDATE channels SET wake_at = $2 WHERE id = $1',
  parameters: ['text', 'timestamptz'],
});

const FORGET_SLEEP = defineStatement({
  name: 'forget-sleep',
  text: "UPDATE channels SET snapshots = '[]', wake_at = NULL WHERE id = $1",
  parameters: ['text'],
});

const FALL_ASLEEP = defineStatement({
  name: 'fall-asleep',
  text: `UPDATE channels SET snapshots = $2, wake_at = $3, session_state = 'hibernated', session_reason = NULL,
           session_since = now() WHERE id = $1`,
  parameters: ['text', 'jsonb', 'timestamptz'],
});

/** Sleeping channels of these shards whose time has come, by the database's clock, the most overdue first. */
export async function dueToWake(pool: Pool, shards: readonly number[], limit: number): Promise<string[]> {
  return (await DUE_TO_WAKE.all(pool, shards, limit)).map(({ id }) => id);
}

/** The channel's list of snapshots as its worker stored it; undefined when there is no such channel. */
export async function readSnapshots(pool: Pool, channelId: string): Promise<unknown> {
  return (await SNAPSHOTS.first(pool, channelId))?.snapshots;
}

/** The same, locked for the rest of a transaction. */
export async function lockSnapshots(connection: Connection, channelId: string): Promise<unknown> {
  return (await LOCK_SNAPSHOTS.first(connection, channelId))?.snapshots;
}

/** Replaces the channel's list of snapshots, in the fenced transaction of its owner. */
export async function setSnapshots(
  connection: Connection,
  channelId: string,
  snapshots: readonly object[],
): Promise<void> {
  await SET_SNAPSHOTS.count(connection, channelId, JSON.stringify(snapshots));
}

/** When the sleeping channel is to be woken by itself, in epoch milliseconds. */
export async function setWake(connection: Connection, channelId: string, wakeAtMs: number): Promise<void> {
  await SET_WAKE.count(connection, channelId, new Date(wakeAtMs));
}

/** The channel has no snapshots any more and is not to be woken. */
export async function forgetSleep(connection: Connection, channelId: string): Promise<void> {
  await FORGET_SLEEP.count(connection, channelId);
}

/** The channel's state is in these snapshots from now on: it sleeps. */
export async function fallAsleep(
  connection: Connection,
  channelId: string,
  { snapshots, wakeAtMs }: { snapshots: readonly object[]; wakeAtMs: number },
): Promise<void> {
  await FALL_ASLEEP.count(connection, channelId, JSON.stringify(snapshots), new Date(wakeAtMs));
}

/**
 * Declares the statement that finds channels with something under a former master key: in their snapshots, their settings,
 * or, as its caller alone knows, in its own tables.
 * @param hasFormerKey condition of the caller on a channel `c`, `$3` being the id of the current key
 */
export function defineFormerKeySearch(hasFormerKey: string) {
  return defineStatement({
    name: 'under-another-master-key',
    text: `SELECT c.id, c.shard FROM channels c
           WHERE c.shard = ANY($1) AND c.id > $2 AND (${hasFormerKey} OR EXISTS (
             SELECT 1 FROM jsonb_array_elements(c.snapshots) s WHERE s ->> 'masterKeyId' <> $3 AND NOT s ? 'damaged'
           ) OR ($5::text IS NOT NULL AND ${needsReseal('$5')})) ORDER BY c.id LIMIT $4`,
    parameters: ['int4[]', 'text', 'text', 'int8', 'text?'],
    row: { id: 'text', shard: 'int4' },
  });
}
