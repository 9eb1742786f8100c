/**
 * Writes how far an own message got, as a single statement that is its own transaction; see `own-message-writes.ts` for
 * what that keeps and why. A receipt of a message that is not known, or has failed, is left to the general way.
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
import { MESSAGE_STATUS_CODES } from '@dormouse/gateway-contract';
import type { ReceiptStatus, StatusReport } from './status-ladder.js';

type Pool = RegionalDatabase['pool'];

/** Reports of one message, as heard by the owner of the channel's shard. */
export interface Climb {
  readonly fence: Fence;
  readonly channelId: string;
  readonly reports: readonly [StatusReport, ...StatusReport[]];
}

/** The numbers of the events made, one for each step taken; undefined when the message is not known, or failed. */
export type StepsTaken = number[] | undefined;

/** The ladder that a message climbs where nobody but the other one of a chat of two reads it. */
const LADDER: readonly ReceiptStatus[] = ['sent', 'delivered', 'read', 'played'];

/** A report of the network about a message itself, or about the other one in a chat of two. */
export function isPlain({ status, viewerId, errors }: StatusReport): boolean {
  return LADDER.includes(status) && viewerId === undefined && errors === undefined;
}

/**
 * Writes plain reports (see {@link isPlain}) as {@link StatusLadder} would have it. Each write throws `FencedError` when
 * the shard has a newer owner.
 */
export function statusStepWrites(pool: Pool): GroupedWrites<Climb, StepsTaken> {
  return new GroupedWrites({
    alone: (climb) => climbAlone(pool, climb),
    together: (climbs) => climbTogether(pool, climbs),
  });
}

/** Reports in their order, those of the same message together where they follow each other. */
export function runsOf(reports: readonly StatusReport[]): Climb['reports'][] {
  const runs: [StatusReport, ...StatusReport[]][] = [];
  for (const report of reports) {
    const run = runs.at(-1);
    if (run?.[0].keyId === report.keyId) run.push(report);
    else runs.push([report]);
  }
  return runs;
}

/**
 * The steps that a message's reports may take, lowest first; which of them are news is for the statement to see. Whoever
 * received a message received one that the network had taken, so every message begins with "sent".
 */
function stepsOf(reports: readonly StatusReport[]): { status: ReceiptStatus; timestamp: number; code: number }[] {
  let reached = -1;
  return reports.flatMap(({ status, timestamp }) => {
    const before = reached;
    const rung = LADDER.indexOf(status);
    if (rung <= before) return [];
    reached = rung;
    const step = { status, timestamp, code: MESSAGE_STATUS_CODES[status] };
    const sent = { status: 'sent' as const, timestamp, code: MESSAGE_STATUS_CODES.sent };
    return before < 0 && rung > 0 ? [sent, step] : [step];
  });
}

interface ClimbRow {
  last: string | null;
  taken: string;
  known: boolean;
}

function stepsTaken({ known, last, taken }: ClimbRow): StepsTaken {
  if (!known) return undefined;
  const count = Number(taken);
  return Array.from({ length: count }, (_, index) => Number(last) - count + 1 + index);
}

async function climbAlone(pool: Pool, { fence, channelId, reports }: Climb): Promise<StepsTaken> {
  const steps = stepsOf(reports);
  const { rows } = await pool.query<ClimbRow & { fenced: string }>({
    name: 'status-steps',
    text: STATUS_STEPS,
    values: [
      fence.shard,
      fence.epoch,
      channelId,
      reports[0].keyId,
      steps.map(({ status }) => status),
      steps.map(({ timestamp }) => timestamp),
      steps.map(({ code }) => code),
    ],
  });
  const [row] = rows;
  if (row?.fenced !== '1') throw new FencedError(fence);
  return stepsTaken(row);
}

async function climbTogether(pool: Pool, climbs: readonly Climb[]): Promise<Outcome<StepsTaken>[]> {
  const given = climbs.map(({ fence, channelId, reports }) => ({
    shard: fence.shard,
    epoch: fence.epoch.toString(),
    channel_id: channelId,
    key_id: reports[0].keyId,
    steps: stepsOf(reports),
  }));
  const { rows } = await pool.query<ClimbRow & { channel_id: string; fenced: boolean; locked: boolean }>({
    name: 'status-steps-of-many',
    text: STATUS_STEPS_OF_MANY,
    values: [storableJson(given)],
  });
  const byChannel = new Map(rows.map((row) => [row.channel_id, row]));
  return climbs.map(({ channelId, fence }): Outcome<StepsTaken> => {
    const row = byChannel.get(channelId);
    if (!row?.fenced) return { failed: new FencedError(fence) };
    return row.locked ? { done: stepsTaken(row) } : 'left';
  });
}

/** The statuses before and on the ladder: a message that failed or was deleted is nowhere on it. */
const RUNGS = `ARRAY['pending', '${LADDER.join("', '")}']`;

const STATUS_EVENT = `gen_random_uuid(), 'statuses', 'post', jsonb_build_object('statuses',
    jsonb_build_array(jsonb_build_object('id', step.id, 'code', step.code, 'status', step.status,
      'recipient_id', step.chat_id, 'timestamp', step.timestamp::text)))`;

/**
 * For one message, named by equality: whatever statistics say or do not say of its channel, no plan walks through it, and
 * one plan is as good as another for any parameters, so that PostgreSQL keeps it. With an array of messages it would make a
 * new one each time, which takes longer than all that is done here.
 */
const STATUS_STEPS = `
WITH ${FENCE_CTE}, locked AS (
  SELECT s.channel_id FROM event_sequences s, fence WHERE s.channel_id = $3 FOR UPDATE OF s
), message AS (
  SELECT m.id, m.chat_id, m.status, array_position(${RUNGS}, m.status) AS rung FROM messages m, locked
  WHERE m.channel_id = $3 AND m.key_id = $4 AND m.from_me LIMIT 1 FOR NO KEY UPDATE OF m
), step AS (
  SELECT message.id, message.chat_id, g.status, g.timestamp, g.code, row_number() OVER (ORDER BY g.n) AS nth
  FROM unnest($5::text[], $6::bigint[], $7::int[]) WITH ORDINALITY AS g(status, timestamp, code, n), message
  WHERE message.rung < array_position(${RUNGS}, g.status)
), changed AS (
  UPDATE messages SET status = (SELECT status FROM step ORDER BY nth DESC LIMIT 1)
  WHERE channel_id = $3 AND key_id = $4 AND id = (SELECT id FROM step LIMIT 1)
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT $3, $4, '', status, timestamp FROM step
  ON CONFLICT DO NOTHING
), seq AS (
  UPDATE event_sequences s SET last_seq = s.last_seq + taken.count
  FROM (SELECT count(*) FROM step) taken WHERE s.channel_id = $3 AND taken.count > 0
  RETURNING s.last_seq, taken.count
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload)
  SELECT $3, seq.last_seq - seq.count + step.nth, ${STATUS_EVENT} FROM seq, step
)
SELECT (SELECT count(*) FROM fence) AS fenced, (SELECT last_seq FROM seq) AS last, (SELECT count(*) FROM step) AS taken,
  EXISTS (SELECT FROM message WHERE status IS DISTINCT FROM 'failed') AS known`;

/**
 * One message of each of many channels. A channel that somebody else has locked is passed over. Rows that are there are
 * found one by one, as in `own-message-writes.ts`; the message is changed by way of a conflict with its key for that alone:
 * it is there, and locked.
 */
const STATUS_STEPS_OF_MANY = `
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, key_id text, steps jsonb)
), ${FENCES_CTE}, locked AS (
  SELECT g.channel_id, g.key_id, g.steps FROM given g JOIN fence USING (shard, epoch), LATERAL (
    SELECT 1 FROM event_sequences WHERE channel_id = g.channel_id FOR UPDATE SKIP LOCKED
  ) s
), message AS (
  SELECT m.*, array_position(${RUNGS}, m.status) AS rung, locked.steps FROM locked, LATERAL (
    SELECT channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status FROM messages
    WHERE channel_id = locked.channel_id AND key_id = locked.key_id AND from_me LIMIT 1 FOR NO KEY UPDATE
  ) m
), step AS (
  SELECT message.channel_id, message.id, message.key_id, message.chat_id, g.status, g.timestamp, g.code,
    row_number() OVER (PARTITION BY message.channel_id ORDER BY g.n) AS nth
  FROM message, LATERAL ROWS FROM (
    jsonb_to_recordset(message.steps) AS (status text, timestamp bigint, code int)
  ) WITH ORDINALITY AS g(status, timestamp, code, n)
  WHERE message.rung < array_position(${RUNGS}, g.status)
), top AS (
  SELECT DISTINCT ON (channel_id) channel_id, status, nth AS taken FROM step ORDER BY channel_id, nth DESC
), changed AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status)
  SELECT channel_id, m.id, m.chat_id, m.key_id, m.key_remote, m.from_me, m.type, m.source, m.timestamp, m.content, top.status
  FROM message m JOIN top USING (channel_id)
  ON CONFLICT (channel_id, id) DO UPDATE SET status = excluded.status
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT channel_id, key_id, '', status, timestamp FROM step
  ON CONFLICT DO NOTHING
), seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT channel_id, taken FROM top
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + excluded.last_seq
  RETURNING channel_id, last_seq
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload)
  SELECT channel_id, seq.last_seq - top.taken + step.nth, ${STATUS_EVENT}
  FROM step JOIN top USING (channel_id) JOIN seq USING (channel_id)
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked,
  message.channel_id IS NOT NULL AND message.status IS DISTINCT FROM 'failed' AS known, seq.last_seq AS last, coalesce(top.taken, 0) AS taken
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN message USING (channel_id)
  LEFT JOIN top USING (channel_id) LEFT JOIN seq USING (channel_id)`;
