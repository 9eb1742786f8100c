/**
 * Tells one webhook its events, one after the other.
 *
 * Guarantees: events go out in sequence; the next one only after the receiver answered 2xx to the one before and the
 * new position is written down. Anything else counts as a failed attempt of that event, which is made again after
 * `min(n * callback_backoff_delay_ms, max_callback_backoff_delay_ms)`, n being the number of failed attempts; nothing
 * is given up. A post never starts with less of the lease left than it can take, so two dispatchers do not post for one
 * webhook at the same time.
 * - Killed between the receiver's 2xx and the commit, or PostgreSQL away then: the event is posted again with the same
 *   id when the lease has run out. That is the only way to a duplicate besides a receiver whose 2xx got lost.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RegionalDatabase } from '@dormouse/database';
import type { ChannelSettings } from '@dormouse/gateway-contract';
import type { Claim, Cursors, Failure } from './cursors.js';
import type { DeliveryMetrics } from './delivery-metrics.js';
import type { HostSlots } from './host-slots.js';
import { readBatch, readWebhook, type Batch, type PendingEvent, type Webhook } from './pending-events.js';
import type { Answer, WebhookClient } from './webhook-client.js';
import { webhookRequest } from './webhook-request.js';

/** Where deliveries are told of: ids, statuses and durations only. A pino logger fits. */
export interface DeliveryLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface DeliveryParts {
  database: Pick<RegionalDatabase, 'pool'>;
  cursors: Cursors;
  client: Pick<WebhookClient, 'post'>;
  hosts: HostSlots;
  metrics: DeliveryMetrics;
  log: DeliveryLog;
  /** Events read at a time. */
  batchSize: number;
  /** How much of the lease must be left to start a post: its timeout and the writing down. */
  postNeedsMs: number;
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
    const { cursors, database, batchSize } = this.#parts;
    for (;;) {
      turn.takeNews(); // whatever was announced until now is in what we read next
      const webhook = await this.#surely(claim, () => readWebhook(database, claim));
      if (!webhook) return this.#putBack(claim, NO_WEBHOOK_WAIT_MS);
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
    const { client, cursors, hosts, metrics, postNeedsMs } = this.#parts;
    const request = webhookRequest(claim.channelId, webhook.entry, event);
    const release = await hosts.take(request.url.origin, claim.attempts > 0);
    if (!release) return this.#putBack(claim, HOST_FULL_WAIT_MS);
    const startedAtMs = this.#now();
    let answer: Answer;
    try {
      const isShort = (): boolean => claim.leaseEndsAtMs - this.#now() < postNeedsMs;
      if (isShort() && (!(await this.#surely(claim, () => cursors.renew(claim))) || isShort())) return { kind: 'lost' };
      answer = await client.post(request);
    } finally {
      release();
    }
    const tookMs = this.#now() - startedAtMs;
    metrics.attempted(answer, tookMs);
    if (answer.kind === 'taken') {
      metrics.delivered(event.ageMs, tookMs);
      return { kind: 'on' };
    }
    if (answer.kind === 'abandoned') return this.#putBack(claim, 0);
    return this.#countFailure(claim, webhook, event, told, answer, tookMs);
  }

  async #countFailure(
    claim: Claim,
    webhook: Webhook,
    event: PendingEvent,
    told: bigint,
    answer: Exclude<Answer, { kind: 'taken' | 'abandoned' }>,
    tookMs: number,
  ): Promise<DeliveryEnd> {
    const failure: Failure =
      answer.kind === 'refused'
        ? { status: answer.status, reason: `answered ${answer.status}` }
        : { status: undefined, reason: answer.reason };
    const attempt = claim.attempts + 1;
    const waitMs = backoffMs(webhook.settings, attempt);
    this.#parts.log.info(
      {
        channelId: claim.channelId,
        webhookId: claim.webhookId,
        eventId: event.id,
        attempt,
        reason: failure.reason,
        tookMs: Math.round(tookMs),
        retryInMs: waitMs,
      },
      'webhook did not take an event',
    );
    await this.#surely(claim, () => this.#parts.cursors.fail(claim, told, waitMs, failure));
    return { kind: 'waiting', waitMs, isFailure: true };
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
