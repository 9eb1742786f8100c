/**
 * The writes of every send, each as a single statement that is its own transaction: a fifth of the round trips of the
 * general way, with the same guarantees. Each holds the fence, then locks the channel's row of `event_sequences`, and
 * reads from that lock all that it writes, as `channel-events.ts` asks. What does not fit (a message that is there
 * already, the first one of a chat, a receipt of a message that is not known) is left to the general way.
 */
import { FENCE_CTE, FencedError, type Fence, type RegionalDatabase } from '@dormouse/database';
import { MESSAGE_STATUS_CODES } from '@dormouse/gateway-contract';
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

/** The ladder that a message climbs where nobody but the other one of a chat of two reads it. */
const LADDER: readonly ReceiptStatus[] = ['sent', 'delivered', 'read', 'played'];

/** A report of the network about a message itself, or about the other one in a chat of two. */
export function isPlain({ status, viewerId, errors }: StatusReport): boolean {
  return LADDER.includes(status) && viewerId === undefined && errors === undefined;
}

/**
 * Writes plain reports (see {@link isPlain}) as {@link StatusLadder} would have it, with an event for each step taken.
 * @returns the events' numbers, and the reports that were left alone because their message is not known
 * @throws {FencedError} when the shard has a newer owner
 */
export async function writeSteps(
  pool: Pool,
  fence: Fence,
  channelId: string,
  reports: readonly StatusReport[],
): Promise<{ seqs: number[]; unknown: StatusReport[] }> {
  const steps = stepsOf(reports);
  const { rows } = await pool.query<{ fenced: string; last: string | null; taken: string; known: string[] }>({
    name: 'status-steps',
    text: STATUS_STEPS,
    values: [
      fence.shard,
      fence.epoch,
      channelId,
      steps.map(({ keyId }) => keyId),
      steps.map(({ status }) => status),
      steps.map(({ timestamp }) => timestamp),
      steps.map(({ status }) => MESSAGE_STATUS_CODES[status]),
    ],
  });
  const [row] = rows;
  if (row?.fenced !== '1') throw new FencedError(fence);
  const known = new Set(row.known);
  const taken = Number(row.taken);
  const first = Number(row.last) - taken + 1;
  return {
    seqs: Array.from({ length: taken }, (_, index) => first + index),
    unknown: reports.filter(({ keyId }) => !known.has(keyId)),
  };
}

/**
 * The steps that reports may take, lowest first for each message; which of them are news is for the statement to see.
 * Whoever received a message received one that the network had taken, so every message begins with "sent".
 */
function stepsOf(reports: readonly StatusReport[]): Pick<StatusReport, 'keyId' | 'status' | 'timestamp'>[] {
  const reached = new Map<string, number>();
  return reports.flatMap(({ keyId, status, timestamp }) => {
    const before = reached.get(keyId) ?? -1;
    const rung = LADDER.indexOf(status);
    if (rung <= before) return [];
    reached.set(keyId, rung);
    const step = { keyId, status, timestamp };
    return before < 0 && rung > 0 ? [{ ...step, status: 'sent' as const }, step] : [step];
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

/** The statuses before and on the ladder: a message that failed or was deleted is nowhere on it. */
const RUNGS = `ARRAY['pending', '${LADDER.join("', '")}']`;

/**
 * Rows are named by `= ANY (ARRAY(...))`, not joined, here and in the other writes: a plan that was made while the table was
 * empty, and kept, must not walk through a channel.
 */
const STATUS_STEPS = `
WITH ${FENCE_CTE}, locked AS (
  SELECT s.channel_id FROM event_sequences s, fence WHERE s.channel_id = $3 FOR UPDATE OF s
), message AS (
  SELECT m.id, m.key_id, m.chat_id, array_position(${RUNGS}, m.status) AS rung FROM messages m, locked
  WHERE m.channel_id = $3 AND m.key_id = ANY ($4::text[]) AND m.from_me FOR NO KEY UPDATE OF m
), step AS (
  SELECT message.id, message.chat_id, g.key_id, g.status, g.timestamp, g.code, row_number() OVER (ORDER BY g.n) AS nth
  FROM unnest($4::text[], $5::text[], $6::bigint[], $7::int[]) WITH ORDINALITY AS g(key_id, status, timestamp, code, n)
  JOIN message ON message.key_id = g.key_id AND message.rung < array_position(${RUNGS}, g.status)
), changed AS (
  UPDATE messages m SET status = (SELECT step.status FROM step WHERE step.id = m.id ORDER BY step.nth DESC LIMIT 1)
  WHERE m.channel_id = $3 AND m.id = ANY (ARRAY(SELECT step.id FROM step))
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT $3, key_id, '', status, timestamp FROM step
  ON CONFLICT DO NOTHING
), seq AS (
  UPDATE event_sequences s SET last_seq = s.last_seq + taken.count
  FROM (SELECT count(*) FROM step) taken WHERE s.channel_id = $3 AND taken.count > 0
  RETURNING s.last_seq, taken.count
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload)
  SELECT $3, seq.last_seq - seq.count + step.nth, gen_random_uuid(), 'statuses', 'post', jsonb_build_object('statuses',
    jsonb_build_array(jsonb_build_object('id', step.id, 'code', step.code, 'status', step.status,
      'recipient_id', step.chat_id, 'timestamp', step.timestamp::text)))
  FROM seq, step
)
SELECT (SELECT count(*) FROM fence) AS fenced, (SELECT last_seq FROM seq) AS last, (SELECT count(*) FROM step) AS taken,
  ARRAY(SELECT key_id FROM message) AS known`;
