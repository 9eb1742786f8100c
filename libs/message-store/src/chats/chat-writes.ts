import { defineStatement, storableJson } from '@dormouse/database';
import type { ChannelEvent, Chat, ContactShape } from '@dormouse/gateway-contract';
import type { ChannelTransaction } from '../events/channel-transaction.js';
import { chatNameSql, chatType } from './chat-names.js';
import { CHAT_COLUMNS, CHAT_ROW, toChat } from './chat-rows.js';
import { CONTACT_COLUMNS, CONTACT_ROW, toContact } from '../people/contact-rows.js';
import { countsInChatSql } from '../messages/message-rows.js';
import type { ChatRecord, ContactRecord } from '../records.js';
import { storableChat } from '../storable-records.js';

/** Was the timer of the record set after the one that is stored? */
const LATER = `(r.timer->>'setAtS')::bigint >= coalesce(chats.ephemeral_at, 0)`;

const WRITE_CHATS = defineStatement({
  name: 'write-chats',
  text: `
WITH r AS (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS r(id text, type text, name text, timestamp bigint, unread int,
    "readUntilS" bigint, "markedUnread" boolean, pinned boolean, archived boolean, "muteUntilMs" bigint, timer jsonb)
), changed AS (
  UPDATE chats SET
    name = coalesce(r.name, chats.name),
    timestamp = greatest(r.timestamp, chats.timestamp),
    unread = CASE WHEN r."markedUnread" THEN greatest(r.unread, chats.unread, 1)
      WHEN r."readUntilS" IS NOT NULL THEN least(chats.unread, (
        SELECT count(*)::int FROM messages later
        WHERE later.channel_id = $1 AND later.chat_id = r.id AND NOT later.from_me
          AND ${countsInChatSql('later')} AND later.timestamp > r."readUntilS"))
      ELSE coalesce(r.unread, chats.unread) END,
    pinned = coalesce(r.pinned, chats.pinned),
    archived = coalesce(r.archived, chats.archived),
    mute_until_ms = coalesce(r."muteUntilMs", chats.mute_until_ms),
    ephemeral_s = CASE WHEN ${LATER} THEN (r.timer->>'seconds')::int ELSE chats.ephemeral_s END,
    ephemeral_at = CASE WHEN ${LATER} THEN (r.timer->>'setAtS')::bigint ELSE chats.ephemeral_at END
  FROM r WHERE chats.channel_id = $1 AND chats.id = r.id
  RETURNING chats.id
)
INSERT INTO chats (channel_id, id, type, name, timestamp, unread, pinned, archived, mute_until_ms,
  ephemeral_s, ephemeral_at)
SELECT $1, r.id, r.type, r.name, coalesce(r.timestamp, 0),
  CASE WHEN r."markedUnread" THEN greatest(r.unread, 1) ELSE coalesce(r.unread, 0) END, coalesce(r.pinned, false),
  coalesce(r.archived, false), coalesce(r."muteUntilMs", 0),
  (r.timer->>'seconds')::int, (r.timer->>'setAtS')::bigint
FROM r WHERE r.id NOT IN (SELECT id FROM changed)`,
  parameters: ['text', 'jsonb'],
});

const WRITE_CONTACTS = defineStatement({
  name: 'write-contacts',
  text: `
INSERT INTO contacts AS known (channel_id, id, name, push_name, lid, business, about, picture, picture_full)
SELECT $1, c.id, c.name, c."pushName", c.lid, coalesce(c.business, false), c.about, c.picture,
  c."pictureFull"
FROM jsonb_to_recordset($2::jsonb) AS c(id text, name text, "pushName" text, lid text, business boolean, about text,
  picture text, "pictureFull" text)
ORDER BY c.id
ON CONFLICT (channel_id, id) DO UPDATE SET
  name = coalesce(excluded.name, known.name),
  push_name = coalesce(excluded.push_name, known.push_name),
  lid = coalesce(excluded.lid, known.lid),
  business = known.business OR excluded.business,
  about = coalesce(excluded.about, known.about),
  picture = coalesce(excluded.picture, known.picture),
  picture_full = coalesce(excluded.picture_full, known.picture_full)`,
  parameters: ['text', 'jsonb'],
});

const CHATS_BY_ID = defineStatement({
  name: 'chats-by-id',
  text: `SELECT ${CHAT_COLUMNS}, ${chatNameSql('chat')} AS shown_name
         FROM chats chat WHERE channel_id = $1 AND id = ANY ($2)`,
  parameters: ['text', 'text[]'],
  row: CHAT_ROW,
});

const CONTACTS_BY_ID = defineStatement({
  name: 'contacts-by-id',
  text: `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE channel_id = $1 AND id = ANY ($2)`,
  parameters: ['text', 'text[]'],
  row: CONTACT_ROW,
});

/** One record for each id, in the order of ids: an insert may not meet the same row twice. */
function mergeById<Item extends { id: string }>(records: readonly Item[]): Item[] {
  const merged = new Map<string, Item>();
  for (const record of records) merged.set(record.id, { ...merged.get(record.id), ...record });
  return [...merged.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Adds what became known of contacts; a later record in the list wins over an earlier one. */
export async function writeContacts(
  { connection, channelId }: ChannelTransaction,
  contacts: readonly ContactRecord[],
): Promise<void> {
  if (contacts.length === 0) return;
  await WRITE_CONTACTS.count(connection, channelId, storableJson(mergeById(contacts)));
}

/** Adds what became known of chats. */
export async function writeChats(
  { connection, channelId }: ChannelTransaction,
  chats: readonly ChatRecord[],
): Promise<void> {
  if (chats.length === 0) return;
  const rows = mergeById(chats.map(storableChat)).map((chat) => ({ ...chat, type: chatType(chat.id) }));
  await WRITE_CHATS.count(connection, channelId, storableJson(rows));
}

/** The chats as they are, without their last messages, by id. */
export async function chatsById(
  { connection, channelId }: ChannelTransaction,
  ids: readonly string[],
): Promise<Map<string, Chat>> {
  const rows = await CHATS_BY_ID.all(connection, channelId, ids);
  return new Map(rows.map((row) => [row.id, toChat(row, Date.now())]));
}

/** The contacts as they are, by id. */
export async function contactsById(
  { connection, channelId }: ChannelTransaction,
  ids: readonly string[],
): Promise<Map<string, ContactShape>> {
  const rows = await CONTACTS_BY_ID.all(connection, channelId, ids);
  return new Map(rows.map((row) => [row.id, toContact(row)]));
}

/** The event of a new chat has it whole, that of a changed one with what it was before. */
export function chatEvents(before: ReadonlyMap<string, Chat>, after: ReadonlyMap<string, Chat>): ChannelEvent[] {
  return [...after].flatMap(([id, chat]): ChannelEvent[] => {
    const was = before.get(id);
    if (!was) return [{ type: 'chats', method: 'post', payload: { chats: [chat] } }];
    const changes = differences(was, chat);
    if (changes.length === 0) return [];
    const update = { before_update: was, after_update: chat, changes };
    return [{ type: 'chats', method: 'patch', payload: { chats_updates: [update] } }];
  });
}

/** The event of a new or renamed contact has it whole, that of a changed one with what it was before. */
export function contactEvents(
  before: ReadonlyMap<string, ContactShape>,
  after: ReadonlyMap<string, ContactShape>,
): ChannelEvent[] {
  return [...after].flatMap(([id, contact]): ChannelEvent[] => {
    const was = before.get(id);
    const whole: ChannelEvent = { type: 'contacts', method: 'post', payload: { contacts: [contact] } };
    if (!was) return [whole];
    const changes = differences(was, contact);
    if (changes.length === 0) return [];
    const update = { before_update: was, after_update: contact, changes };
    const change: ChannelEvent = { type: 'contacts', method: 'patch', payload: { contacts_updates: [update] } };
    return was.name === contact.name ? [change] : [whole, change];
  });
}

/** Names of the fields in which two of a kind differ. */
function differences<Thing extends object>(before: Thing, after: Thing): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Thing & string)[];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
