/**
 * The worker's half: files that came with messages, names of sent files by their message, and where the network holds
 * copies. Writes are not fenced, on purpose: they are true whichever worker makes them, and do not depend on ownership.
 */
import { defineStatement, transaction, type Connection } from '@dormouse/database';
import { readMimeType } from '@dormouse/gateway-contract';
import { extensionOf, type SpooledFile } from '@dormouse/media-files';
import { newMediaId, type FileFacts, type MediaOrigin } from './media-file.js';
import {
  assertRoom,
  DEFAULT_RETENTION_MS,
  fileDeleted,
  holdObject,
  isDeleted,
  withStoredBytes,
  writeFile,
  type MediaStoreOptions,
} from './media-objects.js';

export { StorageFull, type MediaStoreOptions } from './media-objects.js';

/** Where the network holds a prepared file, and what a message that points to it must contain. */
export interface NetworkCopy {
  directPath: string;
  url: string | undefined;
  mediaKey: Uint8Array;
  fileSha256: Uint8Array;
  fileEncSha256: Uint8Array;
  fileLength: number;
  /** What preparation found or made, as JSON; its reader checks the shape. */
  prepared: unknown;
  uploadedAtMs: number;
}

const END_FILES = defineStatement({
  name: 'media-end-files',
  text: `UPDATE media_files SET expires_at = $3
             WHERE channel_id = $1 AND id = ANY ($2) AND object_key IS NOT NULL AND expires_at > $3`,
  parameters: ['text', 'text[]', 'timestamptz'],
});

const COPY = defineStatement({
  name: 'media-copy',
  text: `SELECT direct_path, url, media_key, file_sha256, file_enc_sha256, file_length, prepared, uploaded_at
             FROM media_network_copies WHERE object_key = $1 AND variant = $2`,
  parameters: ['text', 'text'],
  row: {
    direct_path: 'text',
    url: 'text?',
    media_key: 'bytea',
    file_sha256: 'bytea',
    file_enc_sha256: 'bytea',
    file_length: 'int8',
    prepared: 'jsonb',
    uploaded_at: 'timestamptz',
  },
});

const REMEMBER_COPY = defineStatement({
  name: 'media-remember-copy',
  text: `INSERT INTO media_network_copies (object_key, variant, direct_path, url, media_key, file_sha256,
               file_enc_sha256, file_length, prepared, uploaded_at)
             SELECT key, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM media_objects WHERE key = $1
             ON CONFLICT (object_key, variant) DO UPDATE
             SET direct_path = excluded.direct_path, url = excluded.url, media_key = excluded.media_key,
                 file_sha256 = excluded.file_sha256, file_enc_sha256 = excluded.file_enc_sha256,
                 file_length = excluded.file_length, prepared = excluded.prepared, uploaded_at = excluded.uploaded_at`,
  parameters: ['text', 'text', 'text', 'text?', 'bytea', 'bytea', 'bytea', 'int8', 'jsonb', 'timestamptz'],
});

const FORGET_COPY = defineStatement({
  name: 'media-forget-copy',
  text: 'DELETE FROM media_network_copies WHERE object_key = $1 AND variant = $2',
  parameters: ['text', 'text'],
});

const TYPE_OF_OBJECT = defineStatement({
  name: 'media-type-of-object',
  text: 'SELECT mime_type FROM media_files WHERE object_key = $1 ORDER BY created_at, id LIMIT 1',
  parameters: ['text'],
  row: { mime_type: 'text' },
});

export class NetworkMedia {
  readonly #times: () => { nowMs: number; retentionMs: number };

  constructor(private readonly options: MediaStoreOptions) {
    const { now = Date.now, retentionMs = DEFAULT_RETENTION_MS } = options;
    this.#times = () => ({ nowMs: now(), retentionMs });
  }

  /**
   * Checks before a received file is fetched whether it may be stored.
   * @param bytes its announced size, 0 if there is none
   * @throws {GatewayError} 404 when the customer deleted this file: it is not to be fetched again
   * @throws {StorageFull} when the channel has no room for it
   */
  async assertMayKeep(channelId: string, id: string, bytes: number): Promise<void> {
    const room = assertRoom(this.options, channelId, bytes);
    const [deleted] = await Promise.all([isDeleted(this.options, channelId, id), room.catch(() => undefined)]);
    if (deleted) throw fileDeleted();
    await room;
  }

  /**
   * Keeps the bytes of a received message under the message's media id. Doing it again replaces nothing but the expiry.
   * @throws {GatewayError} 502 when the storage is away; 404 when the customer deleted the file; 413 without room for it
   */
  async keepReceived(
    channelId: string,
    id: string,
    file: SpooledFile,
    facts: FileFacts,
  ): Promise<{ objectKey: string }> {
    return withStoredBytes(this.options, channelId, { ...file, mimeType: facts.mimeType }, async (connection, key) => {
      await writeFile(connection, channelId, { ...facts, id, origin: 'received' }, key, this.#times());
      return { objectKey: key };
    });
  }

  /**
   * Keeps a file that was made of one of the channel's for a message, under an id of its own.
   * @returns its id
   * @throws {GatewayError} 502 when the storage is away; 413 without room for it
   */
  async keepMade(channelId: string, file: SpooledFile, facts: FileFacts): Promise<string> {
    const id = newMediaId(extensionOf(facts.mimeType));
    await withStoredBytes(this.options, channelId, { ...file, mimeType: facts.mimeType }, (connection, key) =>
      writeFile(connection, channelId, { ...facts, id, origin: 'sent' }, key, this.#times()),
    );
    return id;
  }

  /**
   * Gives content the channel already has one more id, without moving a byte: a received message whose hash is known,
   * or the message that carried a file given with a send. A received file has the type that was found in the bytes when
   * they were stored, whatever its sender claims.
   * @returns undefined when the channel has no such content
   */
  async nameKnown(
    channelId: string,
    id: string,
    sha256: Uint8Array,
    facts: FileFacts & { origin: Exclude<MediaOrigin, 'uploaded'> },
  ): Promise<{ objectKey: string } | undefined> {
    return transaction(this.options.database, async (connection) => {
      const objectKey = await holdObject(connection, channelId, Buffer.from(sha256));
      if (objectKey === undefined) return undefined;
      const mimeType = facts.origin === 'received' ? await typeOfObject(connection, objectKey) : undefined;
      const file = { ...facts, id, mimeType: mimeType ?? facts.mimeType };
      await writeFile(connection, channelId, file, objectKey, this.#times());
      return { objectKey };
    });
  }

  /**
   * Ends files in the caller's transaction, which removes the messages they came with: after its commit they are not
   * found any more, and the next sweep deletes them and bytes that no other file uses.
   */
  async endFiles(connection: Connection, channelId: string, ids: readonly string[]): Promise<void> {
    await END_FILES.count(connection, channelId, ids, new Date(this.#times().nowMs));
  }

  /** The network's copy of an object in one variant, however old. */
  async copy(objectKey: string, variant: string): Promise<NetworkCopy | undefined> {
    const row = await COPY.first(this.options.database.pool, objectKey, variant);
    return (
      row && {
        directPath: row.direct_path,
        url: row.url ?? undefined,
        mediaKey: row.media_key,
        fileSha256: row.file_sha256,
        fileEncSha256: row.file_enc_sha256,
        fileLength: Number(row.file_length),
        prepared: row.prepared,
        uploadedAtMs: row.uploaded_at.getTime(),
      }
    );
  }

  /** Remembers a copy in place of an earlier one. An object that was deleted meanwhile has none, which is fine. */
  async rememberCopy(objectKey: string, variant: string, copy: NetworkCopy): Promise<void> {
    await REMEMBER_COPY.count(
      this.options.database.pool,
      objectKey,
      variant,
      copy.directPath,
      copy.url ?? null,
      Buffer.from(copy.mediaKey),
      Buffer.from(copy.fileSha256),
      Buffer.from(copy.fileEncSha256),
      copy.fileLength,
      JSON.stringify(copy.prepared),
      new Date(copy.uploadedAtMs),
    );
  }

  /** Forgets every copy that points to a path the network no longer has. */
  async forgetCopy(objectKey: string, variant: string): Promise<void> {
    await FORGET_COPY.count(this.options.database.pool, objectKey, variant);
  }
}

/** The type its first file was given: by content, where content shows it. */
async function typeOfObject(connection: Connection, objectKey: string): Promise<string | undefined> {
  return readMimeType((await TYPE_OF_OBJECT.first(connection, objectKey))?.mime_type);
}
