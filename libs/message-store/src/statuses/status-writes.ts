import { defineStatement, narrowed, storableJson, type RowOfColumns } from '@dormouse/database';
import {
  MESSAGE_STATUS_CODES,
  type ChannelEvent,
  type Message,
  type MessageStatus,
  type StatusEntry,
} from '@dormouse/gateway-contract';
import type { ChannelTransaction } from '../events/channel-transaction.js';
import { isMessageStatus, StatusLadder, type ReceiptStatus, type StatusReport, type Step } from './status-ladder.js';

const RECEIPT_ROW = {
  key_id: 'text',
  viewer_id: 'text',
  status: 'text',
  timestamp: 'int8',
  errors: narrowed<StatusReport['errors'] | null>('jsonb?'),
} as const;

/** A row of `receipts`. */
export type ReceiptRow = RowOfColumns<typeof RECEIPT_ROW>;

const RECEIPTS_BY_KEY = defineStatement({
  name: 'receipts-by-key',
  text: `SELECT key_id, viewer_id, status, timestamp, errors FROM receipts
         WHERE channel_id = $1 AND key_id = ANY ($2)`,
  parameters: ['text', 'text[]'],
  row: RECEIPT_ROW,
});

/** Messages are found and changed one by one; see `status-step-writes.ts`. */
const WRITE_STATUSES = defineStatement({
  name: 'write-statuses',
  text: `
WITH step AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp, errors)
  SELECT $1, r."keyId", r."viewerId", r.status, r.timestamp, r.errors
  FROM jsonb_to_recordset($2::jsonb) AS r("keyId" text, "viewerId" text, status text, timestamp bigint, errors jsonb)
  ON CONFLICT DO NOTHING
), changed AS (
  SELECT m.*, r.status FROM jsonb_to_recordset($3::jsonb) AS r("keyId" text, status text), LATERAL (
    SELECT channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content FROM messages
    WHERE channel_id = $1 AND key_id = r."keyId" AND from_me OFFSET 0
  ) m
)
INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status)
SELECT * FROM changed ON CONFLICT (channel_id, id) DO UPDATE SET status = excluded.status`,
  parameters: ['text', 'jsonb', 'jsonb'],
});

/** What a set of reports does to the channel's own messages. */
export interface StatusChanges {
  /** Steps to write, for messages that are not known yet too. */
  receipts: (Step & { keyId: string })[];
  /** New status of messages, by the network's id. */
  statuses: Map<string, MessageStatus>;
  events: ChannelEvent[];
}

/**
 * Works out what reports change. A report of a message that is not known is kept as it is: it is told when the message
 * becomes known.
 */
export function changesOf(
  reports: readonly StatusReport[],
  messages: ReadonlyMap<string, Message>,
  taken: readonly ReceiptRow[],
): StatusChanges {
  const ladders = new Map<string, StatusLadder>();
  const changes: StatusChanges = { receipts: [], statuses: new Map(), events: [] };
  for (const report of reports) {
    const message = messages.get(report.keyId);
    if (!message) {
      changes.receipts.push({ ...report, viewerId: report.viewerId ?? '' });
      continue;
    }
    const ladder = ladders.get(report.keyId) ?? ladderOf(message, report.keyId, taken);
    ladders.set(report.keyId, ladder);
    for (const step of ladder.take(report)) {
      changes.receipts.push({ ...step, keyId: report.keyId });
      changes.statuses.set(report.keyId, ladder.status);
      changes.events.push(statusEvent(message, step));
    }
  }
  return changes;
}

function ladderOf(message: Message, keyId: string, taken: readonly ReceiptRow[]): StatusLadder {
  const own = taken.filter((row) => row.key_id === keyId);
  return new StatusLadder(
    message.status ?? 'pending',
    own.map((row) => ({ viewerId: row.viewer_id, status: row.status, errors: row.errors })),
    !isGroupChat(message.chat_id),
  );
}

/** Stored receipts as reports, in the order in which a message takes its steps. */
export function toReports(rows: readonly ReceiptRow[]): StatusReport[] {
  return rows
    .flatMap((row): StatusReport[] =>
      isReceiptStatus(row.status)
        ? [
            {
              keyId: row.key_id,
              status: row.status,
              timestamp: Number(row.timestamp),
              ...(row.viewer_id !== '' && { viewerId: row.viewer_id }),
              ...(row.errors && { errors: row.errors }),
            },
          ]
        : [],
    )
    .sort((a, b) => MESSAGE_STATUS_CODES[a.status] - MESSAGE_STATUS_CODES[b.status] || a.timestamp - b.timestamp);
}

function isReceiptStatus(status: string): status is ReceiptStatus {
  return isMessageStatus(status) && status !== 'pending' && status !== 'deleted';
}

/** One step as customers see it. A list names the viewer of every receipt, in a chat of two the other one. */
export function statusEntry(
  message: { id: string; chat_id: string },
  step: { status: MessageStatus; viewerId: string; timestamp: number; errors?: StatusReport['errors'] | null },
): StatusEntry {
  const viewerId = step.viewerId || (RECEIVED.includes(step.status) ? otherOf(message.chat_id) : undefined);
  return {
    id: message.id,
    code: MESSAGE_STATUS_CODES[step.status],
    status: step.status,
    recipient_id: message.chat_id,
    ...(viewerId !== undefined && { viewer_id: viewerId }),
    timestamp: String(step.timestamp),
    ...(step.errors && { errors: step.errors }),
  };
}

function isGroupChat(chatId: string): boolean {
  return chatId.endsWith('@g.us');
}

const RECEIVED: readonly MessageStatus[] = ['delivered', 'read', 'played'];

/** The contact a chat of two is with. */
function otherOf(chatId: string): string | undefined {
  if (isGroupChat(chatId)) return undefined;
  return chatId.endsWith('@s.whatsapp.net') ? chatId.slice(0, chatId.indexOf('@')) : chatId;
}

/** In a chat of two the viewer is the chat: only events of groups name one. */
function statusEvent(message: Message, step: Step): ChannelEvent {
  const { viewer_id: viewerId, ...entry } = statusEntry(message, step);
  const shown = viewerId !== undefined && isGroupChat(message.chat_id) ? { ...entry, viewer_id: viewerId } : entry;
  return { type: 'statuses', method: 'post', payload: { statuses: [shown] } };
}

export async function receiptsOf(
  { connection, channelId }: ChannelTransaction,
  keyIds: readonly string[],
): Promise<ReceiptRow[]> {
  return RECEIPTS_BY_KEY.all(connection, channelId, keyIds);
}

/** Writes the steps and the messages' new statuses; the events are the caller's to append. */
export async function writeStatuses(
  { connection, channelId }: ChannelTransaction,
  changes: StatusChanges,
): Promise<void> {
  if (changes.receipts.length === 0) return;
  const statuses = [...changes.statuses].map(([keyId, status]) => ({ keyId, status }));
  await WRITE_STATUSES.count(connection, channelId, storableJson(changes.receipts), storableJson(statuses));
}
