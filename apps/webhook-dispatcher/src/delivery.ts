/**
 * Tells one webhook its events, one after the other.
 *
 * Guarantees: events go out in sequence; the next one only after the receiver answered 2xx to the one before and the
 * new position is written down. Anything else counts as a failed attempt of that event, which is made again after
 * `min(n * callback_backoff_delay_ms, max_callback_backoff_delay_ms)`, n being the number of failed attempts. After
 * `deadAfterMs` (72 h) of that the event becomes a dead letter and the next one has its turn; where the receiver does
 * not even answer, everything that is overdue goes with it. With `callback_persist` off the third failed attempt is
 * the last and nothing is kept. Dead letters that somebody asked for are told once more, before newer events.
 * - Killed between the receiver's 2xx and the commit, or PostgreSQL away then: the event is posted again with the same
 *   id when the lease has run out. That is the only way to a duplicate besides a receiver whose 2xx got lost, a replay
 *   and a dead letter asked for.
 */
import type { ChannelSeals } from '@dormouse/channel-directory';
import { setTimeout as delay } from 'node:timers/promises';
import type { RegionalDatabase } from '@dormouse/database';
import { wantedEvents, type ChannelSettings } from '@dormouse/gateway-contract';
import { attemptRecord, failureOf, type FinalAnswer } from './attempt-record.js';
import type { Claim, Cursors } from './cursors.js';
import type { DeadLetters } from './dead-letters.js';
import { readBatch, readWebhook, type Batch, type PendingEvent, type Webhook } from './pending-events.js';
import type { Posted, Poster } from './poster.js';

/** Where deliveries are told of: ids, statuses and durations only. A pino logger fits. */
export interface DeliveryLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface DeliveryParts {
  database: Pick<RegionalDatabase, 'pool'>;
  cursors: Cursors;
  deadLetters: DeadLetters;
  /** Opens what is sealed of channels. */
  seals?: ChannelSeals;
  poster: Poster;
  log: DeliveryLog;
  /** Events read at a time. */
  batchSize: number;
  /** A webhook that fails for so long with an event gives it up. */
  deadAfterMs: number;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
}

/** The outside's say in a delivery. */
export interface DeliveryTurn {
  /** More events were announced for the channel since this was last asked: look again before giving the cursor back. */
  takeNews(): boolean;
  /** Others wait, or we stop: give the cursor back after the present event. */
  shouldYield(): boolean;
}

/** How a delivery ended. */
export type DeliveryEnd =
  | { kind: 'told' }
  /** Given back with events left. */
  | { kind: 'yielded' }
  /** Given back for so many milliseconds: the attempt failed, or it could not be made yet. */
  | { kind: 'waiting'; waitMs: number; isFailure: boolean }
  /** Another dispatcher holds the cursor, or the webhook is gone. */
  | { kind: 'lost' };

type Step = { kind: 'on' } | DeliveryEnd;

/** A full host, or a cursor whose webhook cannot be found in the settings, is looked at again after this long. */
const HOST_FULL_WAIT_MS = 1_000;
const NO_WEBHOOK_WAIT_MS = 60_000;
const WRITE_AGAIN_AFTER_MS = 250;
/** Attempts of an event whose customer does not want events kept. */
const ATTEMPTS_UNKEPT = 3;

/** Wait after the n-th failed attempt (n from 1). */
export function backoffMs(
  settings: Pick<ChannelSettings, 'callback_backoff_delay_ms' | 'max_callback_backoff_delay_ms'>,
  failedAttempts: number,
): number {
  return Math.min(failedAttempts * settings.callback_backoff_delay_ms, settings.max_callback_backoff_delay_ms);
}

export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #now: () => number;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /**
   * Tells the claimed webhook all it has to hear, or as much as its turn and its receiver allow, and gives the cursor
   * back. @throws when PostgreSQL is away; the lease then runs out by itself.
   */
  async run(claim: Claim, turn: DeliveryTurn): Promise<DeliveryEnd> {
    const { cursors, database, batchSize, seals } = this.#parts;
    for (;;) {
      turn.takeNews(); // whatever was announced until now is in what we read next
      const webhook = await this.#surely(claim, () => readWebhook(database, claim, seals));
      if (!webhook) return this.#putBack(claim, NO_WEBHOOK_WAIT_MS);
      const asked = await this.#tellAsked(claim, webhook, turn);
      if (asked.kind !== 'on') return asked;
      const readAtMs = this.#now();
      const batch = await this.#surely(claim, () => readBatch(database, claim, webhook.entry, batchSize));
      const step = await this.#tellBatch(claim, webhook, batch, readAtMs, turn);
      if (step.kind !== 'on') return step;
      if (batch.isAll && !turn.takeNews()) {
        await this.#surely(claim, () => cursors.finish(claim, batch.upTo));
        return { kind: 'told' };
      }
      if (!(await this.#surely(claim, () => cursors.advance(claim, batch.upTo)))) return { kind: 'lost' };
    }
  }

  /** Posts the events of a batch; all told means `on`, with the position of the last one perhaps not yet written. */
  async #tellBatch(claim: Claim, webhook: Webhook, batch: Batch, readAtMs: number, turn: DeliveryTurn): Promise<Step> {
    const { cursors } = this.#parts;
    /** Up to here everything is told, skipped or not for this webhook. */
    let told = claim.position;
    for (const event of batch.events) {
      if (turn.shouldYield()) return this.#putBack(claim, 0);
      if (!isTooOld(event, webhook, this.#now() - readAtMs)) {
        const step = await this.#tellOne(claim, webhook, event, told);
        if (step.kind !== 'on') return step;
        // The last one's position is written by the caller, mostly together with giving the cursor back.
        if (event !== batch.events.at(-1) && !(await this.#surely(claim, () => cursors.advance(claim, event.seq))))
          return { kind: 'lost' };
      }
      told = event.seq;
    }
    return { kind: 'on' };
  }

  async #tellOne(claim: Claim, webhook: Webhook, event: PendingEvent, told: bigint): Promise<Step> {
    const posted = await this.#post(claim, webhook, event);
    if (posted.kind !== 'answered') return this.#notPosted(claim, posted);
    const { answer, tookMs } = posted;
    if (answer.kind !== 'taken') return this.#countFailure(claim, webhook, event, told, answer, tookMs);
    claim.unlogged.push(attemptRecord(event, { answer, attempt: claim.attempts + 1, outcome: 'taken', tookMs }));
    claim.attempts = 0;
    return { kind: 'on' };
  }

  /** Tells the dead letters that somebody asked for. */
  async #tellAsked(claim: Claim, webhook: Webhook, turn: DeliveryTurn): Promise<Step> {
    const { batchSize, deadLetters } = this.#parts;
    while (claim.redriving) {
      const letters = await this.#surely(claim, () => deadLetters.asked(claim, batchSize));
      for (const { event, attempts } of letters) {
        if (turn.shouldYield()) return this.#putBack(claim, 0);
        const posted = await this.#post(claim, webhook, event);
        if (posted.kind !== 'answered') return this.#notPosted(claim, posted);
        const { answer, tookMs } = posted;
        const outcome = answer.kind === 'taken' ? 'taken' : 'dead';
        const record = attemptRecord(event, { answer, attempt: attempts + 1, outcome, tookMs });
        await this.#surely(claim, () =>
          answer.kind === 'taken'
            ? deadLetters.told(claim, record)
            : deadLetters.failed(claim, record, failureOf(answer), answer.kind === 'unanswered'),
        );
        if (answer.kind === 'unanswered') break;
      }
      await this.#surely(claim, () => deadLetters.noneAsked(claim));
    }
    return { kind: 'on' };
  }

  async #post(claim: Claim, webhook: Webhook, event: PendingEvent): Promise<Posted> {
    return this.#parts.poster.post(claim, webhook, event, (work) => this.#surely(claim, work));
  }

  async #notPosted(claim: Claim, posted: Exclude<Posted, { kind: 'answered' }>): Promise<DeliveryEnd> {
    if (posted.kind === 'lost') return { kind: 'lost' };
    return this.#putBack(claim, posted.kind === 'full' ? HOST_FULL_WAIT_MS : 0);
  }

  async #countFailure(
    claim: Claim,
    webhook: Webhook,
    event: PendingEvent,
    told: bigint,
    answer: Exclude<FinalAnswer, { kind: 'taken' }>,
    tookMs: number,
  ): Promise<DeliveryEnd> {
    const { cursors, deadAfterMs, log } = this.#parts;
    const failure = failureOf(answer);
    const attempt = claim.attempts + 1;
    const isLast = !webhook.settings.callback_persist && attempt >= ATTEMPTS_UNKEPT;
    const isDead = !isLast && event.waitedMs + tookMs >= deadAfterMs;
    const waitMs = isLast || isDead ? 0 : backoffMs(webhook.settings, attempt);
    const outcome = isLast ? 'dropped' : isDead ? 'dead' : 'failed';
    claim.unlogged.push(attemptRecord(event, { answer, attempt, outcome, tookMs }));
    const facts = { channelId: claim.channelId, webhookId: claim.webhookId, eventId: event.id, attempt };
    const more = { reason: failure.reason, tookMs: Math.round(tookMs), outcome, retryInMs: waitMs };
    log.info({ ...facts, ...more }, 'webhook did not take an event');
    if (outcome === 'failed') {
      await this.#surely(claim, () => cursors.fail(claim, told, waitMs, failure));
      return { kind: 'waiting', waitMs, isFailure: true };
    }
    const overdueMs = answer.kind === 'unanswered' ? deadAfterMs : undefined;
    const wanted = wantedEvents(webhook.entry);
    await this.#surely(claim, () =>
      isLast
        ? cursors.drop(claim, event.seq, failure)
        : cursors.bury(claim, told, event, { failure, overdueMs, wanted }),
    );
    return { kind: 'yielded' };
  }

  async #putBack(claim: Claim, waitMs: number): Promise<DeliveryEnd> {
    await this.#surely(claim, () => this.#parts.cursors.putBack(claim, waitMs));
    return waitMs === 0 ? { kind: 'yielded' } : { kind: 'waiting', waitMs, isFailure: claim.attempts > 0 };
  }

  /** Writes again while the lease lasts: an outage shorter than that costs no duplicate. */
  async #surely<T>(claim: Claim, write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (this.#now() + WRITE_AGAIN_AFTER_MS >= claim.leaseEndsAtMs) throw error;
        await delay(WRITE_AGAIN_AFTER_MS);
      }
    }
  }
}

function isTooOld(event: PendingEvent, { entry }: Webhook, sinceReadMs: number): boolean {
  const maxAgeS = entry.webhook_max_age_seconds;
  return maxAgeS !== undefined && event.ageMs + sinceReadMs > maxAgeS * 1_000;
}
