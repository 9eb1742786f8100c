import { defineStatement, storableJson } from '@dormouse/database';
import type { Chat, Message } from '@dormouse/gateway-contract';
import type { ChannelTransaction } from '../events/channel-transaction.js';
import { contactIdSql, MESSAGE_ROW, toInsert, toMessage } from './message-rows.js';
import type { ContactRecord, MessageRecord } from '../records.js';

/** Reactions, edits and votes are messages of the list, but not what a chat shows as its last one or counts as unread. */
function countsInChat({ type }: Message): boolean {
  return type !== 'action' && type !== 'system';
}

/**
 * Inserts the messages that are not there yet (by public id, or by the network's key under any of its forms), with the
 * first step of own ones and what their authors call themselves.
 * @returns the public ids that were inserted
 */
export async function insertMessages(
  { connection, channelId }: ChannelTransaction,
  records: readonly MessageRecord[],
  contacts: readonly ContactRecord[],
): Promise<Set<string>> {
  const rows = await INSERT_MESSAGES.all(
    connection,
    channelId,
    storableJson(records.map(toInsert)),
    storableJson(mergeById(contacts)),
  );
  return new Set(rows.map(({ id }) => id));
}

/** One record for each id, in the order of ids: an insert may not meet the same row twice. */
export function mergeById<Item extends { id: string }>(records: readonly Item[]): Item[] {
  const merged = new Map<string, Item>();
  for (const record of records) merged.set(record.id, { ...merged.get(record.id), ...record });
  return [...merged.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** `$1` the channel, `$3` the contacts as a JSON array. */
export const UPSERT_CONTACTS = `
INSERT INTO contacts (channel_id, id, name, push_name, lid)
SELECT $1, c.id, c.name, c."pushName", c.lid
FROM jsonb_to_recordset($3::jsonb) AS c(id text, name text, "pushName" text, lid text)
ORDER BY c.id
ON CONFLICT (channel_id, id) DO UPDATE SET
  name = coalesce(excluded.name, contacts.name),
  push_name = coalesce(excluded.push_name, contacts.push_name),
  lid = coalesce(excluded.lid, contacts.lid)
WHERE (coalesce(excluded.name, contacts.name), coalesce(excluded.push_name, contacts.push_name),
  coalesce(excluded.lid, contacts.lid)) IS DISTINCT FROM (contacts.name, contacts.push_name, contacts.lid)`;

/** Asks for each message by itself whether it is known: as a join it could be planned to walk through the channel. */
const INSERT_MESSAGES = defineStatement({
  name: 'insert-messages',
  text: `
WITH record AS (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS r(id text, chat_id text, key_id text, key_remote text,
    key_participant text, aliases text[], from_me boolean, author text, author_name text, type text, source text,
    timestamp bigint, device_id int, status text, content jsonb, proto text)
), named AS (${UPSERT_CONTACTS}), inserted AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name,
    type, source, timestamp, device_id, status, content, proto)
  SELECT $1, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name, type, source, timestamp,
    device_id, status, content, decode(proto, 'base64')
  FROM record
  WHERE (
    SELECT true FROM messages known
    WHERE known.channel_id = $1 AND known.key_id = record.key_id AND known.from_me = record.from_me
      AND known.key_remote = ANY (record.aliases)
      AND (known.key_participant IS NULL OR known.key_participant = ANY (record.aliases))
    LIMIT 1
  ) IS NULL
  ON CONFLICT (channel_id, id) DO NOTHING
  RETURNING id, key_id, from_me, status, timestamp
), step AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT $1, key_id, '', status, timestamp FROM inserted WHERE from_me AND status IS NOT NULL
  ON CONFLICT DO NOTHING
)
SELECT id FROM inserted`,
  parameters: ['text', 'jsonb', 'jsonb'],
  row: { id: 'text' },
});

/**
 * Makes the chats of new messages, or moves them up: last activity, last message, unread.
 * @param live false for history, which says by itself what is unread
 * @returns the name of each chat that was saved under one, and the chats that were not there before
 */
export async function touchChats(
  { connection, channelId }: ChannelTransaction,
  messages: readonly Message[],
  live: boolean,
): Promise<{ names: Map<string, string>; made: Chat[] }> {
  const touched = touchedChats(messages);
  const given = storableJson(touched.map((chat) => (live ? chat : { ...chat, unread: 0 })));
  const rows = await TOUCH_CHATS.all(connection, channelId, given);
  const read = touched.filter(({ answered }) => answered);
  if (live && read.length > 0) {
    await ANSWERED_CHATS.count(connection, channelId, storableJson(read));
  }
  const names = new Map(rows.flatMap(({ id, saved_name: name }) => (name === null ? [] : [[id, name]])));
  const made = new Map(rows.filter((row) => row.made).map((row) => [row.id, row.saved_name ?? row.push_name]));
  const newOnes = touched.filter(({ id }) => made.has(id));
  return { names, made: newOnes.map((chat) => newChat(chat, made.get(chat.id) ?? undefined)) };
}

function newChat({ id, type, timestamp, unread }: TouchedChat, name: string | undefined): Chat {
  return { id, ...(name !== undefined && { name }), type, timestamp, unread, not_spam: true };
}

interface TouchedChat {
  id: string;
  type: Chat['type'];
  timestamp: number;
  unread: number;
  last_message_id: string | null;
  /** Somebody wrote from the phone or another device: what came before has been seen. */
  answered: boolean;
}

function touchedChats(messages: readonly Message[]): TouchedChat[] {
  const chats = new Map<string, TouchedChat>();
  for (const message of messages) {
    const { id, chat_id: chatId, timestamp, from_me: fromMe, source } = message;
    const chat = chats.get(chatId) ?? {
      id: chatId,
      type: chatType(chatId),
      timestamp,
      unread: 0,
      last_message_id: null,
      answered: false,
    };
    chats.set(chatId, chat);
    if (!countsInChat(message)) continue;
    if (chat.last_message_id === null || timestamp >= chat.timestamp) {
      chat.timestamp = timestamp;
      chat.last_message_id = id;
    }
    if (!fromMe) chat.unread += 1;
    else if (source !== 'api') Object.assign(chat, { unread: 0, answered: true });
  }
  return [...chats.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The kind of a chat, by the server part of its id. */
export function chatType(chatId: string): Chat['type'] {
  const types: Record<string, Chat['type']> = {
    's.whatsapp.net': 'contact',
    lid: 'contact',
    'g.us': 'group',
    broadcast: 'broadcast',
    newsletter: 'newsletter',
  };
  return types[chatId.slice(chatId.lastIndexOf('@') + 1)] ?? 'unknown';
}

/**
 * The name under which the owner has saved a chat, of the table or alias given: that of the group it is, its own, or
 * the contact's in the address book. Events name chats by it alone: receivers take a name for the mark of a chat that
 * the owner knows, which what a stranger calls himself is not.
 */
export function savedChatNameSql(chats: string): string {
  return `coalesce((SELECT g.facts ->> 'name' FROM groups g WHERE g.channel_id = ${chats}.channel_id
      AND g.id = ${chats}.id), ${chats}.name, ${contactNameSql(chats, 'name')})`;
}

/** The name of a chat as lists show it: without a saved one, what the other calls himself. */
export function chatNameSql(chats: string): string {
  return `coalesce(${savedChatNameSql(chats)}, ${contactNameSql(chats, 'push_name')})`;
}

function contactNameSql(chats: string, column: 'name' | 'push_name'): string {
  return `(SELECT k.${column} FROM contacts k
    WHERE k.channel_id = ${chats}.channel_id AND k.id = ${contactIdSql(`${chats}.id`)})`;
}

const TOUCH_CHATS = defineStatement({
  name: 'touch-chats',
  text: `
INSERT INTO chats (channel_id, id, type, timestamp, unread, last_message_id)
SELECT $1, r.id, r.type, r.timestamp, r.unread, r.last_message_id
FROM jsonb_to_recordset($2::jsonb) AS r(id text, type text, timestamp bigint, unread int, last_message_id text)
ON CONFLICT (channel_id, id) DO UPDATE SET
  unread = chats.unread + excluded.unread,
  last_message_id = CASE
    WHEN chats.last_message_id IS NULL OR excluded.timestamp >= chats.timestamp
    THEN coalesce(excluded.last_message_id, chats.last_message_id) ELSE chats.last_message_id END,
  timestamp = CASE WHEN excluded.last_message_id IS NULL THEN chats.timestamp
    ELSE greatest(chats.timestamp, excluded.timestamp) END
RETURNING id, ${savedChatNameSql('chats')} AS saved_name, ${contactNameSql('chats', 'push_name')} AS push_name,
  xmax = 0 AS made`,
  parameters: ['text', 'jsonb'],
  row: { id: 'text', saved_name: 'text?', push_name: 'text?', made: 'bool' },
});

const ANSWERED_CHATS = defineStatement({
  name: 'answered-chats',
  text: `UPDATE chats SET unread = r.unread FROM jsonb_to_recordset($2::jsonb) AS r(id text, unread int)
         WHERE channel_id = $1 AND chats.id = r.id`,
  parameters: ['text', 'jsonb'],
});

const OWN_BY_KEY = defineStatement({
  name: 'own-messages-by-key',
  text: `SELECT m.* FROM (SELECT DISTINCT unnest($2::text[]) AS key_id) named, LATERAL (
           SELECT id, chat_id, from_me, author, author_name, type, source, timestamp, device_id, status,
             '{}'::jsonb AS content, key_id
           FROM messages WHERE channel_id = $1 AND key_id = named.key_id AND from_me OFFSET 0) m`,
  parameters: ['text', 'text[]'],
  row: { ...MESSAGE_ROW, key_id: 'text' },
});

/** Own messages of the channel by the network's ids, locked by the channel's transaction. */
export async function ownMessages(
  { connection, channelId }: ChannelTransaction,
  keyIds: readonly string[],
): Promise<Map<string, Message>> {
  const rows = await OWN_BY_KEY.all(connection, channelId, keyIds);
  return new Map(rows.map((row) => [row.key_id, toMessage(row)]));
}
