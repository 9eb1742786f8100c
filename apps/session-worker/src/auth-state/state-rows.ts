/** A session's whole state as rows: read to be sealed into a snapshot, dropped after that, and restored from one. */
import { hash } from 'node:crypto';
import {
  defineStatement,
  FENCE_CTE,
  FencedError,
  type Connection,
  type Fence,
  type RegionalDatabase,
} from '@dormouse/database';

/** The rows of a session as they are stored: everything sealed, the data key wrapped by a master key. */
export interface StateRows {
  creds: Buffer;
  keys: { type: string; id: string; sealed: Buffer }[];
  masterKeyId: string;
  wrappedKey: Buffer;
}

/** Condition on a channel `c`: its data key is wrapped by another master key than `$3`. */
export const HAS_FORMER_KEY =
  'EXISTS (SELECT 1 FROM channel_keys k WHERE k.channel_id = c.id AND k.master_key_id <> $3)';

const KEY = { type: 'text', id: 'text', sealed: 'bytea' } as const;

const CREDS_TO_SEAL = defineStatement({
  name: 'state-to-seal',
  text: `SELECT c.sealed, k.master_key_id, k.wrapped_key FROM auth_creds c
         JOIN channel_keys k USING (channel_id) WHERE c.channel_id = $1`,
  parameters: ['text'],
  row: { sealed: 'bytea', master_key_id: 'text', wrapped_key: 'bytea' },
});

const KEYS_TO_SEAL = defineStatement({
  name: 'keys-to-seal',
  text: 'SELECT type, id, sealed FROM auth_keys WHERE channel_id = $1 ORDER BY type, id',
  parameters: ['text'],
  row: KEY,
});

/** Of each deleted key its digest: the packed one alone has some 60 kB. */
const DROP_STATE = defineStatement({
  name: 'drop-state',
  text: `
WITH creds AS (DELETE FROM auth_creds WHERE channel_id = $1 RETURNING sealed),
  keys AS (DELETE FROM auth_keys WHERE channel_id = $1 RETURNING type, id, sealed),
  data_key AS (DELETE FROM channel_keys WHERE channel_id = $1)
SELECT NULL AS type, NULL AS id, sha256(sealed) AS digest FROM creds
UNION ALL SELECT type, id, sha256(sealed) FROM keys`,
  parameters: ['text'],
  row: { type: 'text?', id: 'text?', digest: 'bytea' },
});

/**
 * One statement, so that it is one commit and one round trip. Nothing is written where there is a state already, which has a
 * data key. Rows without one are newer than what is restored: a write that PostgreSQL committed after the state had moved away
 * left them, under the same data key. They stay. Of keys that were taken for removed then, what is restored comes back.
 */
const RESTORE = defineStatement({
  name: 'restore-state',
  text: `
WITH ${FENCE_CTE}, creds AS (
  INSERT INTO auth_creds AS former (channel_id, sealed, epoch) SELECT $3, $4, $2::int8 FROM fence
  ON CONFLICT (channel_id) DO UPDATE SET epoch = EXCLUDED.epoch
    WHERE NOT EXISTS (SELECT 1 FROM channel_keys k WHERE k.channel_id = former.channel_id)
  RETURNING channel_id, sealed
), keys AS (
  INSERT INTO auth_keys (channel_id, type, id, sealed, epoch)
  SELECT channel_id, type, id, given.sealed, $2::int8
  FROM creds, unnest($5::text[], $6::text[], $7::bytea[]) AS given(type, id, sealed)
  ON CONFLICT DO NOTHING RETURNING 1
), data_key AS (
  INSERT INTO channel_keys (channel_id, master_key_id, wrapped_key) SELECT channel_id, $8, $9 FROM creds
  ON CONFLICT (channel_id) DO UPDATE SET master_key_id = EXCLUDED.master_key_id, wrapped_key = EXCLUDED.wrapped_key
)
SELECT (SELECT count(*)::int FROM fence) AS fenced, (SELECT sealed FROM creds) AS creds,
  (SELECT count(*) FROM keys) < cardinality($5) OR EXISTS (SELECT 1 FROM auth_keys WHERE channel_id = $3) AS has_others`,
  parameters: ['int4', 'int8', 'text', 'bytea', 'text[]', 'text[]', 'bytea[]', 'text', 'bytea'],
  row: { fenced: 'int4', creds: 'bytea?', has_others: 'bool' },
});

/** The state of a channel; undefined when it has no rows. */
export async function readState(pool: RegionalDatabase['pool'], channelId: string): Promise<StateRows | undefined> {
  const [creds, keys] = await Promise.all([CREDS_TO_SEAL.first(pool, channelId), KEYS_TO_SEAL.all(pool, channelId)]);
  return creds && { creds: creds.sealed, keys, masterKeyId: creds.master_key_id, wrappedKey: creds.wrapped_key };
}

/**
 * Deletes the state of a channel, in the fenced transaction of its owner.
 * @returns false when it was not exactly these rows: the transaction must not commit then
 */
export async function dropState(connection: Connection, channelId: string, expected: StateRows): Promise<boolean> {
  const dropped = await DROP_STATE.all(connection, channelId);
  const digests = new Map(expected.keys.map(({ type, id, sealed }) => [placeOf(type, id), digestOf(sealed)]));
  digests.set(placeOf(null, null), digestOf(expected.creds));
  return (
    dropped.length === digests.size &&
    dropped.every(({ type, id, digest }) => digests.get(placeOf(type, id)) === digest.toString('hex'))
  );
}

const placeOf = (type: string | null, id: string | null): string => JSON.stringify([type, id]);
const digestOf = (sealed: Buffer): string => hash('sha256', sealed, 'hex');

/** What is stored after a state was restored. */
export interface RestoredRows {
  /** The credentials: those that were given, or newer ones. */
  readonly creds: Buffer;
  /** The keys that were given are all that are stored, each as it was given. */
  readonly isExact: boolean;
}

/**
 * Writes the state of a channel unless it has one, under the fence. Single rows that a late write has left stay.
 * @returns undefined when it was not written
 * @throws {FencedError} when the shard has a newer owner; nothing was written then
 */
export async function restoreState(
  { pool }: Pick<RegionalDatabase, 'pool'>,
  fence: Fence,
  channelId: string,
  { creds, keys, masterKeyId, wrappedKey }: StateRows,
): Promise<RestoredRows | undefined> {
  const row = await RESTORE.first(
    pool,
    ...([fence.shard, fence.epoch, channelId, creds] as const),
    keys.map(({ type }) => type),
    keys.map(({ id }) => id),
    keys.map(({ sealed }) => sealed),
    ...([masterKeyId, wrappedKey] as const),
  );
  if (row?.fenced !== 1) throw new FencedError(fence);
  return row.creds ? { creds: row.creds, isExact: !row.has_others } : undefined;
}

/** Deletes the state of a channel that was deleted and whose session has ended: no worker writes for it any more. */
export async function purgeState(pool: RegionalDatabase['pool'], channelId: string): Promise<void> {
  await DROP_STATE.count(pool, channelId);
}
