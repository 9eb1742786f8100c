/**
 * The sweep that deletes expired files and unused bytes. It reads dates in the database and works in small steps, each of
 * which may be repeated; concurrent sweeps skip each other's rows.
 */
import { defineStatement, transaction } from '@dormouse/database';
import { ABANDONED_WRITE_MS, deleteDoomed, doomUnused, type MediaStoreOptions } from './media-objects.js';

export { purgeChannelMedia } from './purge-channel.js';

const BATCH = 500;

const HOLD_EXPIRED = defineStatement({
  name: 'media-hold-expired',
  text: `SELECT key FROM media_objects WHERE key IN (
               SELECT object_key FROM media_files
               WHERE expires_at <= $1 AND object_key IS NOT NULL ORDER BY expires_at LIMIT $2)
             FOR UPDATE SKIP LOCKED`,
  parameters: ['timestamptz', 'int8'],
  row: { key: 'text' },
});

const EXPIRE = defineStatement({
  name: 'media-expire',
  text: 'DELETE FROM media_files WHERE object_key = ANY($1) AND expires_at <= $2',
  parameters: ['text[]', 'timestamptz'],
});

const FORGET_DELETED = defineStatement({
  name: 'media-forget-deleted',
  text: 'DELETE FROM media_files WHERE object_key IS NULL AND expires_at <= $1',
  parameters: ['timestamptz'],
});

const DOOM_ABANDONED = defineStatement({
  name: 'media-doom-abandoned',
  text: `UPDATE media_objects SET doomed_at = $1
           WHERE doomed_at IS NULL AND stored_at IS NULL AND created_at < $2`,
  parameters: ['timestamptz', 'timestamptz'],
});

const DOOMED = defineStatement({
  name: 'media-doomed',
  text: 'SELECT key FROM media_objects WHERE doomed_at <= $2 ORDER BY doomed_at LIMIT $1',
  parameters: ['int8', 'timestamptz'],
  row: { key: 'text' },
});

export interface SweepResult {
  /** Files whose retention ended. */
  expiredFiles: number;
  /** Objects deleted from the storage. */
  deletedObjects: number;
}

type Options = Omit<MediaStoreOptions, 'retentionMs'>;

/** @returns how many files it removed; objects locked by other transactions are left to the next step or sweep */
async function expireBatch({ database, now = Date.now }: Options): Promise<number> {
  return transaction(database, async (connection) => {
    const held = await HOLD_EXPIRED.all(connection, new Date(now()), BATCH);
    const keys = held.map(({ key }) => key);
    const expired = await EXPIRE.count(connection, keys, new Date(now()));
    await doomUnused(connection, keys, now());
    return expired;
  });
}

/** Removes the rows of deleted files that could not be fetched again anyway. */
async function forgetDeleted({ database, now = Date.now }: Options): Promise<void> {
  await FORGET_DELETED.count(database.pool, new Date(now()));
}

async function doomAbandoned({ database, now = Date.now }: Options): Promise<void> {
  await DOOM_ABANDONED.count(database.pool, new Date(now()), new Date(now() - ABANDONED_WRITE_MS));
}

async function deleteBatch(options: Options): Promise<number> {
  const doomed = await DOOMED.all(options.database.pool, BATCH, new Date((options.now ?? Date.now)()));
  await deleteDoomed(
    options,
    doomed.map(({ key }) => key),
  );
  return doomed.length;
}

/**
 * Removes expired files and deletes bytes that no file uses any more, until none are left or the signal aborts.
 * @throws when PostgreSQL or the storage fails; what is left is for the next sweep
 */
export async function sweepMedia(options: Options, signal?: AbortSignal): Promise<SweepResult> {
  const result: SweepResult = { expiredFiles: 0, deletedObjects: 0 };
  for (let step = BATCH; step === BATCH && !signal?.aborted;) {
    step = await expireBatch(options);
    result.expiredFiles += step;
  }
  await forgetDeleted(options);
  await doomAbandoned(options);
  for (let step = BATCH; step === BATCH && !signal?.aborted;) {
    step = await deleteBatch(options);
    result.deletedObjects += step;
  }
  return result;
}
