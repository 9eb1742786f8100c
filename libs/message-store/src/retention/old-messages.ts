/**
 * What is stored of a channel goes when it is older than its retention: messages with their receipts and files, and the chats and
 * contacts that only they were the reason for.
 *
 * Guarantees: a message goes in one transaction with its receipts, its files and the chats and contacts that nothing else needs; a
 * process that dies leaves what the next call finds. Nothing goes that was stored after `storedBefore`, which callers set to the time
 * since when a webhook waits for the channel's events. A chat stays while it has messages, is a group that the channel is in, or has
 * something that only the phone knows (pinned, archived, muted, a timer of its messages); a contact stays while it is in the phone's
 * address book, has a chat, or is the author of a message.
 * Every transaction is short, and is one of the channel's writers (see `append-events.ts` of the outbox): the others wait for it, and
 * it waits for them. No event is written: customers were notified of the messages themselves.
 * PostgreSQL away: the driver's error, and nothing was removed.
 */
import { defineStatement, transaction, type Connection, type RegionalDatabase } from '@dormouse/database';
import { lockEventLog } from '@dormouse/event-outbox';
import { endFilesOf, REMOVED_COLUMNS, REMOVED_ROW, type EndFiles } from '../chats/chat-removals.js';
import { contactIdSql } from '../messages/message-rows.js';

type Database = Pick<RegionalDatabase, 'pool'>;

/** What of a channel is too old. */
export interface TooOld {
  channelId: string;
  /** Sent before this, in epoch seconds. */
  sentBeforeS: number;
  /** Stored before this; null: whenever. */
  storedBefore: Date | null;
}

/** What one step removed. */
export interface Removed {
  messages: number;
  chats: number;
  contacts: number;
}

const OLDEST = defineStatement({
  name: 'oldest-messages',
  text: `SELECT given.id, m.timestamp FROM unnest($1::text[]) AS given(id), LATERAL (
           SELECT timestamp FROM messages WHERE channel_id = given.id ORDER BY timestamp, messages.id LIMIT 1) m`,
  parameters: ['text[]'],
  row: { id: 'text?', timestamp: 'int8' },
});

/** The oldest of the channel are looked at, and no others: they are the first of an index. */
const REMOVE_OLD = defineStatement({
  name: 'remove-old-messages',
  text: `
WITH oldest AS (
  SELECT id, key_id, created_at FROM messages WHERE channel_id = $1 AND timestamp < $2 ORDER BY timestamp, id LIMIT $4
), doomed AS (
  SELECT id, key_id FROM oldest WHERE created_at < coalesce($3::timestamptz, 'infinity')
), receipts_gone AS (
  DELETE FROM receipts USING doomed WHERE receipts.channel_id = $1 AND receipts.key_id = doomed.key_id
)
DELETE FROM messages USING doomed WHERE messages.channel_id = $1 AND messages.id = doomed.id
RETURNING ${REMOVED_COLUMNS}, messages.chat_id, messages.author`,
  parameters: ['text', 'int8', 'timestamptz?', 'int8'],
  row: { ...REMOVED_ROW, chat_id: 'text', author: 'text?' },
});

const REMOVE_CHATS = defineStatement({
  name: 'remove-old-chats',
  text: `
DELETE FROM chats c USING unnest($2::text[]) AS given(id)
WHERE c.channel_id = $1 AND c.id = given.id AND c.timestamp < $3
  AND NOT c.pinned AND NOT c.archived AND c.mute_until_ms = 0 AND coalesce(c.ephemeral_s, 0) = 0
  AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.channel_id = $1 AND m.chat_id = c.id)
  AND NOT EXISTS (SELECT 1 FROM groups g WHERE g.channel_id = $1 AND g.id = c.id AND g.member)
RETURNING ${contactIdSql('c.id')} AS contact_id`,
  parameters: ['text', 'text[]', 'int8'],
  row: { contact_id: 'text?' },
});

const REMOVE_CONTACTS = defineStatement({
  name: 'remove-unneeded-contacts',
  text: `
DELETE FROM contacts k USING unnest($2::text[]) AS given(id)
WHERE k.channel_id = $1 AND k.id = given.id AND k.name IS NULL
  AND NOT EXISTS (SELECT 1 FROM chats c WHERE c.channel_id = $1 AND c.id = k.id)
  AND NOT EXISTS (SELECT 1 FROM chats c WHERE c.channel_id = $1 AND c.id = k.id || '@s.whatsapp.net')
  AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.channel_id = $1 AND m.author = k.id)`,
  parameters: ['text', 'text[]'],
});

/** When the oldest message of each of these channels was sent, in epoch seconds; channels without messages are left out. */
export async function oldestMessages(database: Database, channelIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await OLDEST.all(database.pool, channelIds);
  return new Map(rows.flatMap(({ id, timestamp }) => (id === null ? [] : [[id, Number(timestamp)] as const])));
}

/**
 * Removes up to `batch` messages of a channel that are too old.
 * @returns what went; fewer than `batch` messages: no more of them can go now
 */
export async function removeOldMessages(
  database: Database,
  endFiles: EndFiles | undefined,
  { channelId, sentBeforeS, storedBefore }: TooOld,
  batch: number,
): Promise<Removed> {
  return transaction(database, async (connection) => {
    await lockEventLog(connection, channelId);
    const rows = await REMOVE_OLD.all(connection, channelId, sentBeforeS, storedBefore, batch);
    await endFilesOf({ connection, channelId }, endFiles, rows);
    const chats = new Set(rows.map((row) => row.chat_id));
    const authors = rows.flatMap(({ author }) => (author === null ? [] : [author]));
    const gone = await removeUnneeded(connection, { channelId, sentBeforeS, chatIds: [...chats], contactIds: authors });
    return { messages: rows.length, ...gone };
  });
}

/** Removes those of these chats and contacts, and the contacts of those chats, that nothing needs any more. */
export async function removeUnneeded(
  connection: Connection,
  of: { channelId: string; sentBeforeS: number; chatIds: readonly string[]; contactIds: readonly string[] },
): Promise<Omit<Removed, 'messages'>> {
  const { channelId, sentBeforeS, chatIds, contactIds } = of;
  const chats = chatIds.length === 0 ? [] : await REMOVE_CHATS.all(connection, channelId, chatIds, sentBeforeS);
  const people = new Set([...contactIds, ...chats.flatMap(({ contact_id: id }) => (id === null ? [] : [id]))]);
  const contacts = people.size === 0 ? 0 : await REMOVE_CONTACTS.count(connection, channelId, [...people]);
  return { chats: chats.length, contacts };
}
