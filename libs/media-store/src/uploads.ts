/** The edge's half: what customers give. Only the edge writes these. */
import { defineStatement, transaction, type Connection } from '@dormouse/database';
import type { TakenFile } from '@dormouse/media-files';
import { FILE_COLUMNS, FILE_ROW, mediaFileOf, newMediaId, type MediaFile } from './media-file.js';
import {
  DEFAULT_RETENTION_MS,
  deleteDoomed,
  doomUnused,
  lockObjects,
  withStoredBytes,
  writeFile,
  type MediaStoreOptions,
} from './media-objects.js';

export type { MediaFile, MediaOrigin } from './media-file.js';
export type { MediaStoreOptions } from './media-objects.js';

const WRITTEN = defineStatement({
  name: 'media-written',
  text: `SELECT ${FILE_COLUMNS} FROM media_files f JOIN media_objects o ON o.key = f.object_key
               WHERE f.channel_id = $1 AND f.id = $2`,
  parameters: ['text', 'text'],
  row: FILE_ROW,
});

const FIND = defineStatement({
  name: 'media-find-file',
  text: 'SELECT object_key FROM media_files WHERE channel_id = $1 AND id = $2 AND expires_at > $3',
  parameters: ['text', 'text', 'timestamptz'],
  row: { object_key: 'text?' },
});

const MARK_DELETED = defineStatement({
  name: 'media-mark-deleted',
  text: `INSERT INTO media_files (channel_id, id, origin, mime_type, created_at, expires_at)
               VALUES ($1, $2, 'received', '', $3, $4) ON CONFLICT DO NOTHING`,
  parameters: ['text', 'text', 'timestamptz', 'timestamptz'],
});

const DELETE_FOR_GOOD = defineStatement({
  name: 'media-delete-for-good',
  text: `UPDATE media_files SET object_key = NULL, file_name = NULL, expires_at = $4
                 WHERE channel_id = $1 AND id = $2 AND object_key = $3`,
  parameters: ['text', 'text', 'text', 'timestamptz'],
});

const DELETE = defineStatement({
  name: 'media-delete-file',
  text: 'DELETE FROM media_files WHERE channel_id = $1 AND id = $2 AND object_key = $3',
  parameters: ['text', 'text', 'text'],
});

export class MediaUploads {
  readonly #retentionMs: number;
  readonly #now: () => number;

  constructor(private readonly options: MediaStoreOptions) {
    this.#retentionMs = options.retentionMs ?? DEFAULT_RETENTION_MS;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Keeps a file that was taken in, under an id of its own. Bytes that this channel has already are not stored again.
   * @param origin 'uploaded' is listed by GET /media, 'sent' (given with a send) is not
   * @throws {GatewayError} 502 when the storage is away, 413 when the channel has no room for it; nothing is kept then
   */
  async keep(channelId: string, file: TakenFile, origin: 'uploaded' | 'sent'): Promise<MediaFile> {
    return withStoredBytes(this.options, channelId, file, async (connection, objectKey) => {
      const { mimeType, fileName } = file;
      const id = newMediaId(file.extension);
      const times = { nowMs: this.#now(), retentionMs: this.#retentionMs };
      await writeFile(connection, channelId, { id, origin, mimeType, fileName }, objectKey, times);
      const row = await WRITTEN.first(connection, channelId, id);
      if (!row) throw new Error('the file just written is not there');
      return mediaFileOf(row);
    });
  }

  /**
   * Deletes a file, and its bytes with the last file that uses them.
   * @param options.forGood it came with a message and could be fetched again: its id stays deleted while that is so
   * @returns false when the channel has no such file
   */
  async delete(channelId: string, id: string, options: { forGood?: boolean } = {}): Promise<boolean> {
    const { database } = this.options;
    for (;;) {
      const gone = await transaction(database, (connection) => this.#delete(connection, channelId, id, options));
      if (gone === 'changed') continue;
      // The file is gone for everybody; bytes the storage does not delete now are left to the sweep.
      await deleteDoomed(this.options, gone.doomed).catch(() => undefined);
      return gone.removed;
    }
  }

  /** @returns 'changed' when the file was written between its look-up and the deletion */
  async #delete(
    connection: Connection,
    channelId: string,
    id: string,
    { forGood = false }: { forGood?: boolean },
  ): Promise<{ removed: boolean; doomed: string[] } | 'changed'> {
    const nowMs = this.#now();
    const key = (await FIND.first(connection, channelId, id, new Date(nowMs)))?.object_key;
    if (key === null || (key === undefined && !forGood)) return { removed: false, doomed: [] };
    if (key === undefined) {
      const until = new Date(nowMs + this.#retentionMs);
      const marked = await MARK_DELETED.count(connection, channelId, id, new Date(nowMs), until);
      return marked === 1 ? { removed: true, doomed: [] } : 'changed';
    }
    await lockObjects(connection, [key]);
    const removed = forGood
      ? await DELETE_FOR_GOOD.count(connection, channelId, id, key, new Date(nowMs + this.#retentionMs))
      : await DELETE.count(connection, channelId, id, key);
    if (removed !== 1) return 'changed';
    return { removed: true, doomed: await doomUnused(connection, [key], nowMs) };
  }
}
