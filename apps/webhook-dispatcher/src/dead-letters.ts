/**
 * Events that a webhook did not take in its time.
 *
 * Guarantees: an event becomes a dead letter in the statement that moves the webhook's position past it (cursors.ts), so
 * it is always either still to be told, told, or here. One that is asked for again is told once more, before newer
 * events, and leaves only after the webhook's 2xx; if the webhook fails again it rests here as before. Its event stays
 * in the database as long as it does. With PostgreSQL away nothing moves.
 */
import { transaction, type RegionalDatabase } from '@dormouse/database';
import type { AttemptRecord, Failure } from './attempt-record.js';
import { LOG_ATTEMPTS, type Claim } from './cursors.js';
import type { PendingEvent } from './pending-event.js';
import { toPendingEvent, type EventRow } from './pending-events.js';

/** A dead letter that is to be told once more. */
export interface AskedLetter {
  event: PendingEvent;
  /** Attempts made before. */
  attempts: number;
}

export class DeadLetters {
  constructor(private readonly database: Pick<RegionalDatabase, 'pool'>) {}

  /** The next ones that somebody asked for, in sequence. */
  async asked(claim: Claim, limit: number): Promise<AskedLetter[]> {
    const { rows } = await this.database.pool.query<EventRow & { seq: string; attempts: number }>({
      name: 'asked-dead-letters',
      text: `SELECT e.seq, e.id, e.type, e.method, e.payload, e.conversation, d.attempts, 0::float8 AS waited_ms,
               extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms
             FROM dead_letters d JOIN events e ON e.channel_id = d.channel_id AND e.seq = d.seq
             WHERE d.channel_id = $1 AND d.webhook_id = $2 AND d.redrive_at IS NOT NULL ORDER BY d.seq LIMIT $3`,
      values: [claim.channelId, claim.webhookId, limit],
    });
    return rows.map((row) => ({ event: toPendingEvent(row), attempts: row.attempts }));
  }

  /** The webhook took it. */
  async told(claim: Claim, record: AttemptRecord): Promise<void> {
    await this.database.pool.query({
      name: 'dead-letter-told',
      text: `WITH held AS (DELETE FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2 AND seq = $3 RETURNING 1),
             logged AS (${LOG_ATTEMPTS}) SELECT 1`,
      values: [claim.channelId, claim.webhookId, record.seq, JSON.stringify([record])],
    });
  }

  /**
   * The webhook did not take it: it rests again.
   * @param all the receiver did not answer at all, so whatever else was asked for rests, too
   */
  async failed(claim: Claim, record: AttemptRecord, failure: Failure, all: boolean): Promise<void> {
    await this.database.pool.query({
      name: 'dead-letter-failed',
      text: `WITH held AS (
               UPDATE dead_letters SET redrive_at = NULL, attempts = $5, last_status = $6, last_error = $7
               WHERE channel_id = $1 AND webhook_id = $2 AND seq = $3 RETURNING 1
             ), others AS (
               UPDATE dead_letters SET redrive_at = NULL
               WHERE $8 AND channel_id = $1 AND webhook_id = $2 AND seq <> $3 AND redrive_at IS NOT NULL
             ), logged AS (${LOG_ATTEMPTS}) SELECT 1`,
      values: [
        claim.channelId,
        claim.webhookId,
        record.seq,
        JSON.stringify([record]),
        record.attempt,
        failure.status ?? null,
        failure.reason,
        all,
      ],
    });
  }

  /**
   * Notes that nothing is asked for any more. Who asks locks the cursor first, and so does this: what was asked for
   * before it is seen here, and what comes after sets the mark again.
   */
  async noneAsked(claim: Claim): Promise<void> {
    await transaction(this.database, async (connection) => {
      const cursor = [claim.channelId, claim.webhookId];
      await connection.query({
        text: 'SELECT 1 FROM webhook_cursors WHERE channel_id = $1 AND webhook_id = $2 FOR UPDATE',
        values: cursor,
      });
      const { rows } = await connection.query<{ redriving: boolean }>({
        text: `UPDATE webhook_cursors SET redriving = EXISTS (
                 SELECT 1 FROM dead_letters d JOIN events e ON e.channel_id = d.channel_id AND e.seq = d.seq
                 WHERE d.channel_id = $1 AND d.webhook_id = $2 AND d.redrive_at IS NOT NULL)
               WHERE channel_id = $1 AND webhook_id = $2 RETURNING redriving`,
        values: cursor,
      });
      claim.redriving = rows[0]?.redriving ?? false;
    });
  }
}
