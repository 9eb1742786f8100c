/**
 * Deletes what nobody waits for any more: events that every webhook of their channel is past, and lines of the delivery
 * log, both after 7 days; dead letters after 30.
 *
 * Guarantees: an event that a webhook has still to be told, that waits or was set aside, or that is a dead letter, stays. Work goes in small batches
 * with pauses, along primary keys, so that traffic is not disturbed; several dispatchers may do it at once. With
 * PostgreSQL away the round ends, and the next one goes on.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RegionalDatabase } from '@dormouse/database';
import type { DeliveryLog } from './delivery-log.js';

export interface RetentionSettings {
  keepMs: number;
  keepDeadMs: number;
  everyMs: number;
  /** Rows deleted by one statement, and the pause after it. */
  batch: number;
  pauseMs: number;
}

const DAY_MS = 86_400_000;
const RETENTION_DEFAULTS: RetentionSettings = {
  keepMs: 7 * DAY_MS,
  keepDeadMs: 30 * DAY_MS,
  everyMs: 3_600_000,
  batch: 1_000,
  pauseMs: 50,
};

/** What one round deleted. */
export interface Deleted {
  events: number;
  attempts: number;
  deadLetters: number;
}

/** Only the oldest of the channel are looked at: they are the first by sequence. */
const DELETE_EVENTS = `
WITH bound AS (
  SELECT least((SELECT min(position) FROM webhook_cursors WHERE channel_id = $1), 9223372036854775807) AS told
), oldest AS (
  SELECT e.seq, e.created_at FROM events e, bound
  WHERE e.channel_id = $1 AND e.seq <= bound.told
    AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.channel_id = $1 AND d.seq = e.seq)
    AND NOT EXISTS (SELECT 1 FROM webhook_held_events h WHERE h.channel_id = $1 AND h.seq = e.seq)
  ORDER BY e.seq LIMIT $3
)
DELETE FROM events USING oldest
WHERE events.channel_id = $1 AND events.seq = oldest.seq
  AND oldest.created_at < now() - $2::float8 * interval '1 ms'`;

const DELETE_ATTEMPTS = `
WITH oldest AS (SELECT id, at FROM webhook_attempts ORDER BY id LIMIT $2)
DELETE FROM webhook_attempts USING oldest
WHERE webhook_attempts.id = oldest.id AND oldest.at < now() - $1::float8 * interval '1 ms'`;

const DELETE_DEAD = `
DELETE FROM dead_letters WHERE (channel_id, webhook_id, seq) IN (
  SELECT channel_id, webhook_id, seq FROM dead_letters WHERE died_at < now() - $1::float8 * interval '1 ms' LIMIT $2)`;

export class Retention {
  readonly #pool: RegionalDatabase['pool'];
  readonly #settings: RetentionSettings;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    database: Pick<RegionalDatabase, 'pool'>,
    private readonly log: DeliveryLog,
    settings: Partial<RetentionSettings> = {},
  ) {
    this.#pool = database.pool;
    this.#settings = { ...RETENTION_DEFAULTS, ...settings };
  }

  start(): void {
    this.#running ??= this.#repeat();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** One round. @throws when PostgreSQL is away */
  async sweep(): Promise<Deleted> {
    const { keepMs, keepDeadMs, batch } = this.#settings;
    const deadLetters = await this.#inBatches('delete-dead-letters', DELETE_DEAD, [keepDeadMs, batch]);
    const attempts = await this.#inBatches('delete-attempts', DELETE_ATTEMPTS, [keepMs, batch]);
    let events = 0;
    for await (const channelId of this.#channels()) {
      events += await this.#inBatches('delete-events', DELETE_EVENTS, [channelId, keepMs, batch]);
    }
    return { events, attempts, deadLetters };
  }

  async *#channels(): AsyncGenerator<string> {
    for (let after = ''; !this.#stopped.signal.aborted;) {
      const { rows } = await this.#pool.query<{ channel_id: string }>({
        name: 'channels-with-events',
        text: 'SELECT channel_id FROM event_sequences WHERE channel_id > $1 ORDER BY channel_id LIMIT $2',
        values: [after, this.#settings.batch],
      });
      for (const { channel_id: id } of rows) yield id;
      const last = rows.at(-1);
      if (!last) return;
      after = last.channel_id;
    }
  }

  async #inBatches(name: string, text: string, values: unknown[]): Promise<number> {
    let deleted = 0;
    while (!this.#stopped.signal.aborted) {
      const { rowCount } = await this.#pool.query({ name, text, values });
      deleted += rowCount ?? 0;
      if ((rowCount ?? 0) < this.#settings.batch) return deleted;
      await this.#pause(this.#settings.pauseMs);
    }
    return deleted;
  }

  async #repeat(): Promise<void> {
    const { everyMs } = this.#settings;
    // At a random moment of the period, so that dispatchers started together do not do it together.
    await this.#pause(Math.random() * everyMs);
    while (!this.#stopped.signal.aborted) {
      try {
        this.log.info(await this.sweep(), 'old events deleted');
      } catch (error) {
        this.log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'old events stay for now');
      }
      await this.#pause(everyMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopped.signal, ref: false }).catch(() => undefined);
  }
}
