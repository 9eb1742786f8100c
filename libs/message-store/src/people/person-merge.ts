/**
 * One person is one chat and one contact, whichever of LID and number the network used. While a LID's number is unknown,
 * they are stored under `<digits>@lid`; here they move to the number, in the channel's transaction.
 */
import { defineStatement } from '@dormouse/database';
import type { ChannelEvent } from '@dormouse/gateway-contract';
import type { ChannelTransaction } from '../events/channel-transaction.js';
import { chatsById } from '../chats/chat-writes.js';
import type { PersonPair } from '../records.js';

/** The first condition is that of the index of the few messages in which a LID is named. */
const MESSAGES_NAMING = defineStatement({
  name: 'messages-naming',
  text: `
SELECT id, content FROM messages
WHERE channel_id = $1 AND content::text LIKE '%@lid"%' AND position($2 in content::text) > 0`,
  parameters: ['text', 'text'],
  row: { id: 'text', content: 'jsonb' },
});

const RENAME_IN_MESSAGES = defineStatement({
  name: 'rename-in-messages',
  text: `UPDATE messages SET content = r.content FROM jsonb_to_recordset($2::jsonb) AS r(id text, content jsonb)
         WHERE messages.channel_id = $1 AND messages.id = r.id`,
  parameters: ['text', 'jsonb'],
});

const MERGE_VIEWERS = defineStatement({
  name: 'merge-viewers',
  text: `
WITH moved AS (
  DELETE FROM receipts WHERE channel_id = $1 AND viewer_id = $2 AND viewer_id LIKE '%@lid' RETURNING *
)
INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp, errors)
SELECT channel_id, key_id, $3, status, timestamp, errors FROM moved ON CONFLICT DO NOTHING`,
  parameters: ['text', 'text', 'text'],
});

const MERGE_CONTACT = defineStatement({
  name: 'merge-contact',
  text: `
WITH stranger AS (DELETE FROM contacts WHERE channel_id = $1 AND id = $2 RETURNING *)
INSERT INTO contacts AS known (channel_id, id, name, push_name, lid, business, about, picture, picture_full,
  pictures_asked_at)
SELECT $1, $3, s.name, s.push_name, $4, coalesce(s.business, false), s.about, s.picture, s.picture_full,
  s.pictures_asked_at
FROM (VALUES (1)) AS once LEFT JOIN stranger s ON true
ON CONFLICT (channel_id, id) DO UPDATE SET
  name = coalesce(known.name, excluded.name),
  push_name = coalesce(known.push_name, excluded.push_name),
  lid = excluded.lid,
  business = known.business OR excluded.business,
  about = coalesce(known.about, excluded.about),
  picture = coalesce(known.picture, excluded.picture),
  picture_full = coalesce(known.picture_full, excluded.picture_full)`,
  parameters: ['text', 'text', 'text', 'text'],
});

const MERGE_AUTHORS = defineStatement({
  name: 'merge-authors',
  text: 'UPDATE messages SET author = $3 WHERE channel_id = $1 AND author = $2',
  parameters: ['text', 'text', 'text'],
});

const MERGE_MESSAGES = defineStatement({
  name: 'merge-messages',
  text: 'UPDATE messages SET chat_id = $3 WHERE channel_id = $1 AND chat_id = $2',
  parameters: ['text', 'text', 'text'],
});

const MERGE_COUNTS = defineStatement({
  name: 'merge-counts',
  text: `
WITH moved AS (DELETE FROM row_counts WHERE channel_id = $1 AND kind = 'messages' AND chat_id = $2 RETURNING *)
INSERT INTO row_counts AS known (channel_id, kind, chat_id, rows, system_rows)
SELECT $1, 'messages', $3, rows, system_rows FROM moved
ON CONFLICT (channel_id, kind, chat_id) DO UPDATE SET
  rows = known.rows + excluded.rows, system_rows = known.system_rows + excluded.system_rows`,
  parameters: ['text', 'text', 'text'],
});

const MERGE_CHAT = defineStatement({
  name: 'merge-chat',
  text: `
INSERT INTO chats AS known (channel_id, id, type, name, timestamp, unread, pinned, archived, mute_until_ms,
  last_message_id, ephemeral_s, ephemeral_at)
SELECT channel_id, $3, type, name, timestamp, unread, pinned, archived, mute_until_ms, last_message_id, ephemeral_s,
  ephemeral_at
FROM chats WHERE channel_id = $1 AND id = $2
ON CONFLICT (channel_id, id) DO UPDATE SET
  name = coalesce(known.name, excluded.name),
  unread = known.unread + excluded.unread,
  pinned = known.pinned OR excluded.pinned,
  archived = known.archived AND excluded.archived,
  mute_until_ms = greatest(known.mute_until_ms, excluded.mute_until_ms),
  ephemeral_s = CASE WHEN coalesce(known.ephemeral_at, 0) >= coalesce(excluded.ephemeral_at, 0)
    THEN known.ephemeral_s ELSE excluded.ephemeral_s END,
  ephemeral_at = greatest(known.ephemeral_at, excluded.ephemeral_at),
  last_message_id = CASE WHEN excluded.timestamp >= known.timestamp
    THEN coalesce(excluded.last_message_id, known.last_message_id) ELSE known.last_message_id END,
  timestamp = greatest(known.timestamp, excluded.timestamp)`,
  parameters: ['text', 'text', 'text'],
});

const DELETE_MERGED_CHAT = defineStatement({
  name: 'merge-chat-gone',
  text: 'DELETE FROM chats WHERE channel_id = $1 AND id = $2',
  parameters: ['text', 'text'],
});

/** @returns the events to append: the chat that moved, if there was one */
export async function mergePerson(transaction: ChannelTransaction, pair: PersonPair): Promise<ChannelEvent[]> {
  const { connection, channelId } = transaction;
  const lidId = `${pair.lid}@lid`;
  const chatId = `${pair.phone}@s.whatsapp.net`;
  await MERGE_CONTACT.count(connection, channelId, lidId, pair.phone, pair.lid);
  await MERGE_AUTHORS.count(connection, channelId, lidId, pair.phone);
  await MERGE_VIEWERS.count(connection, channelId, lidId, pair.phone);
  await renameInMessages(transaction, lidId, pair.phone);
  const chats = await chatsById(transaction, [lidId, chatId]);
  const before = chats.get(lidId);
  if (!before) return [];
  await MERGE_MESSAGES.count(connection, channelId, lidId, chatId);
  await MERGE_COUNTS.count(connection, channelId, lidId, chatId);
  await MERGE_CHAT.count(connection, channelId, lidId, chatId);
  await DELETE_MERGED_CHAT.count(connection, channelId, lidId);
  const after = (await chatsById(transaction, [chatId])).get(chatId);
  if (!after) return [];
  const changes = ['id'];
  return [
    {
      type: 'chats',
      method: 'patch',
      payload: { chats_updates: [{ before_update: before, after_update: after, changes }] },
    },
  ];
}

/** Fields of a message's content that hold contact ids. */
const PERSON_FIELDS: ReadonlySet<string> = new Set([
  'mentions',
  'quoted_author',
  'author',
  'voters',
  'participant',
  'seller',
  'catalog_id',
]);

/** Messages that mention or quote the person, or that the person reacted to or voted in. */
async function renameInMessages(
  { connection, channelId }: ChannelTransaction,
  from: string,
  to: string,
): Promise<void> {
  const rows = await MESSAGES_NAMING.all(connection, channelId, JSON.stringify(from));
  if (rows.length === 0) return;
  const renamed = rows.map(({ id, content }) => ({ id, content: withRenamed(content, from, to) }));
  await RENAME_IN_MESSAGES.count(connection, channelId, JSON.stringify(renamed));
}

/** The content with the person under the other id, in the fields that hold contact ids and where texts name it (`@<id>`). */
function withRenamed(value: unknown, from: string, to: string): unknown {
  if (typeof value === 'string') return value.replaceAll(`@${from}`, `@${to}`);
  if (Array.isArray(value)) return value.map((entry) => withRenamed(entry, from, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, content]: [string, unknown]) => {
      if (!PERSON_FIELDS.has(field)) return [field, withRenamed(content, from, to)];
      if (Array.isArray(content)) return [field, content.map((id: unknown) => (id === from ? to : id))];
      return [field, content === from ? to : content];
    }),
  );
}
