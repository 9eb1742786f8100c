/**
 * Everything that a deleted channel has here goes, in steps of bounded size: a channel may have hundreds of thousands of files. Each
 * step may be repeated, and what is left when one fails is for the next call.
 */
import { defineStatement, transaction } from '@dormouse/database';
import type { ObjectStorage } from '@dormouse/object-storage';
import { deleteDoomed, doomUnused, lockObjects, type MediaStoreOptions } from './media-objects.js';

const FILES = defineStatement({
  name: 'media-files-to-purge',
  text: 'SELECT id, object_key FROM media_files WHERE channel_id = $1 ORDER BY id LIMIT $2',
  parameters: ['text', 'int8'],
  row: { id: 'text', object_key: 'text?' },
});

/** A file that has another object by now stays for the next step, which locks that one. */
const FORGET = defineStatement({
  name: 'media-purge-files',
  text: `DELETE FROM media_files WHERE channel_id = $1 AND id = ANY($2)
           AND (object_key = ANY($3) OR object_key IS NULL)`,
  parameters: ['text', 'text[]', 'text[]'],
});

const DOOM_UNNAMED = defineStatement({
  name: 'media-doom-unnamed-of-channel',
  text: `UPDATE media_objects SET doomed_at = $2 WHERE doomed_at IS NULL AND key IN (
             SELECT key FROM media_objects o WHERE channel_id = $1 AND doomed_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM media_files f WHERE f.object_key = o.key) LIMIT $3)`,
  parameters: ['text', 'timestamptz', 'int8'],
});

const DOOMED = defineStatement({
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

export type PurgeOptions = Pick<MediaStoreOptions, 'database' | 'storage' | 'now'> & {
  /** Rows or objects of one step. */
  readonly batch: number;
  /** Awaited after every full step; what it throws ends the purge. */
  readonly pause: () => Promise<void>;
};

/**
 * Deletes everything that a deleted channel has here: files, bytes in the storage, and what says how many they are; bytes too
 * that no row names. May be repeated, and ended anywhere.
 * @throws when PostgreSQL or the storage fails, or with what `pause` throws; what is left is for the next call
 */
export async function purgeChannelMedia(options: PurgeOptions, channelId: string): Promise<void> {
  const { database, storage, batch } = options;
  for (const step of [forgetFiles, doomUnnamed, deleteBytes]) {
    while ((await step(options, channelId)) >= batch) await options.pause();
  }
  await deleteLost(storage, `media/${channelId}/`, options);
  await FORGET_USAGE.count(database.pool, channelId);
}

/** Ends some files; their bytes are doomed unless others use them. @returns how many it found */
async function forgetFiles({ database, now = Date.now, batch }: PurgeOptions, channelId: string): Promise<number> {
  return transaction(database, async (connection) => {
    const files = await FILES.all(connection, channelId, batch);
    const keys = [...new Set(files.flatMap(({ object_key: key }) => key ?? []))];
    await lockObjects(connection, keys);
    const ids = files.map(({ id }) => id);
    await FORGET.count(connection, channelId, ids, keys);
    await doomUnused(connection, keys, now());
    return files.length;
  });
}

/** Dooms objects that no file uses, those that are being written included. */
function doomUnnamed({ database, now = Date.now, batch }: PurgeOptions, channelId: string): Promise<number> {
  return DOOM_UNNAMED.count(database.pool, channelId, new Date(now()), batch);
}

async function deleteBytes({ database, storage, batch }: PurgeOptions, channelId: string): Promise<number> {
  const doomed = await DOOMED.all(database.pool, channelId, batch);
  const keys = doomed.map(({ key }) => key);
  await deleteDoomed({ database, storage }, keys);
  return keys.length;
}

/** Deletes what lies in the storage though no row has named it. */
async function deleteLost(
  storage: ObjectStorage,
  prefix: string,
  { batch, pause }: Pick<PurgeOptions, 'batch' | 'pause'>,
): Promise<void> {
  let keys: string[] = [];
  for await (const { key } of storage.list(prefix, { pageSize: batch })) {
    keys.push(key);
    if (keys.length < batch) continue;
    await storage.delete(keys);
    keys = [];
    await pause();
  }
  if (keys.length > 0) await storage.delete(keys);
}
