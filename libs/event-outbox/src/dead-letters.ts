/**
 * Events that a webhook did not accept in time.
 *
 * Guarantees: an event becomes a dead letter in the statement that moves the webhook's position past it (cursors.ts), so
 * it is always either still to be delivered, delivered, or here. A redrive delivers it once more, before newer
 * events, and leaves only after the webhook's 2xx; if the webhook fails again it rests here as before. Its event stays
 * in the database as long as it does. With PostgreSQL away nothing moves.
 */
import { defineStatement, narrowed, transaction, type Connection, type RegionalDatabase } from '@dormouse/database';
import type { WebhookEventMethod, WebhookEventType } from '@dormouse/gateway-contract';
import type { AttemptRecord, Claim, Failure } from './claim.js';
import { LOG_ATTEMPTS } from './cursor-writes.js';
import { toPendingEvent, type PendingEvent } from './event-rows.js';

/** A dead letter that is to be delivered once more. */
export interface Redrive {
  event: PendingEvent;
  /** Attempts made before. */
  attempts: number;
}

const PENDING = defineStatement({
  name: 'pending-redrives',
  text: `SELECT e.seq, e.id, e.type, e.method, e.payload, e.conversation, e.traceparent, d.attempts, 0::float8 AS waited_ms,
           extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms
         FROM dead_letters d JOIN events e ON e.channel_id = d.channel_id AND e.seq = d.seq
         WHERE d.channel_id = $1 AND d.webhook_id = $2 AND d.redrive_at IS NOT NULL ORDER BY d.seq LIMIT $3`,
  parameters: ['text', 'text', 'int8'],
  row: {
    seq: 'int8',
    id: 'uuid',
    type: narrowed<WebhookEventType>('text'),
    method: narrowed<WebhookEventMethod>('text'),
    payload: narrowed<Record<string, unknown>>('jsonb'),
    conversation: 'text?',
    traceparent: 'text?',
    attempts: 'int4',
    waited_ms: 'float8',
    age_ms: 'float8',
  },
});

const DELIVERED = defineStatement({
  name: 'dead-letter-delivered',
  text: `WITH held AS (DELETE FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2 AND seq = $3 RETURNING 1),
         logged AS (${LOG_ATTEMPTS}) SELECT 1 AS done`,
  parameters: ['text', 'text', 'int8', 'jsonb'],
  row: { done: 'int4' },
});

const FAILED = defineStatement({
  name: 'dead-letter-failed',
  text: `WITH held AS (
           UPDATE dead_letters SET redrive_at = NULL, attempts = $5, last_status = $6, last_error = $7
           WHERE channel_id = $1 AND webhook_id = $2 AND seq = $3 RETURNING 1
         ), others AS (
           UPDATE dead_letters SET redrive_at = NULL
           WHERE $8::bool AND channel_id = $1 AND webhook_id = $2 AND seq <> $3 AND redrive_at IS NOT NULL
         ), logged AS (${LOG_ATTEMPTS}) SELECT 1 AS done`,
  parameters: ['text', 'text', 'int8', 'jsonb', 'int4', 'int4?', 'text', 'bool'],
  row: { done: 'int4' },
});

const LOCK_CURSOR = defineStatement({
  name: 'lock-cursor',
  text: 'SELECT position FROM webhook_cursors WHERE channel_id = $1 AND webhook_id = $2 FOR UPDATE',
  parameters: ['text', 'text'],
  row: { position: 'int8' },
});

const SET_REDRIVING = defineStatement({
  name: 'set-redriving',
  text: `UPDATE webhook_cursors SET redriving = EXISTS (
           SELECT 1 FROM dead_letters d JOIN events e ON e.channel_id = d.channel_id AND e.seq = d.seq
           WHERE d.channel_id = $1 AND d.webhook_id = $2 AND d.redrive_at IS NOT NULL)
         WHERE channel_id = $1 AND webhook_id = $2 RETURNING redriving`,
  parameters: ['text', 'text'],
  row: { redriving: 'bool' },
});

/** The webhook's position, with its row locked for the rest of the transaction; undefined when it is gone. */
export async function lockCursor(
  connection: Connection,
  { channelId, webhookId }: Pick<Claim, 'channelId' | 'webhookId'>,
): Promise<number | undefined> {
  const row = await LOCK_CURSOR.first(connection, channelId, webhookId);
  return row && Number(row.position);
}

export class DeadLetters {
  constructor(private readonly database: Pick<RegionalDatabase, 'pool'>) {}

  /** The next ones with a redrive, in sequence. */
  async pendingRedrives(claim: Claim, limit: number): Promise<Redrive[]> {
    const rows = await PENDING.all(this.database.pool, claim.channelId, claim.webhookId, limit);
    return rows.map((row) => ({ event: toPendingEvent(row), attempts: row.attempts }));
  }

  /** The webhook accepted it. */
  async markDelivered(claim: Claim, record: AttemptRecord): Promise<void> {
    const log = JSON.stringify([record]);
    await DELIVERED.count(this.database.pool, claim.channelId, claim.webhookId, record.seq, log);
  }

  /**
   * The webhook did not accept it: it rests again.
   * @param all the receiver did not answer at all, so the other redrives end, too
   */
  async failed(claim: Claim, record: AttemptRecord, failure: Failure, all: boolean): Promise<void> {
    await FAILED.count(
      this.database.pool,
      claim.channelId,
      claim.webhookId,
      record.seq,
      JSON.stringify([record]),
      record.attempt,
      failure.status ?? null,
      failure.reason,
      all,
    );
  }

  /**
   * Records that no redrive is pending. A request for a redrive locks the cursor first, and so does this: what was
   * requested before is seen here, and what is requested later sets the flag again.
   */
  async clearRedriveFlag(claim: Claim): Promise<void> {
    await transaction(this.database, async (connection) => {
      await lockCursor(connection, claim);
      claim.redriving = (await SET_REDRIVING.first(connection, claim.channelId, claim.webhookId))?.redriving ?? false;
    });
  }
}
