import { randomBytes } from 'node:crypto';
import type { RowOfColumns } from '@dormouse/database';
import { readMimeType } from '@dormouse/gateway-contract';

/** The type, or that of bytes of any kind where it is one that no header can hold. */
export function headerType(mimeType: string): string {
  return readMimeType(mimeType) ?? 'application/octet-stream';
}

/** How a file came to a channel. Only uploaded ones are listed. */
export type MediaOrigin = 'uploaded' | 'sent' | 'received';

export interface FileFacts {
  mimeType: string;
  fileName?: string | undefined;
}

/** A file of a channel that has not expired. */
export interface MediaFile extends FileFacts {
  id: string;
  origin: MediaOrigin;
  /** Key of its bytes in the object storage; what travels between apps. */
  objectKey: string;
  size: number;
  sha256: Buffer;
  createdAtMs: number;
  expiresAtMs: number;
}

/** Columns of a {@link MediaFileRow}, for `FROM media_files f JOIN media_objects o ON o.key = f.object_key`. */
export const FILE_COLUMNS =
  'f.id, f.origin, o.key AS object_key, f.mime_type, f.file_name, o.size, o.sha256, f.created_at, f.expires_at';

export type MediaFileRow = RowOfColumns<typeof FILE_ROW>;

export const FILE_ROW = {
  id: 'text',
  origin: 'text',
  object_key: 'text',
  mime_type: 'text',
  file_name: 'text?',
  size: 'int8',
  sha256: 'bytea',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
} as const;

function originOf(text: string): MediaOrigin {
  return text === 'uploaded' || text === 'sent' ? text : 'received';
}

export function mediaFileOf(row: MediaFileRow): MediaFile {
  return {
    id: row.id,
    origin: originOf(row.origin),
    objectKey: row.object_key,
    // Rows from before types were checked may hold anything.
    mimeType: headerType(row.mime_type),
    ...(row.file_name !== null && { fileName: row.file_name }),
    size: Number(row.size),
    sha256: row.sha256,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
  };
}

/** A fresh id in the form `<extension>-<32 hex>-<14 hex>`; that of a received file has the same look. */
export function newMediaId(extension: string): string {
  return `${extension}-${randomBytes(16).toString('hex')}-${randomBytes(7).toString('hex')}`;
}

/** The name a file is saved under when it has none of its own. */
export function downloadNameOf(file: Pick<MediaFile, 'id' | 'fileName'>): string {
  const [extension = 'bin'] = file.id.split('-');
  return file.fileName ?? `${file.id.slice(extension.length + 1)}.${extension}`;
}
