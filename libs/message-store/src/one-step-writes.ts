/**
 * The writes of every send, each as a single statement that is its own transaction: a fifth of the round trips of the
 * general way, with the same guarantees. Each holds the fence, then locks the channel's row of `event_sequences`, and
 * reads from that lock all that it writes, as `channel-events.ts` asks. What does not fit (a message that is there
 * already, the first one of a chat, a receipt of a message that is not known or takes two steps at once) is left to the general way.
 */
import { FENCE_CTE, FencedError, type Fence, type RegionalDatabase } from '@dormouse/database';
import { MESSAGE_STATUS_CODES, type MessageStatus } from '@dormouse/gateway-contract';
import { toInsert } from './message-rows.js';
import { chatNameSql, chatType } from './message-writes.js';
import type { MessageRecord } from './records.js';
import type { ReceiptStatus, StatusReport } from './status-ladder.js';

type Pool = RegionalDatabase['pool'];

interface OneStep {
  fenced: string;
  seq: string | null;
}

/**
 * Writes a message that is about to be sent through the API, with its first receipt, its chat and its event.
 * @returns the event's number; undefined when nothing was written: the message is there already, or its chat is not
 * @throws {FencedError} when the shard has a newer owner
 */
export async function writeOwnMessage(
  pool: Pool,
  fence: Fence,
  channelId: string,
  record: MessageRecord,
): Promise<number | undefined> {
  const { message } = record;
  const row = toInsert(record);
  return oneStep(pool, fence, {
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
      JSON.stringify(row.content),
      record.proto && Buffer.from(record.proto),
      chatType(row.chat_id),
      JSON.stringify(message),
    ],
  });
}

/** From which statuses a report takes a message exactly one step up. */
const ONE_BELOW: Partial<Record<ReceiptStatus, MessageStatus[]>> = {
  sent: ['pending'],
  delivered: ['sent'],
  read: ['sent', 'delivered'],
  played: ['sent', 'delivered', 'read'],
};

/**
 * Writes a step of one message that has no viewer (the network took it; the other one in a chat of two received it).
 * @returns the event's number; undefined when nothing was written because it is not one plain step
 * @throws {FencedError} when the shard has a newer owner
 */
export async function writeStep(
  pool: Pool,
  fence: Fence,
  channelId: string,
  { keyId, status, timestamp, viewerId, errors }: StatusReport,
): Promise<number | undefined> {
  const below = ONE_BELOW[status];
  if (!below || viewerId !== undefined || errors !== undefined) return undefined;
  return oneStep(pool, fence, {
    name: 'status-step',
    text: STATUS_STEP,
    values: [fence.shard, fence.epoch, channelId, keyId, status, below, timestamp, MESSAGE_STATUS_CODES[status]],
  });
}

/** PostgreSQL's code for a row that is there already. */
const UNIQUE_VIOLATION = '23505';

async function oneStep(
  pool: Pool,
  fence: Fence,
  statement: { name: string; text: string; values: unknown[] },
): Promise<number | undefined> {
  try {
    const { rows } = await pool.query<OneStep>(statement);
    if (rows[0]?.fenced !== '1') throw new FencedError(fence);
    return rows[0].seq === null ? undefined : Number(rows[0].seq);
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

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
  ON CONFLICT (channel_id, id) DO UPDATE SET
    last_message_id = CASE WHEN chats.last_message_id IS NULL OR excluded.timestamp >= chats.timestamp
      THEN excluded.last_message_id ELSE chats.last_message_id END,
    timestamp = greatest(chats.timestamp, excluded.timestamp)
  RETURNING ${chatNameSql('chats')} AS name
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload)
  SELECT $3, seq.last_seq, gen_random_uuid(), 'messages', 'post', jsonb_build_object('messages',
    jsonb_build_array($17::jsonb || jsonb_strip_nulls(jsonb_build_object('chat_name', chat.name))))
  FROM seq, chat
)
SELECT (SELECT count(*) FROM fence) AS fenced, (SELECT last_seq FROM seq) AS seq`;

const STATUS_STEP = `
WITH ${FENCE_CTE}, locked AS (
  SELECT s.channel_id FROM event_sequences s, fence WHERE s.channel_id = $3 FOR UPDATE OF s
), changed AS (
  UPDATE messages m SET status = $5 FROM locked
  WHERE m.channel_id = $3 AND m.key_id = $4 AND m.from_me AND m.status = ANY ($6::text[])
  RETURNING m.id, m.chat_id
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT $3, $4, '', $5, $7::bigint FROM changed
  ON CONFLICT DO NOTHING
), seq AS (
  UPDATE event_sequences s SET last_seq = s.last_seq + 1 FROM changed WHERE s.channel_id = $3
  RETURNING s.last_seq
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload)
  SELECT $3, seq.last_seq, gen_random_uuid(), 'statuses', 'post', jsonb_build_object('statuses', jsonb_build_array(
    jsonb_build_object('id', changed.id, 'code', $8::int, 'status', $5::text, 'recipient_id', changed.chat_id,
      'timestamp', $7::bigint::text)))
  FROM seq, changed
)
SELECT (SELECT count(*) FROM fence) AS fenced, (SELECT last_seq FROM seq) AS seq`;
