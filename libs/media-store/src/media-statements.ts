/** Statements on the bytes of channels and the files that use them; `media-objects.ts` describes what they guarantee. */
import { defineStatement } from '@dormouse/database';

export const LOCK_CONTENT = defineStatement({
  name: 'media-lock-content',
  text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 4))::text AS locked',
  parameters: ['text'],
  row: { locked: 'text' },
});

export const HOLD_OBJECT = defineStatement({
  name: 'media-hold-object',
  text: `SELECT key FROM media_objects
           WHERE channel_id = $1 AND sha256 = $2 AND stored_at IS NOT NULL AND doomed_at IS NULL
           LIMIT 1 FOR UPDATE`,
  parameters: ['text', 'bytea'],
  row: { key: 'text' },
});

export const LOCK_OBJECTS = defineStatement({
  name: 'media-lock-objects',
  text: 'SELECT key FROM media_objects WHERE key = ANY($1) ORDER BY key FOR UPDATE',
  parameters: ['text[]'],
  row: { key: 'text' },
});

export const DOOM = defineStatement({
  name: 'media-doom',
  text: `UPDATE media_objects o SET doomed_at = $2
           WHERE key = ANY($1) AND doomed_at IS NULL
             AND NOT EXISTS (SELECT 1 FROM media_files f WHERE f.object_key = o.key)
           RETURNING key`,
  parameters: ['text[]', 'timestamptz'],
  row: { key: 'text' },
});

export const FORGET_OBJECTS = defineStatement({
  name: 'media-forget-objects',
  text: 'DELETE FROM media_objects WHERE key = ANY($1) AND doomed_at IS NOT NULL',
  parameters: ['text[]'],
});

export const IS_DELETED = defineStatement({
  name: 'media-is-deleted',
  text: 'SELECT id FROM media_files WHERE channel_id = $1 AND id = $2 AND object_key IS NULL AND expires_at > $3',
  parameters: ['text', 'text', 'timestamptz'],
  row: { id: 'text' },
});

export const USAGE = defineStatement({
  name: 'media-usage',
  text: 'SELECT bytes FROM media_usage WHERE channel_id = $1',
  parameters: ['text'],
  row: { bytes: 'int8' },
});

export const FILE_BEFORE = defineStatement({
  name: 'media-file-before',
  text: 'SELECT object_key FROM media_files WHERE channel_id = $1 AND id = $2 FOR UPDATE',
  parameters: ['text', 'text'],
  row: { object_key: 'text?' },
});

export const WRITE_FILE = defineStatement({
  name: 'media-write-file',
  text: `INSERT INTO media_files (channel_id, id, origin, object_key, mime_type, file_name, created_at, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (channel_id, id) DO UPDATE
           SET object_key = excluded.object_key, mime_type = excluded.mime_type, file_name = excluded.file_name,
               expires_at = excluded.expires_at
           WHERE media_files.object_key IS NOT NULL`,
  parameters: ['text', 'text', 'text', 'text', 'text', 'text?', 'timestamptz', 'timestamptz'],
});

/** The first part locks the channel's sum, so that files that arrive at once pass here one by one. */
export const BEGIN_OBJECT = defineStatement({
  name: 'media-begin-object',
  text: `WITH used AS (
             INSERT INTO media_usage AS known (channel_id, bytes) VALUES ($2, 0)
             ON CONFLICT (channel_id) DO UPDATE SET bytes = known.bytes RETURNING bytes)
           INSERT INTO media_objects (key, channel_id, sha256, size, created_at)
           SELECT $1, $2, $3, $4::bigint, $5 FROM used WHERE used.bytes + $4::bigint <= $6::bigint`,
  parameters: ['text', 'text', 'bytea', 'int8', 'timestamptz', 'int8'],
});

export const GIVE_UP_OBJECT = defineStatement({
  name: 'media-give-up-object',
  text: 'UPDATE media_objects SET doomed_at = $2 WHERE key = $1 AND doomed_at IS NULL',
  parameters: ['text', 'timestamptz'],
});

export const END_OBJECT = defineStatement({
  name: 'media-end-object',
  text: 'UPDATE media_objects SET stored_at = $2, doomed_at = $3 WHERE key = $1 AND doomed_at IS NULL',
  parameters: ['text', 'timestamptz', 'timestamptz?'],
});
