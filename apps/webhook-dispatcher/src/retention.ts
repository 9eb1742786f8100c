/**
 * Deletes what no webhook waits for any more: events that every webhook of their channel is past, and lines of the delivery
 * log, both after 7 days; dead letters after 30.
 *
 * Guarantees: an event that has still to be delivered to a webhook, that waits or was set aside, or that is a dead letter, stays.
 * Work goes in small batches with pauses, along indexes, so that traffic is not disturbed; several dispatchers may do it at once.
 * Of the three kinds each fails by itself: what could not be deleted is logged and stays for the next round, the others go.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RegionalDatabase } from '@dormouse/database';
import {
  channelsWithEvents,
  deleteOldAttempts,
  deleteOldDeadLetters,
  deleteOldEvents,
} from '@dormouse/event-outbox/delivery';
import type { DeliveryLog } from './delivery/delivery-log.js';

export interface RetentionSettings {
  keepMs: number;
  keepDeadMs: number;
  intervalMs: number;
  /** Rows deleted by one statement, and the pause after it. */
  batch: number;
  pauseMs: number;
}

const DAY_MS = 86_400_000;
const RETENTION_DEFAULTS: RetentionSettings = {
  keepMs: 7 * DAY_MS,
  keepDeadMs: 30 * DAY_MS,
  intervalMs: 3_600_000,
  batch: 1_000,
  pauseMs: 50,
};

/** What one round deleted. */
export interface Deleted {
  events: number;
  attempts: number;
  deadLetters: number;
}

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

  /** One round. What fails of it is logged. */
  async sweep(): Promise<Deleted> {
    const { keepMs, keepDeadMs, batch } = this.#settings;
    const deleted: Deleted = { events: 0, attempts: 0, deadLetters: 0 };
    await this.#delete('deadLetters', deleted, () => deleteOldDeadLetters(this.#pool, keepDeadMs, batch));
    await this.#delete('attempts', deleted, () => deleteOldAttempts(this.#pool, keepMs, batch));
    try {
      for await (const channelId of this.#channels()) {
        const isDone = await this.#delete('events', deleted, () =>
          deleteOldEvents(this.#pool, channelId, keepMs, batch),
        );
        if (!isDone) break;
      }
    } catch (error) {
      this.#stays('events', error);
    }
    return deleted;
  }

  async *#channels(): AsyncGenerator<string> {
    for (let after = ''; !this.#stopped.signal.aborted;) {
      const ids = await channelsWithEvents(this.#pool, after, this.#settings.batch);
      yield* ids;
      const last = ids.at(-1);
      if (last === undefined) return;
      after = last;
    }
  }

  /** Deletes in batches and counts them. False: it failed. */
  async #delete(what: keyof Deleted, deleted: Deleted, deleteBatch: () => Promise<number>): Promise<boolean> {
    try {
      while (!this.#stopped.signal.aborted) {
        const count = await deleteBatch();
        deleted[what] += count;
        if (count < this.#settings.batch) break;
        await this.#pause(this.#settings.pauseMs);
      }
      return true;
    } catch (error) {
      this.#stays(what, error);
      return false;
    }
  }

  #stays(what: keyof Deleted, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.log.warn(
      { what, reason },
      'what is old stays for now: it could not be deleted, and is tried again next round',
    );
  }

  async #repeat(): Promise<void> {
    const { intervalMs } = this.#settings;
    // At a random moment of the period, so that dispatchers started together do not do it together.
    await this.#pause(Math.random() * intervalMs);
    while (!this.#stopped.signal.aborted) {
      this.log.info(await this.sweep(), 'old events deleted');
      await this.#pause(intervalMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopped.signal, ref: false }).catch(() => undefined);
  }
}
