/**
 * Writes how far an own message got, as a single statement that is its own transaction; see `own-message-writes.ts` for
 * what that keeps and why. A receipt of a message that is not known, or has failed, is left to the general way.
 */
import {
  defineStatement,
  FENCES_CTE,
  FencedError,
  GroupedWrites,
  type Fence,
  type Outcome,
  type RowOf,
  storableJson,
  type RegionalDatabase,
} from '@dormouse/database';
import { insertEvents, lockedSequence, takeNumbers } from '@dormouse/event-outbox';
import { MESSAGE_STATUS_CODES } from '@dormouse/gateway-contract';
import { RECEIPT_LADDER, STATUS_LADDER, type ReceiptStatus, type StatusReport } from './status-ladder.js';

type Pool = RegionalDatabase['pool'];

/** Reports of one message, as received by the owner of the channel's shard. */
export interface StatusUpdate {
  readonly fence: Fence;
  readonly channelId: string;
  readonly reports: readonly [StatusReport, ...StatusReport[]];
}

/** The numbers of the events made, one for each step taken; undefined when the message is not known, or failed. */
export type StatusSeqs = number[] | undefined;

/** A report of the network about a message itself, or about the other one in a chat of two. */
export function isPlain({ status, viewerId, errors }: StatusReport): boolean {
  return RECEIPT_LADDER.includes(status) && viewerId === undefined && errors === undefined;
}

/**
 * Writes plain reports (see {@link isPlain}) as {@link StatusLadder} would have it. Each write throws `FencedError` when
 * the shard has a newer owner.
 */
export function statusStepWrites(pool: Pool): GroupedWrites<StatusUpdate, StatusSeqs> {
  return new GroupedWrites({
    alone: (update) => writeAlone(pool, update),
    together: (updates) => writeTogether(pool, updates),
  });
}

/** Reports in their order, those of the same message together where they follow each other. */
export function runsOf(reports: readonly StatusReport[]): StatusUpdate['reports'][] {
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
    const rung = RECEIPT_LADDER.indexOf(status);
    if (rung <= before) return [];
    reached = rung;
    const step = { status, timestamp, code: MESSAGE_STATUS_CODES[status] };
    const sent = { status: 'sent' as const, timestamp, code: MESSAGE_STATUS_CODES.sent };
    return before < 0 && rung > 0 ? [sent, step] : [step];
  });
}

function stepsTaken({ known, last, taken }: RowOf<typeof STATUS_STEPS>): StatusSeqs {
  if (!known) return undefined;
  const count = Number(taken);
  return Array.from({ length: count }, (_, index) => Number(last) - count + 1 + index);
}

async function writeAlone(pool: Pool, update: StatusUpdate): Promise<StatusSeqs> {
  const row = await STATUS_STEPS.first(pool, givenOf([update]));
  if (!row?.fenced) throw new FencedError(update.fence);
  return stepsTaken(row);
}

async function writeTogether(pool: Pool, updates: readonly StatusUpdate[]): Promise<Outcome<StatusSeqs>[]> {
  const rows = await STATUS_STEPS_OF_MANY.all(pool, givenOf(updates));
  const byChannel = new Map(rows.map((row) => [row.channel_id, row]));
  return updates.map(({ channelId, fence }): Outcome<StatusSeqs> => {
    const row = byChannel.get(channelId);
    if (!row?.fenced) return { failed: new FencedError(fence) };
    return row.locked ? { done: stepsTaken(row) } : 'left';
  });
}

function givenOf(updates: readonly StatusUpdate[]): string {
  return storableJson(
    updates.map(({ fence, channelId, reports }) => ({
      shard: fence.shard,
      epoch: fence.epoch.toString(),
      channel_id: channelId,
      key_id: reports[0].keyId,
      steps: stepsOf(reports),
    })),
  );
}

/** The statuses before and on the ladder: a message that failed or was deleted is nowhere on it. */
const RUNGS = `ARRAY['${STATUS_LADDER.join("', '")}']`;

const STATUS_EVENT = `NULL::uuid, 'statuses', 'post', jsonb_build_object('statuses',
    jsonb_build_array(jsonb_build_object('id', step.id, 'code', step.code, 'status', step.status,
      'recipient_id', step.chat_id, 'timestamp', step.timestamp::text))), NULL, NULL`;

/**
 * One message of each of many channels; one alone waits for its channel's lock, a batch passes over a channel that somebody
 * else has locked. Rows that are there are found one by one, as in `own-message-writes.ts`; the message is changed by way
 * of a conflict with its key for that alone: it is there, and locked.
 */
const statusSteps = (name: string, others: 'wait' | 'skip') =>
  defineStatement({
    name,
    text: `
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, key_id text, steps jsonb)
), ${FENCES_CTE}, locked AS (
  SELECT g.channel_id, g.key_id, g.steps FROM given g JOIN fence USING (shard, epoch), LATERAL ${lockedSequence('g.channel_id', others)} s
), message AS (
  SELECT m.*, array_position(${RUNGS}, coalesce(m.status, '${STATUS_LADDER[0]}')) AS rung, locked.steps FROM locked, LATERAL (
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
  ${takeNumbers('SELECT channel_id, taken FROM top')}
), event AS (
  ${insertEvents(`SELECT channel_id, seq.last_seq - top.taken + step.nth, ${STATUS_EVENT}
  FROM step JOIN top USING (channel_id) JOIN seq USING (channel_id)`)}
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked,
  message.channel_id IS NOT NULL AND message.status IS DISTINCT FROM 'failed' AS known, seq.last_seq AS last, coalesce(top.taken, 0) AS taken
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN message USING (channel_id)
  LEFT JOIN top USING (channel_id) LEFT JOIN seq USING (channel_id)`,
    parameters: ['jsonb'],
    row: { channel_id: 'text', fenced: 'bool', locked: 'bool', known: 'bool', last: 'int8?', taken: 'int8' },
  });

const STATUS_STEPS = statusSteps('status-steps', 'wait');
const STATUS_STEPS_OF_MANY = statusSteps('status-steps-of-many', 'skip');
