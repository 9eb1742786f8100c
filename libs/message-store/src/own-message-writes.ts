/**
 * Writes a message that is about to be sent through the API, with its first receipt, its chat and its event, as a single
 * statement that is its own transaction: a fifth of the round trips of the general way, with the same guarantees. It holds
 * the fence, then locks the channel's row of `event_sequences`, and reads from that lock all that it writes, as
 * `channel-events.ts` asks. What does not fit (a message that is there already, the first one of a chat) is left to the
 * general way. Messages of many channels that wait for each other go into one statement; see `GroupedWrites`.
 */
import {
  FENCE_CTE,
  FENCES_CTE,
  FencedError,
  GroupedWrites,
  type Fence,
  type Outcome,
  storableJson,
  type RegionalDatabase,
} from '@dormouse/database';
import { toInsert } from './message-rows.js';
import { savedChatNameSql, chatType } from './message-writes.js';
import type { MessageRecord } from './records.js';

type Pool = RegionalDatabase['pool'];

/** A message of a channel, to be written by the owner of its shard. */
export interface OwnMessage {
  readonly fence: Fence;
  readonly channelId: string;
  readonly record: MessageRecord;
}

/** The event's number; undefined when nothing was written: the message is there already, or its chat is not. */
export type Told = number | undefined;

/** Each write throws `FencedError` when the shard has a newer owner. */
export function ownMessageWrites(pool: Pool): GroupedWrites<OwnMessage, Told> {
  return new GroupedWrites({
    alone: (message) => writeAlone(pool, message),
    together: (messages) => writeTogether(pool, messages),
  });
}

/** PostgreSQL's code for a row that is there already. */
const UNIQUE_VIOLATION = '23505';

async function writeAlone(pool: Pool, { fence, channelId, record }: OwnMessage): Promise<Told> {
  const row = toInsert(record);
  try {
    const { rows } = await pool.query<{ fenced: string; seq: string | null }>({
      name: 'own-message',
      text: OWN_MESSAGE,
      values: [
        fence.shard,
        fence.epoch,
        channelId,
        row.id,
        row.chat_id,
        row.key_id,
        row.key_remote,
        row.author,
        row.type,
        row.source,
        row.timestamp,
        row.device_id,
        row.status,
        storableJson(row.content),
        record.proto && Buffer.from(record.proto),
        chatType(row.chat_id),
        storableJson(record.message),
      ],
    });
    if (rows[0]?.fenced !== '1') throw new FencedError(fence);
    return rows[0].seq === null ? undefined : Number(rows[0].seq);
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

async function writeTogether(pool: Pool, messages: readonly OwnMessage[]): Promise<Outcome<Told>[]> {
  const given = messages.map(({ fence, channelId, record }) => ({
    ...toInsert(record),
    shard: fence.shard,
    epoch: fence.epoch.toString(),
    channel_id: channelId,
    chat_type: chatType(record.message.chat_id),
    message: record.message,
  }));
  const { rows } = await pool.query<{ channel_id: string; fenced: boolean; seq: string | null }>({
    name: 'own-messages',
    text: OWN_MESSAGES,
    values: [storableJson(given)],
  });
  const byChannel = new Map(rows.map((row) => [row.channel_id, row]));
  return messages.map(({ channelId, fence }): Outcome<Told> => {
    const row = byChannel.get(channelId);
    if (!row?.fenced) return { failed: new FencedError(fence) };
    return row.seq === null ? 'left' : { done: Number(row.seq) };
  });
}

/** How a chat that a message was written in moves up. */
const MOVE_CHAT_UP = `ON CONFLICT (channel_id, id) DO UPDATE SET
    last_message_id = CASE WHEN chats.last_message_id IS NULL OR excluded.timestamp >= chats.timestamp
      THEN excluded.last_message_id ELSE chats.last_message_id END,
    timestamp = greatest(chats.timestamp, excluded.timestamp)`;

const OWN_MESSAGE = `
WITH ${FENCE_CTE}, seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT $3, 1 FROM fence
  WHERE EXISTS (SELECT FROM chats WHERE channel_id = $3 AND id = $5)
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + 1
  RETURNING last_seq
), message AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, author, type, source, timestamp, device_id,
    status, content, proto)
  SELECT $3, $4, $5, $6, $7, true, $8, $9, $10, $11::bigint, $12, $13, $14::jsonb, $15::bytea FROM seq
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT $3, $6, '', $13, $11::bigint FROM seq WHERE $13 IS NOT NULL
  ON CONFLICT DO NOTHING
), chat AS (
  INSERT INTO chats (channel_id, id, type, timestamp, last_message_id)
  SELECT $3, $5, $16, $11::bigint, $4 FROM seq
  ${MOVE_CHAT_UP}
  RETURNING ${savedChatNameSql('chats')} AS name
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload)
  SELECT $3, seq.last_seq, gen_random_uuid(), 'messages', 'post', jsonb_build_object('messages',
    jsonb_build_array($17::jsonb || jsonb_strip_nulls(jsonb_build_object('chat_name', chat.name))))
  FROM seq, chat
)
SELECT (SELECT count(*) FROM fence) AS fenced, (SELECT last_seq FROM seq) AS seq`;

/**
 * One message of each of many channels. A channel that somebody else has locked is passed over. Rows that are there are
 * found one by one (LATERAL, or by the key of a conflict): joined, a plan that was made while the tables were small would
 * walk through them when they are large.
 */
const OWN_MESSAGES = `
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, id text, chat_id text,
    key_id text, key_remote text, author text, type text, source text, timestamp bigint, device_id int, status text,
    content jsonb, proto text, chat_type text, message jsonb)
), ${FENCES_CTE}, locked AS (
  SELECT g.channel_id FROM given g JOIN fence USING (shard, epoch), LATERAL (
    SELECT 1 FROM event_sequences WHERE channel_id = g.channel_id FOR UPDATE SKIP LOCKED
  ) s
  WHERE (SELECT true FROM chats c WHERE c.channel_id = g.channel_id AND c.id = g.chat_id)
), seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT channel_id, 1 FROM locked
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + 1
  RETURNING channel_id, last_seq
), message AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, author, type, source, timestamp, device_id,
    status, content, proto)
  SELECT channel_id, id, chat_id, key_id, key_remote, true, author, type, source, timestamp, device_id, status, content,
    decode(proto, 'base64')
  FROM given JOIN seq USING (channel_id)
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT channel_id, key_id, '', status, timestamp FROM given JOIN seq USING (channel_id) WHERE status IS NOT NULL
  ON CONFLICT DO NOTHING
), chat AS (
  INSERT INTO chats (channel_id, id, type, timestamp, last_message_id)
  SELECT channel_id, chat_id, chat_type, timestamp, id FROM given JOIN seq USING (channel_id)
  ${MOVE_CHAT_UP}
  RETURNING channel_id, ${savedChatNameSql('chats')} AS name
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload)
  SELECT channel_id, seq.last_seq, gen_random_uuid(), 'messages', 'post', jsonb_build_object('messages',
    jsonb_build_array(given.message || jsonb_strip_nulls(jsonb_build_object('chat_name', chat.name))))
  FROM given JOIN seq USING (channel_id) JOIN chat USING (channel_id)
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, seq.last_seq AS seq
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN seq USING (channel_id)`;
