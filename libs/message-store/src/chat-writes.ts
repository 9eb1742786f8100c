import type { ChannelTransaction } from './channel-events.js';
import { chatType, mergeById, UPSERT_CONTACTS } from './message-writes.js';
import type { ChatRecord, ContactRecord } from './records.js';

/** Adds what became known of contacts; a later record in the list wins over an earlier one. */
export async function writeContacts(
  { connection, channelId }: ChannelTransaction,
  contacts: readonly ContactRecord[],
): Promise<void> {
  if (contacts.length === 0) return;
  await connection.query({
    name: 'write-contacts',
    text: UPSERT_CONTACTS.replace('$3', '$2'),
    values: [channelId, JSON.stringify(mergeById(contacts))],
  });
}

/** Adds what became known of chats. */
export async function writeChats(
  { connection, channelId }: ChannelTransaction,
  chats: readonly ChatRecord[],
): Promise<void> {
  if (chats.length === 0) return;
  const rows = mergeById(chats).map((chat) => ({ ...chat, type: chatType(chat.id) }));
  await connection.query({ name: 'write-chats', text: WRITE_CHATS, values: [channelId, JSON.stringify(rows)] });
}

const WRITE_CHATS = `
WITH r AS (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS r(id text, type text, name text, timestamp bigint, unread int,
    pinned boolean, archived boolean, "muteUntilMs" bigint)
), changed AS (
  UPDATE chats SET
    name = coalesce(r.name, chats.name),
    timestamp = greatest(r.timestamp, chats.timestamp),
    unread = coalesce(r.unread, chats.unread),
    pinned = coalesce(r.pinned, chats.pinned),
    archived = coalesce(r.archived, chats.archived),
    mute_until_ms = coalesce(r."muteUntilMs", chats.mute_until_ms)
  FROM r WHERE chats.channel_id = $1 AND chats.id = r.id
  RETURNING chats.id
)
INSERT INTO chats (channel_id, id, type, name, timestamp, unread, pinned, archived, mute_until_ms)
SELECT $1, r.id, r.type, r.name, coalesce(r.timestamp, 0), coalesce(r.unread, 0), coalesce(r.pinned, false),
  coalesce(r.archived, false), coalesce(r."muteUntilMs", 0)
FROM r WHERE r.id NOT IN (SELECT id FROM changed)`;
