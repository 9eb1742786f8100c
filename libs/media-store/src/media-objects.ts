/**
 * The bytes of a channel, once per content, and the files that use them. Guarantees:
 * - a file that can be found has its bytes: it is written only after they are stored, in a transaction that holds its
 *   object against being doomed;
 * - no bytes outlive their last file for long: the transaction that removes it dooms the object, and a doomed object
 *   is never used again, so deleting it from the storage can be repeated until it succeeds;
 * - a channel has no more bytes than `maxBytesPerChannel`, however many files arrive at once: the row that is written
 *   before the bytes takes their room in `media_usage`, under its lock, and dooming an object gives it back.
 * With PostgreSQL away nothing is written; with the object storage away no file appears and the sweep clears the rest.
 */
import { randomBytes } from 'node:crypto';
import { transaction, type Connection, type RegionalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type { SpooledFile } from '@dormouse/media-files';
import type { ObjectStorage } from '@dormouse/object-storage';
import { headerType, type FileFacts, type MediaOrigin } from './media-file.js';
import { storageFailure } from './storage-failure.js';

export interface MediaStoreOptions {
  database: RegionalDatabase;
  storage: ObjectStorage;
  /** How long a file is kept after it was last given. */
  retentionMs?: number;
  /** The most that a channel's files may take; absent: no bound. */
  maxBytesPerChannel?: number;
  now?: () => number;
}

export const DEFAULT_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000;

/** A write that has not ended by then never will; the storage may still complete a failed one until then. */
export const ABANDONED_WRITE_MS = 24 * 60 * 60 * 1_000;

/** The files of a channel take all the room that it has: nothing more is stored, what is sent with it included. */
export class StorageFull extends GatewayError {
  constructor(maxBytes: number) {
    super(413, {
      message: 'the storage of the channel is full',
      details:
        `media: the files of this channel may take ${maxBytes} bytes in all, and this one does not fit: ` +
        'delete files (DELETE /media/{MediaID}), or wait until some expire',
    });
    this.name = 'StorageFull';
  }
}

/** A file to be put down: under a new id, or under one that somebody derived from a message. */
export interface NewFile extends FileFacts {
  origin: MediaOrigin;
  id: string;
}

/** Serializes everything that decides which object holds this content of this channel. */
async function lockContent(connection: Connection, channelId: string, sha256: Buffer): Promise<void> {
  await connection.query({
    name: 'media-lock-content',
    text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 4))',
    values: [`${channelId} ${sha256.toString('hex')}`],
  });
}

/** The stored, living object with this content, held so that nobody dooms it before this transaction ends. */
export async function holdObject(
  connection: Connection,
  channelId: string,
  sha256: Buffer,
): Promise<string | undefined> {
  await lockContent(connection, channelId, sha256);
  const found = await connection.query<{ key: string }>({
    name: 'media-hold-object',
    text: `SELECT key FROM media_objects
           WHERE channel_id = $1 AND sha256 = $2 AND stored_at IS NOT NULL AND doomed_at IS NULL
           LIMIT 1 FOR UPDATE`,
    values: [channelId, sha256],
  });
  return found.rows[0]?.key;
}

/**
 * Locks objects before their files are touched: whoever changes files holds the object first, so that two never wait
 * for each other.
 */
export async function lockObjects(connection: Connection, keys: readonly string[]): Promise<void> {
  await connection.query({
    name: 'media-lock-objects',
    text: 'SELECT key FROM media_objects WHERE key = ANY($1) ORDER BY key FOR UPDATE',
    values: [keys],
  });
}

/** Dooms those of the locked objects that no file uses any more. */
export async function doomUnused(connection: Connection, keys: readonly string[], nowMs: number): Promise<string[]> {
  if (keys.length === 0) return [];
  const doomed = await connection.query<{ key: string }>({
    name: 'media-doom',
    text: `UPDATE media_objects o SET doomed_at = $2
           WHERE key = ANY($1) AND doomed_at IS NULL
             AND NOT EXISTS (SELECT 1 FROM media_files f WHERE f.object_key = o.key)
           RETURNING key`,
    values: [keys, new Date(nowMs)],
  });
  return doomed.rows.map((row) => row.key);
}

/** Deletes doomed bytes and forgets them. What the storage does not delete now, the next sweep tries again. */
export async function deleteDoomed(
  { database, storage }: Pick<MediaStoreOptions, 'database' | 'storage'>,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await storage.delete(keys);
  await database.pool.query({
    name: 'media-forget-objects',
    text: 'DELETE FROM media_objects WHERE key = ANY($1) AND doomed_at IS NOT NULL',
    values: [keys],
  });
}

/** Whether the customer deleted a file that could come again by itself. */
export async function isDeleted(
  { database, now = Date.now }: Pick<MediaStoreOptions, 'database' | 'now'>,
  channelId: string,
  id: string,
): Promise<boolean> {
  const found = await database.pool.query({
    name: 'media-is-deleted',
    text: 'SELECT 1 FROM media_files WHERE channel_id = $1 AND id = $2 AND object_key IS NULL AND expires_at > $3',
    values: [channelId, id, new Date(now())],
  });
  return found.rowCount === 1;
}

/**
 * Asks whether a channel has room for so many bytes, before they are fetched for nothing. The bound itself is held by
 * {@link withStoredBytes}.
 * @throws {StorageFull} when it has not
 */
export async function assertRoom(
  { database, maxBytesPerChannel = Number.MAX_SAFE_INTEGER }: MediaStoreOptions,
  channelId: string,
  bytes: number,
): Promise<void> {
  const found = await database.pool.query<{ bytes: string }>({
    name: 'media-usage',
    text: 'SELECT bytes FROM media_usage WHERE channel_id = $1',
    values: [channelId],
  });
  if (Number(found.rows[0]?.bytes ?? 0) + bytes > maxBytesPerChannel) throw new StorageFull(maxBytesPerChannel);
}

/** What a customer deleted does not come back. */
export function fileDeleted(): GatewayError {
  return new GatewayError(404, { details: 'the file was deleted' });
}

/**
 * Writes the row of a file whose object is held by this transaction. A file of the same id is replaced (its own object,
 * if it had another, is doomed when unused).
 * @throws {GatewayError} 404 when the customer deleted the file meanwhile
 */
export async function writeFile(
  connection: Connection,
  channelId: string,
  file: NewFile,
  objectKey: string,
  times: { nowMs: number; retentionMs: number },
): Promise<void> {
  const before = await connection.query<{ object_key: string | null }>({
    name: 'media-file-before',
    text: 'SELECT object_key FROM media_files WHERE channel_id = $1 AND id = $2 FOR UPDATE',
    values: [channelId, file.id],
  });
  const written = await connection.query({
    name: 'media-write-file',
    text: `INSERT INTO media_files (channel_id, id, origin, object_key, mime_type, file_name, created_at, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (channel_id, id) DO UPDATE
           SET object_key = excluded.object_key, mime_type = excluded.mime_type, file_name = excluded.file_name,
               expires_at = excluded.expires_at
           WHERE media_files.object_key IS NOT NULL`,
    values: [
      channelId,
      file.id,
      file.origin,
      objectKey,
      file.mimeType,
      file.fileName ?? null,
      new Date(times.nowMs),
      new Date(times.nowMs + times.retentionMs),
    ],
  });
  if (written.rowCount !== 1) throw fileDeleted();
  const replaced = before.rows[0]?.object_key ?? objectKey;
  if (replaced === objectKey) return;
  await lockObjects(connection, [replaced]);
  await doomUnused(connection, [replaced], times.nowMs);
}

/**
 * Takes the room of new bytes and writes their object's row, which comes before them: bytes without a row could never be
 * found again.
 * @throws {StorageFull} when the channel has no room for them
 */
async function beginObject(
  { database, now = Date.now, maxBytesPerChannel = Number.MAX_SAFE_INTEGER }: MediaStoreOptions,
  object: { key: string; channelId: string; sha256: Buffer; size: number },
): Promise<void> {
  const { key, channelId, sha256, size } = object;
  const begun = await database.pool.query({
    name: 'media-begin-object',
    // The first part locks the channel's sum, so that files that arrive at once pass here one by one.
    text: `WITH used AS (
             INSERT INTO media_usage AS known (channel_id, bytes) VALUES ($2, 0)
             ON CONFLICT (channel_id) DO UPDATE SET bytes = known.bytes RETURNING bytes)
           INSERT INTO media_objects (key, channel_id, sha256, size, created_at)
           SELECT $1, $2, $3, $4::bigint, $5 FROM used WHERE used.bytes + $4::bigint <= $6::bigint`,
    values: [key, channelId, sha256, size, new Date(now()), maxBytesPerChannel],
  });
  if (begun.rowCount !== 1) throw new StorageFull(maxBytesPerChannel);
}

/** Gives the room of a failed write back at once. Its bytes are deleted once the storage can no longer complete them. */
async function giveUpObject({ database, now = Date.now }: MediaStoreOptions, key: string): Promise<void> {
  await database.pool.query({
    name: 'media-give-up-object',
    text: 'UPDATE media_objects SET doomed_at = $2 WHERE key = $1 AND doomed_at IS NULL',
    values: [key, new Date(now() + ABANDONED_WRITE_MS)],
  });
}

/**
 * Stores the bytes of `file` unless this channel has them already, then runs `use` in the transaction that holds them.
 * @throws {GatewayError} 502 when the storage is away
 * @throws {StorageFull} when the channel has no room for them
 */
export async function withStoredBytes<T>(
  options: MediaStoreOptions,
  channelId: string,
  file: Pick<SpooledFile, 'size' | 'sha256' | 'read'> & { mimeType: string },
  use: (connection: Connection, objectKey: string) => Promise<T>,
): Promise<T> {
  const { database, storage, now = Date.now } = options;
  const { size, sha256 } = file;
  const present = await transaction(database, async (connection) => {
    const key = await holdObject(connection, channelId, sha256);
    return key === undefined ? undefined : { done: await use(connection, key) };
  });
  if (present) return present.done;

  const key = `media/${channelId}/${sha256.toString('hex')}/${randomBytes(8).toString('hex')}`;
  await beginObject(options, { key, channelId, sha256, size });
  try {
    await storage.put(key, () => file.read(), { size, contentType: headerType(file.mimeType) });
  } catch (error) {
    // With PostgreSQL away, too, the sweep finds it when its time has come.
    await giveUpObject(options, key).catch(() => undefined);
    throw storageFailure(error);
  }
  return transaction(database, async (connection) => {
    // Somebody may have stored the same content meanwhile: then that is used and ours is doomed.
    const other = await holdObject(connection, channelId, sha256);
    const done = await use(connection, other ?? key);
    // Last, because it may lock the channel's sum, and nothing else is waited for under that lock.
    const ended = await connection.query({
      name: 'media-end-object',
      text: 'UPDATE media_objects SET stored_at = $2, doomed_at = $3 WHERE key = $1 AND doomed_at IS NULL',
      values: [key, new Date(now()), other === undefined ? null : new Date(now())],
    });
    if (ended.rowCount !== 1) throw new Error('the write took so long that the sweep gave it up');
    return done;
  });
}
