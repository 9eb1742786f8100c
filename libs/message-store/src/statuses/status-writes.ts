/**
 * Writes how far own messages got: the one statement that knows which step follows from which, for receipts and failures,
 * of messages in chats of two and in groups.
 *
 * It runs in one of two ways. Reports that concern a message itself, or the other one in a chat of two, run it as a transaction
 * of its own: it holds the fence, locks the end of the channel's events, and reads from that lock the one row that matters,
 * the message. Whatever else a step depends on (that a message is not known, that it failed, how far a member got) may have been
 * changed by the writer it waited for, which a statement that had begun before does not see. So those reports run it in a
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
import { rowsByChannel, type ChannelTransaction } from '../events/channel-transaction.js';
import { statusEntrySql } from './status-entry.js';
import {
  isProvisionalSql,
  rankOf,
  rankSql,
  statusSql,
  type ReceiptStatus,
  type StatusReport,
} from './status-ladder.js';

type Pool = RegionalDatabase['pool'];

/** Reports on a channel's messages, as received by the owner of the channel's shard. */
export interface StatusUpdate {
  readonly fence: Fence;
  readonly channelId: string;
  readonly reports: readonly StatusReport[];
}

/** What became of an update. */
export interface StatusSteps {
  /** The numbers of the events made, one for each step. */
  readonly seqs: readonly number[];
  /** The network's ids of messages whose reports were left alone: not known, or failed. */
  readonly left: readonly string[];
}

/** A report that needs nothing read but its message; see above. */
export function isSimpleStatus({ status, viewerId, errors }: StatusReport): boolean {
  return status !== 'failed' && viewerId === undefined && errors === undefined;
}

/** Writes simple reports (see {@link isSimpleStatus}). Each write throws `FencedError` when the shard has a newer owner. */
export function statusWrites(pool: Pool): GroupedWrites<StatusUpdate, StatusSteps> {
  return new GroupedWrites({
    alone: (update) => writeAlone(pool, update),
    together: (updates) => writeTogether(pool, updates),
  });
}

/**
 * Writes any reports in a transaction on their channel, in their order. Those of a message that is not known are stored as
 * they are, until it is.
 * @returns the numbers of the events made
 */
export async function writeStatuses(
  transaction: ChannelTransaction,
  reports: readonly StatusReport[],
): Promise<number[]> {
  return writeInTurn(transaction, reports, false);
}

async function writeInTurn(
  { connection, fence, channelId }: ChannelTransaction,
  reports: readonly StatusReport[],
  early: boolean,
): Promise<number[]> {
  const seqs: number[] = [];
  for (const group of apartFromFailures(reports)) {
    const update = { fence, channelId, reports: group };
    const rows = await STATUS_STEPS_SETTLED.all(connection, givenOf([update], early));
    seqs.push(...stepsOf(rows, update).seqs);
  }
  return seqs;
}

/**
 * Writes the steps of messages that became known in this transaction, from the reports that were stored before them.
 * @returns the numbers of the events made
 */
export async function writeEarlyStatuses(
  transaction: ChannelTransaction,
  keyIds: readonly string[],
): Promise<number[]> {
  if (keyIds.length === 0) return [];
  const rows = await EARLY_REPORTS.all(transaction.connection, transaction.channelId, keyIds);
  const reports = rows.map(({ key_id: keyId, viewer_id: viewerId, status, timestamp, errors }) => ({
    keyId,
    status,
    timestamp: Number(timestamp),
    ...(viewerId !== '' && { viewerId }),
    ...(errors && { errors }),
  }));
  return writeInTurn(transaction, reports, true);
}

/** A failure changes what the reports after it may do, so each is written by itself. */
function apartFromFailures(reports: readonly StatusReport[]): StatusReport[][] {
  const groups: StatusReport[][] = [];
  for (const [index, report] of reports.entries()) {
    const before = reports[index - 1];
    if (!before || before.status === 'failed' || report.status === 'failed') groups.push([report]);
    else groups.at(-1)?.push(report);
  }
  return groups;
}

async function writeAlone(pool: Pool, update: StatusUpdate): Promise<StatusSteps> {
  return stepsOf(await STATUS_STEPS.all(pool, givenOf([update])), update);
}

async function writeTogether(pool: Pool, updates: readonly StatusUpdate[]): Promise<Outcome<StatusSteps>[]> {
  const rows = await STATUS_STEPS_OF_MANY.all(pool, givenOf(updates));
  const byChannel = rowsByChannel(rows);
  return updates.map((update): Outcome<StatusSteps> => {
    const own = byChannel.get(update.channelId) ?? [];
    if (!own[0]?.fenced) return { failed: new FencedError(update.fence) };
    return own[0].locked ? { done: stepsOf(own, update) } : 'left';
  });
}

/**
 * @param rows one for each message of the channel that is known
 * @throws {FencedError} when the shard has a newer owner
 */
function stepsOf(rows: readonly RowOf<typeof STATUS_STEPS>[], { fence, reports }: StatusUpdate): StatusSteps {
  const [first] = rows;
  if (!first?.fenced) throw new FencedError(fence);
  const count = Number(first.steps ?? 0);
  const known = new Set(rows.map((row) => row.key_id));
  return {
    seqs: Array.from({ length: count }, (_, index) => Number(first.last) - count + 1 + index),
    left: reports.map(({ keyId }) => keyId).filter((keyId) => !known.has(keyId)),
  };
}

/** @param early the reports are those that were stored before their messages: what is stored is no step yet */
function givenOf(updates: readonly StatusUpdate[], early = false): string {
  return storableJson(
    updates.map(({ fence, channelId, reports }) => ({
      early,
      shard: fence.shard,
      epoch: fence.epoch.toString(),
      channel_id: channelId,
      reports: reports.map(({ keyId, viewerId, status, timestamp, errors, traceparent }) => ({
        key_id: keyId,
        viewer_id: viewerId,
        status,
        timestamp,
        errors,
        traceparent,
      })),
    })),
  );
}

/** Which rows a statement may read; see above. */
interface Variant {
  readonly others: 'wait' | 'skip';
  readonly settled: boolean;
}

/**
 * The rank a message has for its reports, where its status has none. A failure that was concluded from silence is as if it had
 * not been: the steps before it count.
 */
const RANK_OF_FAILED = `LEFT JOIN LATERAL (
    SELECT CASE WHEN max(${rankSql('t.status')}) FILTER (WHERE t.viewer_id = '') >= ${rankOf('sent')}
      THEN ${rankOf('sent')} ELSE ${rankOf('pending')} END AS rank
    FROM receipts t WHERE m.status = 'failed' AND t.channel_id = m.channel_id AND t.key_id = m.key_id
    HAVING bool_or(t.status = 'failed' AND ${isProvisionalSql('t.errors')})
  ) failed ON true`;

/** Messages that are known, each with its first report. A statement of its own passes over those that failed. */
function messagesOf({ settled }: Variant): string {
  const rank = rankSql(`coalesce(m.status, ${statusSql('1')})`);
  return `
  SELECT m.*, m.chat_id LIKE '%@g.us' AS in_group, first.n, first.timestamp AS reported_at, first.status AS reported,
    first.traceparent,
    ${settled ? `coalesce(${rank}, failed.rank)` : rank} AS rank
  FROM (SELECT DISTINCT ON (channel_id, key_id) * FROM report ORDER BY channel_id, key_id, n) first, LATERAL (
    SELECT channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status FROM messages
    WHERE channel_id = first.channel_id AND key_id = first.key_id AND from_me LIMIT 1 FOR NO KEY UPDATE
  ) m ${settled ? RANK_OF_FAILED : `WHERE m.status IS DISTINCT FROM 'failed'`}`;
}

/** Whom a report is of: '' for the message itself, and for the other one in a chat of two. */
const VIEWER = `CASE WHEN r.status = 'failed' AND NOT message.in_group THEN '' ELSE coalesce(r.viewer_id, '') END`;

/** How far the viewer of a report got before, by the steps stored of it. */
const BEFORE = `LEFT JOIN LATERAL (
    SELECT max(${rankSql('t.status')}) AS rank, bool_or(t.status = 'failed') AS failed FROM receipts t
    WHERE NOT r.early AND (${VIEWER} <> '' OR r.status = 'failed')
      AND t.channel_id = r.channel_id AND t.key_id = r.key_id AND t.viewer_id = ${VIEWER}
  ) before ON true`;

/**
 * Each report with its message, whom it is of, and how far that viewer got before: by the message itself, or by the steps stored of
 * a group's member.
 */
function reportsOf({ settled }: Variant): string {
  return `
  SELECT r.channel_id, r.n, r.key_id, r.status, r.timestamp, r.errors, r.traceparent, r.viewer_id IS NULL AS of_message,
    message.id, message.chat_id, message.in_group, message.status AS message_status, message.rank AS message_rank,
    ${VIEWER} AS viewer_id, ${rankSql('r.status')} AS rank,
    ${settled ? `CASE WHEN ${VIEWER} = '' THEN message.rank ELSE coalesce(before.rank, 0) END` : 'message.rank'} AS viewer_rank,
    ${settled ? 'coalesce(before.failed, false)' : 'false'} AS failed_before
  FROM report r JOIN message USING (channel_id, key_id) ${settled ? BEFORE : ''}`;
}

/**
 * The steps that follow. A message that was received had been accepted by the network, so the first report on a pending
 * message is a step to "sent" as well: the network's own acknowledgement may be written later than the receipt. A message itself
 * fails only while it is pending; a viewer fails once, and not after it received the message.
 */
const STEPS = `
  SELECT channel_id, n, 0 AS part, key_id, id, chat_id, in_group, '' AS viewer_id, 'sent' AS status, reported_at AS timestamp,
    NULL::jsonb AS errors, traceparent, ${rankOf('sent')} AS rank
  FROM message WHERE rank = ${rankOf('pending')} AND reported <> 'failed'
UNION ALL
  SELECT channel_id, n, 1, key_id, id, chat_id, in_group, viewer_id, status, timestamp, errors, traceparent, rank
  FROM (
    SELECT *, max(rank) OVER (PARTITION BY channel_id, key_id, viewer_id ORDER BY n
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS rank_in_reports
    FROM judged
  ) j
  WHERE CASE
    WHEN status = 'sent' THEN false
    WHEN status <> 'failed' THEN message_rank IS NOT NULL AND rank > greatest(viewer_rank, rank_in_reports)
    WHEN of_message THEN coalesce(message_status, 'pending') = 'pending'
    ELSE coalesce(message_status, '') NOT IN ('failed', 'deleted') AND viewer_rank < ${rankOf('delivered')} AND NOT failed_before
  END`;

/** Reports of messages that are not known are stored until they are. */
const REPORTS_OF_UNKNOWN = `
  UNION ALL
  SELECT channel_id, key_id, coalesce(viewer_id, ''), status, timestamp, errors FROM report
  WHERE (channel_id, key_id) NOT IN (SELECT channel_id, key_id FROM message)`;

/** In a chat of two the viewer is the chat: only events of groups name one. */
const ENTRY = statusEntrySql('step', `CASE WHEN step.in_group THEN nullif(step.viewer_id, '') END`);

/**
 * Messages of many channels. A channel that somebody else has locked is waited for, or passed over. Rows that are there are found
 * one by one (LATERAL, or by the key of a conflict): joined, a plan that was made while the tables were small would walk through
 * them when they are large. A message is changed by way of a conflict with its key for that alone: it is there, and locked.
 */
const statusSteps = (name: string, variant: Variant) =>
  defineStatement({
    name,
    text: `
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, early boolean, reports jsonb)
), ${FENCES_CTE}, locked AS (
  SELECT g.* FROM given g JOIN fence USING (shard, epoch), LATERAL ${lockedSequence('g.channel_id', variant.others)} s
), report AS (
  SELECT locked.channel_id, locked.early, r.* FROM locked, LATERAL ROWS FROM (
    jsonb_to_recordset(locked.reports) AS (key_id text, viewer_id text, status text, timestamp bigint, errors jsonb, traceparent text)
  ) WITH ORDINALITY AS r(key_id, viewer_id, status, timestamp, errors, traceparent, n)
), message AS (${messagesOf(variant)}
), judged AS (${reportsOf(variant)}
), step AS (
  SELECT *, row_number() OVER (PARTITION BY channel_id ORDER BY n DESC, part DESC) AS from_end FROM (${STEPS}) s
), changed AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status)
  SELECT channel_id, m.id, m.chat_id, key_id, m.key_remote, m.from_me, m.type, m.source, m.timestamp, m.content,
    CASE WHEN top.failed THEN 'failed' ELSE ${statusSql('greatest(m.rank, top.rank)')} END
  FROM message m JOIN (
    SELECT channel_id, key_id, max(rank) AS rank, bool_or(status = 'failed' AND (viewer_id = '' OR NOT in_group)) AS failed
    FROM step GROUP BY channel_id, key_id
  ) top USING (channel_id, key_id)
  ON CONFLICT (channel_id, id) DO UPDATE SET status = excluded.status
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp, errors)
  SELECT channel_id, key_id, viewer_id, status, timestamp, errors FROM step ${variant.settled ? REPORTS_OF_UNKNOWN : ''}
  ON CONFLICT DO NOTHING
), taken AS (
  SELECT channel_id, max(from_end) AS steps FROM step GROUP BY channel_id
), seq AS (
  ${takeNumbers('SELECT channel_id, steps FROM taken')}
), event AS (
  ${insertEvents(`SELECT channel_id, seq.last_seq - step.from_end + 1, NULL::uuid, 'statuses', 'post',
    jsonb_build_object('statuses', jsonb_build_array(${ENTRY})), NULL, NULL, traceparent FROM step JOIN seq USING (channel_id)`)}
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked, message.key_id,
  seq.last_seq AS last, taken.steps
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN message USING (channel_id)
  LEFT JOIN taken USING (channel_id) LEFT JOIN seq USING (channel_id)`,
    parameters: ['jsonb'],
    row: { channel_id: 'text', fenced: 'bool', locked: 'bool', key_id: 'text?', last: 'int8?', steps: 'int8?' },
  });

const STATUS_STEPS = statusSteps('status-steps', { others: 'wait', settled: false });
const STATUS_STEPS_OF_MANY = statusSteps('status-steps-of-many', { others: 'skip', settled: false });
const STATUS_STEPS_SETTLED = statusSteps('status-steps-settled', { others: 'wait', settled: true });

/** In the order in which a message takes its steps. */
const EARLY_REPORTS = defineStatement({
  name: 'early-reports',
  text: `SELECT key_id, viewer_id, status, timestamp, errors FROM receipts
         WHERE channel_id = $1 AND key_id = ANY ($2) AND status NOT IN ('pending', 'deleted')
         ORDER BY coalesce(${rankSql('status')}, 0), timestamp`,
  parameters: ['text', 'text[]'],
  row: {
    key_id: 'text',
    viewer_id: 'text',
    status: narrowed<ReceiptStatus>('text'),
    timestamp: 'int8',
    errors: narrowed<StatusReport['errors'] | null>('jsonb?'),
  },
});
