/**
 * Writes new messages: the one statement that knows what a message brings about. It stores messages with their first step, what
 * their authors call themselves, and the chats they are in, which move up; and it appends an event for each.
 *
 * It runs in one of two ways. A message that is about to be sent through the API runs it as a transaction of its own: it holds
 * the fence, then locks the end of the channel's events. Messages of many channels that wait for each other go into one statement,
 * see `GroupedWrites`; one alone is a batch of one, which waits for its channel's lock where a batch passes over a channel that is
 * locked. Whether a message that comes from the network is there already may have been changed by the writer that was waited for,
 * which a statement that had begun before does not see; and the first message of a chat makes a second event. Both run it in a
 * transaction that held the lock before (`settled`).
 */
import {
  defineStatement,
  FENCES_CTE,
  FencedError,
  GroupedWrites,
  narrowed,
  type Fence,
  type Outcome,
  type RowOf,
  storableJson,
  type RegionalDatabase,
} from '@dormouse/database';
import { insertEvents, lockedSequence, takeNumbers } from '@dormouse/event-outbox';
import type { Chat, ChannelEvent } from '@dormouse/gateway-contract';
import { traceparent } from '@dormouse/traces';
import { chatType, contactNameSql, savedChatNameSql } from '../chats/chat-names.js';
import { rowsByChannel, type ChannelTransaction } from '../events/channel-transaction.js';
import type { MessageRecord } from '../records.js';
import { contactIdSql, countsInChatSql, toInsert } from './message-rows.js';

type Pool = RegionalDatabase['pool'];

/** A message that the API is about to send, new for certain, to be written by the owner of the channel's shard. */
export interface OwnSend {
  readonly fence: Fence;
  readonly channelId: string;
  readonly record: MessageRecord;
  /** The trace that it is a part of. */
  readonly traceparent: string | undefined;
}

/** What was written. */
export interface NewMessages {
  /** Public ids of the messages that were new, in their order. */
  readonly ids: string[];
  /** The numbers of the events made. */
  readonly seqs: number[];
}

/**
 * Writes messages about to be sent; undefined where nothing was, as the chat is not there yet. Each write throws
 * `FencedError` when the shard has a newer owner.
 */
export function ownSendWrites(pool: Pool): GroupedWrites<OwnSend, NewMessages | undefined> {
  return new GroupedWrites({
    alone: (send) => writeAlone(pool, send),
    together: (sends) => writeTogether(pool, sends),
  });
}

/**
 * Writes any messages in a transaction on their channel, those that are not there yet: by public id, or by the network's key
 * under any of its forms.
 * @param live false for history, which makes no events, and brings its own unread counts and names of people
 */
export async function writeMessages(
  transaction: ChannelTransaction,
  records: readonly MessageRecord[],
  live: boolean,
): Promise<NewMessages> {
  if (records.length === 0) return { ids: [], seqs: [] };
  const { connection, fence, channelId } = transaction;
  const given = givenOf([{ fence, channelId, records: firstOfEach(records), traceparent: traceparent() }], live);
  const rows = await NEW_MESSAGES.all(connection, given);
  const { ids, seqs } = writtenOf(rows, fence);
  const chats = new Map(rows.flatMap(({ new_chat: chat }) => (live && chat ? [[chat.id, chatEvent(chat)]] : [])));
  const events = [...chats].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, event]) => event);
  return { ids, seqs: [...seqs, ...(await transaction.append(events))] };
}

/** One statement inserts each only once. */
function firstOfEach(records: readonly MessageRecord[]): MessageRecord[] {
  const ids = new Set<string>();
  return records.filter(({ message: { id } }) => !ids.has(id) && ids.add(id));
}

async function writeAlone(pool: Pool, send: OwnSend): Promise<NewMessages | undefined> {
  const rows = await OWN_SEND.all(pool, givenOfSends([send]));
  const written = writtenOf(rows, send.fence);
  return rows[0]?.locked ? written : undefined;
}

async function writeTogether(pool: Pool, sends: readonly OwnSend[]): Promise<Outcome<NewMessages | undefined>[]> {
  const rows = await OWN_SENDS.all(pool, givenOfSends(sends));
  const byChannel = rowsByChannel(rows);
  return sends.map(({ channelId, fence }): Outcome<NewMessages> => {
    const own = byChannel.get(channelId) ?? [];
    if (!own[0]?.fenced) return { failed: new FencedError(fence) };
    return own[0].locked ? { done: writtenOf(own, fence) } : 'left';
  });
}

/**
 * @param rows one for each message that was new
 * @throws {FencedError} when the shard has a newer owner
 */
function writtenOf(rows: readonly RowOf<typeof OWN_SEND>[], fence: Fence): NewMessages {
  if (!rows[0]?.fenced) throw new FencedError(fence);
  return {
    ids: rows.flatMap(({ id }) => (id === null ? [] : [id])),
    seqs: rows.flatMap(({ seq }) => (seq === null ? [] : [Number(seq)])),
  };
}

/** A chat that began with a message. */
interface NewChat {
  id: string;
  name: string | null;
  type: Chat['type'];
  timestamp: number;
  unread: number;
}

function chatEvent({ id, name, type, timestamp, unread }: NewChat): ChannelEvent {
  const chat: Chat = { id, ...(name !== null && { name }), type, timestamp, unread, not_spam: true };
  return { type: 'chats', method: 'post', payload: { chats: [chat] } };
}

function givenOfSends(sends: readonly OwnSend[]): string {
  return givenOf(
    sends.map(({ record, ...send }) => ({ ...send, records: [record] })),
    true,
  );
}

function givenOf(
  channels: readonly (Omit<OwnSend, 'record'> & { records: readonly MessageRecord[] })[],
  live: boolean,
): string {
  return storableJson(
    channels.map(({ fence, channelId, records, traceparent: trace }) => ({
      live,
      traceparent: trace,
      shard: fence.shard,
      epoch: fence.epoch.toString(),
      channel_id: channelId,
      records: records.map((record) => ({
        ...toInsert(record),
        chat_type: chatType(record.message.chat_id),
        ...(live && !record.quiet && { method: record.waited ? 'put' : 'post', message: record.message }),
      })),
    })),
  );
}

/** Is the message there already? Looked up one by one: as a join it could be planned to walk through the channel. */
const IS_KNOWN = `(
    SELECT true FROM messages known
    WHERE known.channel_id = record.channel_id AND known.key_id = record.key_id AND known.from_me = record.from_me
      AND known.key_remote = ANY (record.aliases)
      AND (known.key_participant IS NULL OR known.key_participant = ANY (record.aliases))
    LIMIT 1
  )`;

/**
 * What new messages do to each chat: the last that counts is its last one, and those of others are unread. What the owner wrote
 * on the phone or another device shows that everything before has been read.
 */
const TOUCHED_CHATS = `
  SELECT DISTINCT ON (channel_id, chat_id) channel_id, chat_id AS id, chat_type AS type, unread, is_read,
    CASE WHEN counts THEN timestamp ELSE first_timestamp END AS timestamp, CASE WHEN counts THEN id END AS last_message_id
  FROM (
    SELECT *, first_value(timestamp) OVER chat AS first_timestamp, bool_or(answers) OVER chat AS is_read,
      count(*) FILTER (WHERE live AND counts AND NOT from_me AND n > coalesce(
        (SELECT max(n) FROM fresh a WHERE a.answers AND a.channel_id = f.channel_id AND a.chat_id = f.chat_id), 0)) OVER chat AS unread
    FROM fresh f
    WINDOW chat AS (PARTITION BY channel_id, chat_id ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  ) f ORDER BY channel_id, chat_id, counts DESC, timestamp DESC, n DESC`;

/** The same where each chat has one message, sent through the API. */
const TOUCHED_BY_SENDS = `
  SELECT channel_id, chat_id AS id, chat_type AS type, 0 AS unread, false AS is_read, timestamp,
    CASE WHEN counts THEN id END AS last_message_id
  FROM fresh`;

const MOVE_CHAT_UP = `
    unread = excluded.unread + CASE
      WHEN chats.unread = 0 OR (SELECT is_read FROM touched t WHERE t.channel_id = chats.channel_id AND t.id = chats.id) THEN 0
      ELSE chats.unread END,
    last_message_id = CASE
      WHEN chats.last_message_id IS NULL OR excluded.timestamp >= chats.timestamp
      THEN coalesce(excluded.last_message_id, chats.last_message_id) ELSE chats.last_message_id END,
    timestamp = CASE WHEN excluded.last_message_id IS NULL THEN chats.timestamp
      ELSE greatest(chats.timestamp, excluded.timestamp) END`;

const RECORD_COLUMNS = {
  id: 'text',
  chat_id: 'text',
  key_id: 'text',
  key_remote: 'text',
  key_participant: 'text',
  aliases: 'text[]',
  from_me: 'boolean',
  author: 'text',
  author_name: 'text',
  type: 'text',
  source: 'text',
  timestamp: 'bigint',
  device_id: 'int',
  status: 'text',
  content: 'jsonb',
  proto: 'text',
  chat_type: 'text',
  method: 'text',
  message: 'jsonb',
};
const TYPED_COLUMNS = Object.entries(RECORD_COLUMNS)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

/** What authors call themselves. */
const NAME_AUTHORS = `author AS (
  INSERT INTO contacts AS known (channel_id, id, push_name)
  SELECT DISTINCT ON (channel_id, author) channel_id, author, author_name FROM record
  WHERE live AND NOT from_me AND author IS NOT NULL AND author_name IS NOT NULL ORDER BY channel_id, author, n DESC
  ON CONFLICT (channel_id, id) DO UPDATE SET push_name = excluded.push_name
    WHERE known.push_name IS DISTINCT FROM excluded.push_name
  RETURNING channel_id, id, push_name
), `;

/** A chat that was not there before, with the name that lists show. */
const NEW_CHAT = `CASE WHEN a.is_new THEN jsonb_build_object('id', a.chat_id, 'type', a.chat_type, 'timestamp', a.chat_timestamp,
    'unread', a.unread, 'name', coalesce(a.saved_name, (SELECT push_name FROM author
      WHERE author.channel_id = a.channel_id AND author.id = ${contactIdSql('a.chat_id')}), a.push_name)) END`;

/** Rows that are there are found one by one, as in `status-writes.ts`; a channel that is locked is waited for, or passed over. */
const newMessages = (name: string, { others, settled }: { others: 'wait' | 'skip'; settled: boolean }) =>
  defineStatement({
    name,
    text: `
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, live boolean, traceparent text,
    records jsonb)
), ${FENCES_CTE}, locked AS (
  SELECT g.* FROM given g JOIN fence USING (shard, epoch), LATERAL ${lockedSequence('g.channel_id', others)} s
  ${settled ? '' : `WHERE (SELECT true FROM chats c WHERE c.channel_id = g.channel_id AND c.id = g.records -> 0 ->> 'chat_id')`}
), record AS (
  SELECT locked.channel_id, locked.live, locked.traceparent, r.* FROM locked, LATERAL ROWS FROM (
    jsonb_to_recordset(locked.records) AS (${TYPED_COLUMNS})
  ) WITH ORDINALITY AS r(${Object.keys(RECORD_COLUMNS).join(', ')}, n)
), ${settled ? NAME_AUTHORS : ''}message AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name, type, source,
    timestamp, device_id, status, content, proto)
  SELECT channel_id, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name, type, source, timestamp,
    device_id, status, content, decode(proto, 'base64')
  FROM record ${settled ? `WHERE ${IS_KNOWN} IS NULL` : ''}
  ON CONFLICT (channel_id, id) DO NOTHING
  RETURNING channel_id, id
), fresh AS (
  SELECT record.*, ${countsInChatSql('record')} AS counts,
    live AND ${countsInChatSql('record')} AND from_me AND source <> 'api' AS answers
  FROM record JOIN message USING (channel_id, id)
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT channel_id, key_id, '', status, timestamp FROM fresh WHERE from_me AND status IS NOT NULL
  ON CONFLICT DO NOTHING
), touched AS (${settled ? TOUCHED_CHATS : TOUCHED_BY_SENDS}
), chat AS (
  INSERT INTO chats (channel_id, id, type, timestamp, unread, last_message_id)
  SELECT channel_id, id, type, timestamp, unread, last_message_id FROM touched
  ON CONFLICT (channel_id, id) DO UPDATE SET ${MOVE_CHAT_UP}
  RETURNING channel_id, id, timestamp, unread, ${savedChatNameSql('chats')} AS saved_name, xmax = 0 AS is_new
    ${settled ? `, ${contactNameSql('chats', 'push_name')} AS push_name` : ''}
), announced AS (
  SELECT f.channel_id, f.id, f.n, f.method, f.message, f.traceparent, chat.saved_name,
    ${settled ? 'count(f.method) OVER (PARTITION BY f.channel_id ORDER BY f.n DESC ROWS UNBOUNDED PRECEDING)' : 'num_nonnulls(f.method)'} AS from_end
    ${settled ? ', f.chat_id, f.chat_type, chat.timestamp AS chat_timestamp, chat.unread, chat.push_name, chat.is_new' : ''}
  FROM fresh f JOIN chat ON chat.channel_id = f.channel_id AND chat.id = f.chat_id
), seq AS (
  ${takeNumbers('SELECT channel_id, max(from_end) FROM announced GROUP BY channel_id HAVING max(from_end) > 0')}
), event AS (
  ${insertEvents(`SELECT channel_id, seq.last_seq - from_end + 1, NULL::uuid, 'messages', method, jsonb_build_object('messages',
    jsonb_build_array(message || jsonb_strip_nulls(jsonb_build_object('chat_name', saved_name)))), NULL, NULL,
    traceparent
  FROM announced JOIN seq USING (channel_id) WHERE method IS NOT NULL`)}
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked, a.id,
  CASE WHEN a.method IS NOT NULL THEN seq.last_seq - a.from_end + 1 END AS seq, ${settled ? NEW_CHAT : 'NULL::jsonb'} AS new_chat
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN announced a USING (channel_id)
  LEFT JOIN seq USING (channel_id)
ORDER BY a.n`,
    parameters: ['jsonb'],
    row: {
      channel_id: 'text',
      fenced: 'bool',
      locked: 'bool',
      id: 'text?',
      seq: 'int8?',
      new_chat: narrowed<NewChat | null>('jsonb?'),
    },
  });

const OWN_SEND = newMessages('own-send', { others: 'wait', settled: false });
const OWN_SENDS = newMessages('own-sends', { others: 'skip', settled: false });
const NEW_MESSAGES = newMessages('new-messages', { others: 'wait', settled: true });
