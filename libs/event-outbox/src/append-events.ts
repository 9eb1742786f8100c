/**
 * No event is lost, and all of a channel are in order: this is the only place that numbers and writes them.
 *
 * The first to append locks the channel's row of `event_sequences`, in the transaction of the thing the event is about.
 * Writers of one channel therefore pass one after the other, each sees all that the one before committed, sequence
 * numbers have no gaps, and a reader that sees number n has seen every number below it. Both exist, the event and what it
 * is about, or neither does. Redis plays no part; with PostgreSQL away nothing is written and the caller must try again.
 * After the commit the dispatcher is to be notified; it finds events without that, too, but later.
 */
import { defineStatement, storableJson, type Connection } from '@dormouse/database';
import type { ChannelEvent } from '@dormouse/gateway-contract';
import { traceparent } from '@dormouse/traces';

/** An event to append. */
export interface NewEvent extends ChannelEvent {
  /** A UUID. Absent: one is made. */
  id?: string;
  /** The one webhook it is for, whatever that wants. Absent: for all that want its kind. */
  webhook_id?: string;
}

/** The end of a channel's events, which a transaction holds until it ends. */
export interface EventLog {
  /**
   * Appends events after all that are there, in the order given, whatever is in them. They are a part of the trace that this runs in.
   * @returns their sequence numbers
   */
  readonly append: (events: readonly NewEvent[]) => Promise<number[]>;
}

const LOCK_SEQUENCE = defineStatement({
  name: 'lock-event-sequence',
  text: 'SELECT 1 AS locked FROM event_sequences WHERE channel_id = $1 FOR UPDATE',
  parameters: ['text'],
  row: { locked: 'int4' },
});

const BEGIN_SEQUENCE = defineStatement({
  name: 'begin-event-sequence',
  text: 'INSERT INTO event_sequences (channel_id) VALUES ($1) ON CONFLICT (channel_id) DO NOTHING',
  parameters: ['text'],
});

const APPEND = defineStatement({
  name: 'append-events',
  text: `
WITH event AS (
  SELECT e.*, count(*) OVER () AS total FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (id uuid, type text, method text, payload jsonb,
    conversation text, webhook_id text)) WITH ORDINALITY AS e(id, type, method, payload, conversation, webhook_id, nth)
), seq AS (
  ${takeNumbers('SELECT $1, max(total) FROM event')}
)
${insertEvents(`SELECT $1, seq.last_seq - event.total + event.nth, event.id, event.type, event.method, event.payload, event.conversation,
  event.webhook_id, $3 FROM event, seq`)}
RETURNING seq`,
  parameters: ['text', 'jsonb', 'text?'],
  row: { seq: 'int8' },
});

/** Locks the end of the channel's events for the rest of the transaction, before anything else of the channel. */
export async function lockEventLog(connection: Connection, channelId: string): Promise<EventLog> {
  await lockSequence(connection, channelId);
  return {
    append: async (events) => {
      if (events.length === 0) return [];
      const rows = await APPEND.all(connection, channelId, storableJson(events), traceparent() ?? null);
      return rows.map(({ seq }) => Number(seq)).sort((a, b) => a - b);
    },
  };
}

async function lockSequence(connection: Connection, channelId: string): Promise<void> {
  if (await LOCK_SEQUENCE.first(connection, channelId)) return;
  await BEGIN_SEQUENCE.count(connection, channelId);
  if (await LOCK_SEQUENCE.first(connection, channelId)) return;
  throw new Error(`event sequence of channel ${channelId} is missing`);
}

/**
 * For statements that write a thing and its event in one: the part that locks the sequence of the channel that a column
 * names, to be joined LATERAL. @param others what to do with a channel that somebody else has locked
 */
export function lockedSequence(channelColumn: string, others: 'wait' | 'skip'): string {
  return `(SELECT 1 FROM event_sequences WHERE channel_id = ${channelColumn} FOR UPDATE${others === 'skip' ? ' SKIP LOCKED' : ''})`;
}

/**
 * The same kind of statement: the part that assigns numbers to events. Its rows have the `channel_id` and the last number
 * that was assigned.
 * @param counts a SELECT of each channel, already locked, and how many events it gets
 */
export function takeNumbers(counts: string): string {
  return `INSERT INTO event_sequences (channel_id, last_seq) ${counts}
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + excluded.last_seq
  RETURNING channel_id, last_seq`;
}

/**
 * The same kind of statement: the part that writes events under the numbers assigned.
 * @param rows a SELECT of channel_id, seq, id (null: made), type, method, payload, conversation, webhook_id
 * and traceparent
 */
export function insertEvents(rows: string): string {
  return `INSERT INTO events (channel_id, seq, id, type, method, payload, conversation, webhook_id, traceparent)
SELECT channel_id, seq, coalesce(id, gen_random_uuid()), type, method, payload, conversation, webhook_id, traceparent
FROM (${rows}) AS given(channel_id, seq, id, type, method, payload, conversation, webhook_id, traceparent)`;
}
