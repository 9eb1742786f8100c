import { defineStatement, narrowed, type RegionalDatabase } from '@dormouse/database';
import {
  conversationOf,
  wantedEvents,
  type WebhookEntry,
  type WebhookEventMethod,
  type WebhookEventType,
} from '@dormouse/gateway-contract';
import type { Claim } from './claim.js';

/** One event as it lies in the outbox. */
export interface PendingEvent {
  seq: bigint;
  /** Stays the same however often the event is posted. */
  id: string;
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: Record<string, unknown>;
  /** Id of the chat it belongs to; '' for events that belong to none. */
  conversation: string;
  /** The trace that it is a part of, as W3C `traceparent`. */
  traceparent?: string;
  /** Age when it was read, by the database's clock. */
  ageMs: number;
  /** How long this webhook could have had it: its age, or the time since the webhook's beginning or last replay. */
  waitedMs: number;
}

/** What is to be delivered to a webhook next. */
export interface Batch {
  events: PendingEvent[];
  /** Everything up to here is either in `events` or not for this webhook. */
  upTo: bigint;
  /** No more was written when this was read. */
  isAll: boolean;
}

/** Condition on events `e`: those for one webhook alone and those of the kinds it wants, as parameters of the statement. */
export function isForWebhook(webhookId: string, kinds: string): string {
  return `(e.webhook_id = ${webhookId}
    OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY (${kinds}::text[])))`;
}

/** Characters of a chat's id that distinguish conversations: they go into an index. */
const LONGEST_CONVERSATION = 250;

/** A row of `events` as statements of the dispatcher select it. */
export interface EventRow {
  seq: string;
  id: string;
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: Record<string, unknown>;
  conversation: string | null;
  traceparent: string | null;
  age_ms: number;
  waited_ms: number;
}

const PENDING_EVENTS = defineStatement({
  name: 'pending-events',
  text: `SELECT s.last_seq, e.* FROM event_sequences s LEFT JOIN LATERAL (
           SELECT e.seq, e.id, e.type, e.method, e.payload, e.conversation, e.traceparent,
                  extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms,
                  extract(epoch FROM clock_timestamp() - greatest(e.created_at, c.since))::float8 * 1000 AS waited_ms
           FROM events e LEFT JOIN webhook_cursors c ON c.channel_id = $1 AND c.webhook_id = $6
           WHERE e.channel_id = $1 AND e.seq > $2 AND e.seq <= s.last_seq AND ${isForWebhook('$6', '$3')}
             AND ($4::float8 IS NULL OR e.created_at > clock_timestamp() - $4 * interval '1 second')
           ORDER BY e.seq LIMIT $5) e ON true
         WHERE s.channel_id = $1 ORDER BY e.seq`,
  parameters: ['text', 'int8', 'text[]', 'float8?', 'int8', 'text'],
  row: {
    last_seq: 'int8',
    seq: 'int8?',
    id: 'uuid?',
    type: narrowed<WebhookEventType | null>('text?'),
    method: narrowed<WebhookEventMethod | null>('text?'),
    payload: narrowed<Record<string, unknown> | null>('jsonb?'),
    conversation: 'text?',
    traceparent: 'text?',
    age_ms: 'float8?',
    waited_ms: 'float8?',
  },
});

/**
 * Reads the next events that the webhook wants, at most `limit`, in sequence. Events that it does not want and events
 * older than its `webhook_max_age_seconds` stay in the database: only `upTo` shows that they are passed over. The head
 * of the sequence is read in the same snapshot as the events, and sequence order is commit order, so nothing that
 * commits later can lie below `upTo`.
 */
export async function readBatch(
  database: Pick<RegionalDatabase, 'pool'>,
  claim: Pick<Claim, 'channelId' | 'webhookId' | 'position'>,
  entry: WebhookEntry,
  limit: number,
): Promise<Batch> {
  const rows = await PENDING_EVENTS.all(
    database.pool,
    claim.channelId,
    claim.position,
    wantedEvents(entry),
    entry.webhook_max_age_seconds ?? null,
    limit,
    claim.webhookId,
  );
  const events = rows.flatMap((row) => (isEvent(row) ? [toPendingEvent(row)] : []));
  const isAll = events.length < limit;
  const head = BigInt(rows[0]?.last_seq ?? claim.position);
  return { events, isAll, upTo: isAll ? head : (events.at(-1)?.seq ?? claim.position) };
}

/** Whether there is an event in a row that has one or none. */
export function isEvent<Row extends { [Field in keyof EventRow]: EventRow[Field] | null }>(
  row: Row,
): row is Row & EventRow {
  return row.id !== null;
}

export function toPendingEvent(row: EventRow): PendingEvent {
  return {
    seq: BigInt(row.seq),
    id: row.id,
    type: row.type,
    method: row.method,
    payload: row.payload,
    conversation: (conversationOf(row) ?? '').slice(0, LONGEST_CONVERSATION),
    ...(row.traceparent !== null && { traceparent: row.traceparent }),
    ageMs: row.age_ms,
    waitedMs: row.waited_ms,
  };
}
