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
import {
  BEGIN_OBJECT,
  DOOM,
  END_OBJECT,
  FILE_BEFORE,
  FORGET_OBJECTS,
  GIVE_UP_OBJECT,
  HOLD_OBJECT,
  IS_DELETED,
  LOCK_CONTENT,
  LOCK_OBJECTS,
  USAGE,
  WRITE_FILE,
} from './media-statements.js';
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

/** A file to be stored: under a new id, or under one derived from a message. */
export interface NewFile extends FileFacts {
  origin: MediaOrigin;
  id: string;
}

/** Serializes everything that decides which object holds this content of this channel. */
async function lockContent(connection: Connection, channelId: string, sha256: Buffer): Promise<void> {
  await LOCK_CONTENT.count(connection, `${channelId} ${sha256.toString('hex')}`);
}

/** The stored object with this content, not doomed and locked, so that it cannot be doomed before this transaction ends. */
export async function holdObject(
  connection: Connection,
  channelId: string,
  sha256: Buffer,
): Promise<string | undefined> {
  await lockContent(connection, channelId, sha256);
  return (await HOLD_OBJECT.first(connection, channelId, sha256))?.key;
}

/**
 * Locks objects before their files are touched: every change of files locks the object first, so that two never wait
 * for each other.
 */
export async function lockObjects(connection: Connection, keys: readonly string[]): Promise<void> {
  await LOCK_OBJECTS.count(connection, keys);
}

/** Dooms those of the locked objects that no file uses any more. */
export async function doomUnused(connection: Connection, keys: readonly string[], nowMs: number): Promise<string[]> {
  if (keys.length === 0) return [];
  return (await DOOM.all(connection, keys, new Date(nowMs))).map(({ key }) => key);
}

/** Deletes doomed bytes and forgets them. What the storage does not delete now, the next sweep tries again. */
export async function deleteDoomed(
  { database, storage }: Pick<MediaStoreOptions, 'database' | 'storage'>,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await storage.delete(keys);
  await FORGET_OBJECTS.count(database.pool, keys);
}

/** Whether the customer deleted a file that could come again by itself. */
export async function isDeleted(
  { database, now = Date.now }: Pick<MediaStoreOptions, 'database' | 'now'>,
  channelId: string,
  id: string,
): Promise<boolean> {
  return (await IS_DELETED.first(database.pool, channelId, id, new Date(now()))) !== undefined;
}

/**
 * Checks that a channel has room for these bytes, before they are fetched in vain. The limit itself is enforced by
 * {@link withStoredBytes}.
 * @throws {StorageFull} when it has not
 */
export async function assertRoom(
  { database, maxBytesPerChannel = Number.MAX_SAFE_INTEGER }: MediaStoreOptions,
  channelId: string,
  bytes: number,
): Promise<void> {
  const used = await USAGE.first(database.pool, channelId);
  if (Number(used?.bytes ?? 0) + bytes > maxBytesPerChannel) throw new StorageFull(maxBytesPerChannel);
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
  const before = await FILE_BEFORE.first(connection, channelId, file.id);
  const written = await WRITE_FILE.count(
    connection,
    channelId,
    file.id,
    file.origin,
    objectKey,
    file.mimeType,
    file.fileName ?? null,
    new Date(times.nowMs),
    new Date(times.nowMs + times.retentionMs),
  );
  if (written !== 1) throw fileDeleted();
  const replaced = before?.object_key ?? objectKey;
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
  const { pool } = database;
  const begun = await BEGIN_OBJECT.count(pool, key, channelId, sha256, size, new Date(now()), maxBytesPerChannel);
  if (begun !== 1) throw new StorageFull(maxBytesPerChannel);
}

/** Gives the room of a failed write back at once. Its bytes are deleted once the storage can no longer complete them. */
async function giveUpObject({ database, now = Date.now }: MediaStoreOptions, key: string): Promise<void> {
  await GIVE_UP_OBJECT.count(database.pool, key, new Date(now() + ABANDONED_WRITE_MS));
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
    // Another transaction may have stored the same content meanwhile: then that object is used and ours is doomed.
    const other = await holdObject(connection, channelId, sha256);
    const done = await use(connection, other ?? key);
    // Last, because it may lock the channel's sum, and nothing else is waited for under that lock.
    const at = new Date(now());
    const ended = await END_OBJECT.count(connection, key, at, other === undefined ? null : at);
    if (ended !== 1) throw new Error('the write took so long that the sweep gave it up');
    return done;
  });
}
