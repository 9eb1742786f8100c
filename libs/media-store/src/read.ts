/** What both the edge and the worker read of a channel's files. */
import { defineStatement } from '@dormouse/database';
import { isObjectFailure, type ByteRange, type StoredObject } from '@dormouse/object-storage';
import { FILE_COLUMNS, FILE_ROW, mediaFileOf, type MediaFile } from './media-file.js';
import { isDeleted, type MediaStoreOptions } from './media-objects.js';
import { SignedLinks } from './signed-links.js';
import { storageFailure } from './storage-failure.js';

export { downloadNameOf, newMediaId, type FileFacts, type MediaFile, type MediaOrigin } from './media-file.js';
export { FreshLinks, type AgedEvent } from './fresh-links.js';
export type { MediaStoreOptions } from './media-objects.js';
export { storageFailure, storedBytes } from './storage-failure.js';

/** Which uploaded files, in which order. Times are epoch seconds, inclusive. */
export interface MediaListQuery {
  count: number;
  offset: number;
  timeFrom?: number | undefined;
  timeTo?: number | undefined;
  sort: 'asc' | 'desc';
}

/** A file as GET /media lists it. */
export interface ListedFile {
  id: string;
  mime_type: string;
  file_size: number;
  /** Epoch seconds. */
  timestamp: number;
  /** Base64. */
  sha256: string;
  file_name?: string;
  link: string;
}

/** A file and the requested bytes. */
export interface OpenedFile {
  file: MediaFile;
  /** Its stream must be consumed or destroyed. */
  object: StoredObject;
}

const FILES = 'FROM media_files f JOIN media_objects o ON o.key = f.object_key';

const FILE = defineStatement({
  name: 'media-file',
  text: `SELECT ${FILE_COLUMNS} ${FILES} WHERE f.channel_id = $1 AND f.id = $2 AND f.expires_at > $3`,
  parameters: ['text', 'text', 'timestamptz'],
  row: FILE_ROW,
});

const FILES_BY_ID = defineStatement({
  name: 'media-files-by-id',
  text: `SELECT ${FILE_COLUMNS} ${FILES} WHERE f.channel_id = $1 AND f.id = ANY($2) AND f.expires_at > $3`,
  parameters: ['text', 'text[]', 'timestamptz'],
  row: FILE_ROW,
});

/** The uploaded files of `$1` that have not expired at `$2`, made from `$3` on and before `$4`, if that is given. */
const UPLOADED = `${FILES} WHERE f.channel_id = $1 AND f.origin = 'uploaded' AND f.expires_at > $2
  AND f.created_at >= $3 AND f.created_at < coalesce($4::timestamptz, 'infinity')`;

const COUNT_UPLOADED = defineStatement({
  name: 'media-count',
  text: `SELECT count(*) AS total ${UPLOADED}`,
  parameters: ['text', 'timestamptz', 'timestamptz', 'timestamptz?'],
  row: { total: 'int8' },
});

const listUploaded = (direction: 'ASC' | 'DESC') =>
  defineStatement({
    name: `media-list-${direction}`,
    text: `SELECT ${FILE_COLUMNS} ${UPLOADED}
           ORDER BY f.created_at ${direction}, f.id ${direction} LIMIT $5 OFFSET $6`,
    parameters: ['text', 'timestamptz', 'timestamptz', 'timestamptz?', 'int8', 'int8'],
    row: FILE_ROW,
  });

const LIST = { asc: listUploaded('ASC'), desc: listUploaded('DESC') };

const DAY_S = 24 * 60 * 60;

export class MediaReader {
  readonly #now: () => number;
  readonly #links: SignedLinks;
  /** How long links work, in seconds. */
  readonly linkTtlS: number;

  /** @param options.linkTtlS how long links work, in seconds; a day unless given, 7 days at most */
  constructor(private readonly options: Omit<MediaStoreOptions, 'retentionMs'> & { linkTtlS?: number }) {
    this.#now = options.now ?? Date.now;
    this.linkTtlS = options.linkTtlS ?? DAY_S;
    this.#links = new SignedLinks({ storage: options.storage, ttlS: this.linkTtlS, now: this.#now });
  }

  /** A file by its id; undefined when the channel has none, or it has expired. */
  async file(channelId: string, id: string): Promise<MediaFile | undefined> {
    const row = await FILE.first(this.options.database.pool, channelId, id, new Date(this.#now()));
    return row && mediaFileOf(row);
  }

  /** Whether the customer deleted this file of a received message, which the network could still give. */
  isDeleted(channelId: string, id: string): Promise<boolean> {
    return isDeleted({ database: this.options.database, now: this.#now }, channelId, id);
  }

  /** The uploaded files of a channel by time, and how many match before paging. */
  async list(channelId: string, query: MediaListQuery): Promise<{ files: ListedFile[]; total: number }> {
    const { pool } = this.options.database;
    const matching = [
      channelId,
      new Date(this.#now()),
      new Date((query.timeFrom ?? 0) * 1_000),
      // Inclusive to the second, while rows have milliseconds.
      query.timeTo === undefined ? null : new Date((Math.floor(query.timeTo) + 1) * 1_000),
    ] as const;
    const [counted, page] = await Promise.all([
      COUNT_UPLOADED.first(pool, ...matching),
      LIST[query.sort].all(pool, ...matching, query.count, query.offset),
    ]);
    const files = await Promise.all(page.map((row) => this.#listed(mediaFileOf(row))));
    return { files, total: Number(counted?.total ?? 0) };
  }

  async #listed(file: MediaFile): Promise<ListedFile> {
    return {
      id: file.id,
      mime_type: file.mimeType,
      file_size: file.size,
      timestamp: Math.floor(file.createdAtMs / 1_000),
      sha256: file.sha256.toString('base64'),
      ...(file.fileName !== undefined && { file_name: file.fileName }),
      link: await this.link(file),
    };
  }

  /**
   * Opens a file, or a part of it, for reading.
   * @returns undefined when the channel has no such file, or its bytes are gone
   * @throws {GatewayError} 502 when the storage is away; ObjectStorageError 'range' outside the file
   */
  async open(
    channelId: string,
    id: string,
    options: { range?: ByteRange; signal?: AbortSignal } = {},
  ): Promise<OpenedFile | undefined> {
    const file = await this.file(channelId, id);
    if (!file) return undefined;
    try {
      const object = await this.options.storage.get(file.objectKey, options);
      return { file, object };
    } catch (error) {
      if (isObjectFailure(error, 'missing')) return undefined;
      throw isObjectFailure(error, 'range') ? error : storageFailure(error);
    }
  }

  /** A link to the bytes that works without a token and expires. */
  link(file: Pick<MediaFile, 'id' | 'objectKey' | 'mimeType' | 'fileName'>): Promise<string> {
    return this.#links.of(file);
  }

  /** Links to those of the files that the channel has, by id. */
  async links(channelId: string, ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await FILES_BY_ID.all(this.options.database.pool, channelId, ids, new Date(this.#now()));
    const files = rows.map(mediaFileOf);
    return new Map(await Promise.all(files.map(async (file) => [file.id, await this.link(file)] as const)));
  }
}
