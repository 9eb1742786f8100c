/** Statements that read and change single messages. */
import { defineStatement } from '@dormouse/database';
import { countsInChatSql, KEYED_MESSAGE_ROW, messageColumns } from './message-rows.js';

/** More sends than a channel has under way at once. */
const LOOKED_THROUGH = 500;

const KEYED_COLUMNS = `${messageColumns('m')}, m.key_id, m.key_remote, m.key_participant, m.proto`;

export const RECORD_READ = defineStatement({
  name: 'record-read',
  text: `
UPDATE chats SET unread = least(unread, (
  SELECT count(*)::int FROM messages later
  WHERE later.channel_id = $1 AND later.chat_id = r.chat_id AND NOT later.from_me
    AND ${countsInChatSql('later')} AND later.timestamp > r.last))
FROM (
  SELECT chat_id, max(timestamp) AS last FROM messages
  WHERE channel_id = $1 AND key_id = ANY ($2) AND NOT from_me GROUP BY chat_id
) r
WHERE chats.channel_id = $1 AND chats.id = r.chat_id`,
  parameters: ['text', 'text[]'],
});

export const TO_UPDATE = defineStatement({
  name: 'message-to-update',
  text: `SELECT ${KEYED_COLUMNS} FROM messages m WHERE m.channel_id = $1 AND m.id = $2 FOR UPDATE`,
  parameters: ['text', 'text'],
  row: KEYED_MESSAGE_ROW,
});

export const REMOVE = defineStatement({
  name: 'remove-messages',
  text: `UPDATE messages SET status = 'deleted'
         WHERE channel_id = $1 AND key_id = ANY ($2) AND type <> 'action' AND status IS DISTINCT FROM 'deleted'
         RETURNING id, chat_id`,
  parameters: ['text', 'text[]'],
  row: { id: 'text', chat_id: 'text' },
});

export const WITH_KEY = defineStatement({
  name: 'message-with-key',
  text: `SELECT ${KEYED_COLUMNS} FROM messages m WHERE m.channel_id = $1 AND m.id = $2`,
  parameters: ['text', 'text'],
  row: KEYED_MESSAGE_ROW,
});

export const IN_CHAT = defineStatement({
  name: 'message-in-chat',
  text: `SELECT ${KEYED_COLUMNS}
         FROM messages m WHERE m.channel_id = $1 AND m.key_id = $2 AND m.chat_id = $3 AND m.type <> 'action'`,
  parameters: ['text', 'text', 'text'],
  row: KEYED_MESSAGE_ROW,
});

export const PROTO = defineStatement({
  name: 'proto-by-key',
  text: 'SELECT proto FROM messages WHERE channel_id = $1 AND key_id = $2 AND from_me AND chat_id = ANY ($3)',
  parameters: ['text', 'text', 'text[]'],
  row: { proto: 'bytea?' },
});

export const PENDING_SENDS = defineStatement({
  name: 'pending-sends',
  text: `SELECT key_id FROM (
           SELECT key_id, status, source, timestamp FROM messages WHERE channel_id = $1 AND author = $2
           ORDER BY timestamp DESC, id DESC LIMIT ${LOOKED_THROUGH}
         ) m WHERE status = 'pending' AND source = 'api' AND timestamp <= $3`,
  parameters: ['text', 'text', 'int8'],
  row: { key_id: 'text' },
});

export const UNCONFIRMED_SEND = defineStatement({
  name: 'unconfirmed-send',
  text: `SELECT key_id FROM receipts WHERE channel_id = $1 AND key_id = $2 AND viewer_id = '' AND status = 'failed'
         AND errors @> $3::jsonb`,
  parameters: ['text', 'text', 'jsonb'],
  row: { key_id: 'text' },
});

export const CHANGE = defineStatement({
  name: 'change-message',
  text: 'UPDATE messages SET type = $3, status = $4, content = $5 WHERE channel_id = $1 AND id = $2',
  parameters: ['text', 'text', 'text', 'text?', 'jsonb'],
});
