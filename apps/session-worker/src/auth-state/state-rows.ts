/** A session's whole state as rows: read to be sealed into a snapshot, dropped after that, and restored from one. */
import { defineStatement, type Connection, type RegionalDatabase } from '@dormouse/database';

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

const DROP_CREDS = defineStatement({
  name: 'drop-creds',
  text: 'DELETE FROM auth_creds WHERE channel_id = $1 RETURNING sealed',
  parameters: ['text'],
  row: { sealed: 'bytea' },
});

const DROP_KEYS = defineStatement({
  name: 'drop-keys',
  text: 'DELETE FROM auth_keys WHERE channel_id = $1 RETURNING type, id, sealed',
  parameters: ['text'],
  row: KEY,
});

const DROP_DATA_KEY = defineStatement({
  name: 'drop-data-key',
  text: 'DELETE FROM channel_keys WHERE channel_id = $1',
  parameters: ['text'],
});

const RESTORE_CREDS = defineStatement({
  name: 'restore-creds',
  text: 'INSERT INTO auth_creds (channel_id, sealed, epoch) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
  parameters: ['text', 'bytea', 'int8'],
});

const RESTORE_KEYS = defineStatement({
  name: 'restore-keys',
  text: `INSERT INTO auth_keys (channel_id, type, id, sealed, epoch)
         SELECT $1, type, id, sealed, $5 FROM unnest($2::text[], $3::text[], $4::bytea[]) AS given(type, id, sealed)`,
  parameters: ['text', 'text[]', 'text[]', 'bytea[]', 'int8'],
});

const RESTORE_DATA_KEY = defineStatement({
  name: 'restore-data-key',
  text: `INSERT INTO channel_keys (channel_id, master_key_id, wrapped_key) VALUES ($1, $2, $3)
         ON CONFLICT (channel_id) DO UPDATE SET master_key_id = $2, wrapped_key = $3`,
  parameters: ['text', 'text', 'bytea'],
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
  const creds = await DROP_CREDS.first(connection, channelId);
  const keys = await DROP_KEYS.all(connection, channelId);
  await DROP_DATA_KEY.count(connection, channelId);
  const sealed = new Map(expected.keys.map((key) => [`${key.type} ${key.id}`, key.sealed]));
  return (
    creds?.sealed.equals(expected.creds) === true &&
    keys.length === expected.keys.length &&
    keys.every((key) => sealed.get(`${key.type} ${key.id}`)?.equals(key.sealed))
  );
}

/**
 * Writes the state of a channel unless it has rows, in the fenced transaction of its owner.
 * @returns whether it was written
 */
export async function restoreState(
  connection: Connection,
  channelId: string,
  { creds, keys, masterKeyId, wrappedKey }: StateRows,
  epoch: bigint,
): Promise<boolean> {
  if ((await RESTORE_CREDS.count(connection, channelId, creds, epoch)) !== 1) return false;
  await RESTORE_KEYS.count(
    connection,
    channelId,
    keys.map(({ type }) => type),
    keys.map(({ id }) => id),
    keys.map(({ sealed }) => sealed),
    epoch,
  );
  await RESTORE_DATA_KEY.count(connection, channelId, masterKeyId, wrappedKey);
  return true;
}

/** Deletes the state of a channel that was deleted and whose session has ended: no worker writes for it any more. */
export async function purgeState(pool: RegionalDatabase['pool'], channelId: string): Promise<void> {
  for (const statement of [DROP_CREDS, DROP_KEYS, DROP_DATA_KEY]) await statement.count(pool, channelId);
}
