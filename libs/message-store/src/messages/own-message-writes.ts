/**
 * Writes a message that is about to be sent through the API, with its first receipt, its chat and its event, as a single
 * statement that is its own transaction: a fifth of the round trips of the general way, with the same guarantees. It holds
 * the fence, then locks the end of the channel's events, and reads from that lock all that it writes, as the outbox asks. What
 * does not fit (a message that is there already, the first one of a chat) is left to the general way. Messages of many
 * channels that wait for each other go into one statement, see `GroupedWrites`; one alone is a batch of one, which waits for
 * its channel's lock where a batch passes over a channel that is locked.
 */
import {
  defineStatement,
  FENCES_CTE,
  FencedError,
  GroupedWrites,
  type Fence,
  type Outcome,
  storableJson,
  type RegionalDatabase,
} from '@dormouse/database';
import { insertEvents, lockedSequence, takeNumbers } from '@dormouse/event-outbox';
import { toInsert } from './message-rows.js';
import { savedChatNameSql, chatType } from './message-writes.js';
import type { MessageRecord } from '../records.js';

type Pool = RegionalDatabase['pool'];

/** A message of a channel, to be written by the owner of its shard. */
export interface OwnMessage {
  readonly fence: Fence;
  readonly channelId: string;
  readonly record: MessageRecord;
}

/** The event's number; undefined when nothing was written: the message is there already, or its chat is not. */
export type AppendedSeq = number | undefined;

/** Each write throws `FencedError` when the shard has a newer owner. */
export function ownMessageWrites(pool: Pool): GroupedWrites<OwnMessage, AppendedSeq> {
  return new GroupedWrites({
    alone: (message) => writeAlone(pool, message),
    together: (messages) => writeTogether(pool, messages),
  });
}

/** PostgreSQL's code for a row that is there already. */
const UNIQUE_VIOLATION = '23505';

async function writeAlone(pool: Pool, message: OwnMessage): Promise<AppendedSeq> {
  try {
    const row = await OWN_MESSAGE.first(pool, givenOf([message]));
    if (!row?.fenced) throw new FencedError(message.fence);
    return row.seq === null ? undefined : Number(row.seq);
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

async function writeTogether(pool: Pool, messages: readonly OwnMessage[]): Promise<Outcome<AppendedSeq>[]> {
  const rows = await OWN_MESSAGES.all(pool, givenOf(messages));
  const byChannel = new Map(rows.map((row) => [row.channel_id, row]));
  return messages.map(({ channelId, fence }): Outcome<AppendedSeq> => {
    const row = byChannel.get(channelId);
    if (!row?.fenced) return { failed: new FencedError(fence) };
    return row.seq === null ? 'left' : { done: Number(row.seq) };
  });
}

function givenOf(messages: readonly OwnMessage[]): string {
  return storableJson(
    messages.map(({ fence, channelId, record }) => ({
      ...toInsert(record),
      shard: fence.shard,
      epoch: fence.epoch.toString(),
      channel_id: channelId,
      chat_type: chatType(record.message.chat_id),
      message: record.message,
    })),
  );
}

/** How a chat that a message was written in moves up. */
const MOVE_CHAT_UP = `ON CONFLICT (channel_id, id) DO UPDATE SET
    last_message_id = CASE WHEN chats.last_message_id IS NULL OR excluded.timestamp >= chats.timestamp
      THEN excluded.last_message_id ELSE chats.last_message_id END,
    timestamp = greatest(chats.timestamp, excluded.timestamp)`;

/**
 * One message of each of many channels. Rows that are there are found one by one (LATERAL, or by the key of a conflict):
 * joined, a plan that was made while the tables were small would walk through them when they are large.
 */
const ownMessages = (name: string, others: 'wait' | 'skip') =>
  defineStatement({
    name,
    text: `
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, id text, chat_id text,
    key_id text, key_remote text, author text, type text, source text, timestamp bigint, device_id int, status text,
    content jsonb, proto text, chat_type text, message jsonb)
), ${FENCES_CTE}, locked AS (
  SELECT g.channel_id FROM given g JOIN fence USING (shard, epoch), LATERAL ${lockedSequence('g.channel_id', others)} s
  WHERE (SELECT true FROM chats c WHERE c.channel_id = g.channel_id AND c.id = g.chat_id)
), seq AS (
  ${takeNumbers('SELECT channel_id, 1 FROM locked')}
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
  ${insertEvents(`SELECT channel_id, seq.last_seq, NULL::uuid, 'messages', 'post', jsonb_build_object('messages',
    jsonb_build_array(given.message || jsonb_strip_nulls(jsonb_build_object('chat_name', chat.name)))), NULL, NULL
  FROM given JOIN seq USING (channel_id) JOIN chat USING (channel_id)`)}
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, seq.last_seq AS seq
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN seq USING (channel_id)`,
    parameters: ['jsonb'],
    row: { channel_id: 'text', fenced: 'bool', seq: 'int8?' },
  });

const OWN_MESSAGE = ownMessages('own-message', 'wait');
const OWN_MESSAGES = ownMessages('own-messages', 'skip');
