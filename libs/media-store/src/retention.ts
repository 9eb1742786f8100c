/**
 * The sweep that deletes expired files and unused bytes. It reads dates in the database and works in small steps, each of
 * which may be repeated; concurrent sweeps skip each other's rows.
 */
import { defineStatement, transaction } from '@dormouse/database';
import { ABANDONED_WRITE_MS, deleteDoomed, doomUnused, lockObjects, type MediaStoreOptions } from './media-objects.js';

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

const OF_CHANNEL = defineStatement({
  name: 'media-of-channel',
  text: 'SELECT DISTINCT object_key FROM media_files WHERE channel_id = $1 AND object_key IS NOT NULL',
  parameters: ['text'],
  row: { object_key: 'text?' },
});

const FORGET_CHANNEL = defineStatement({
  name: 'media-forget-channel',
  text: 'DELETE FROM media_files WHERE channel_id = $1 AND (object_key = ANY($2) OR object_key IS NULL)',
  parameters: ['text', 'text[]'],
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

/** Ends every file of a channel that was deleted; the bytes are doomed. */
async function forgetChannelMedia(options: Options, channelId: string): Promise<void> {
  const { database, now = Date.now } = options;
  await transaction(database, async (connection) => {
    const used = await OF_CHANNEL.all(connection, channelId);
    const keys = used.flatMap(({ object_key: key }) => (key === null ? [] : [key]));
    await lockObjects(connection, keys);
    await FORGET_CHANNEL.count(connection, channelId, keys);
    await doomUnused(connection, keys, now());
  });
}

const DOOM_ALL = defineStatement({
  name: 'media-doom-all-of-channel',
  text: `UPDATE media_objects o SET doomed_at = $2 WHERE channel_id = $1 AND doomed_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM media_files f WHERE f.object_key = o.key)`,
  parameters: ['text', 'timestamptz'],
});

const DOOMED_OF_CHANNEL = defineStatement({
  name: 'media-doomed-of-channel',
  text: 'SELECT key FROM media_objects WHERE channel_id = $1 AND doomed_at IS NOT NULL LIMIT $2',
  parameters: ['text', 'int8'],
  row: { key: 'text' },
});

const FORGET_USAGE = defineStatement({
  name: 'media-forget-usage',
  text: 'DELETE FROM media_usage WHERE channel_id = $1',
  parameters: ['text'],
});

/**
 * Deletes everything that a deleted channel has here: files, bytes in the storage, and what says how many they are; bytes too
 * that no row names. May be repeated.
 * @throws when PostgreSQL or the storage fails, or the signal aborts; what is left is for the next call
 */
export async function purgeChannelMedia(options: Options, channelId: string, signal?: AbortSignal): Promise<void> {
  const { database, storage, now = Date.now } = options;
  await forgetChannelMedia(options, channelId);
  await DOOM_ALL.count(database.pool, channelId, new Date(now()));
  for (let step = BATCH; step === BATCH;) {
    const doomed = await DOOMED_OF_CHANNEL.all(database.pool, channelId, BATCH);
    await deleteDoomed(
      options,
      doomed.map(({ key }) => key),
    );
    step = doomed.length;
    signal?.throwIfAborted();
  }
  const unnamed: string[] = [];
  for await (const { key } of storage.list(`media/${channelId}/`)) unnamed.push(key);
  if (unnamed.length > 0) await storage.delete(unnamed);
  await FORGET_USAGE.count(database.pool, channelId);
}
