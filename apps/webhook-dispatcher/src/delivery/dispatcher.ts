/**
 * Finds webhooks that have events to receive and runs a delivery for each, side by side.
 *
 * Guarantees: whatever lies in the outbox is found. A signal finds it at once; a sweep over the database finds it within
 * `sweepMs` when a signal was lost, and within `pollMs` while Redis is away. A failed webhook is tried again when its
 * time comes, whichever dispatcher it failed with. Several dispatchers may run side by side: the lease decides (cursors.ts).
 * - Bounded: `maxDeliveries` at a time, of which webhooks that are tried again get half, so that dead receivers take no
 *   slot from living ones; of either kind one account gets half at most, and less the more of its webhooks fail
 *   (account-shares.ts). A delivery in progress gives way after `turnMs` when others wait.
 * - PostgreSQL away: sweeps go on failing once a poll, and find everything when it is back.
 * - SIGTERM: claims nothing more, lets the posts under way finish for `drainMs`, then abandons them (posted again with
 *   the same id by the next dispatcher) and gives the cursors back.
 */
import type { Claim, Cursors } from '@dormouse/event-outbox/delivery';
import pTimeout from 'p-timeout';
import { AccountShares } from './account-shares.js';
import { Alarm } from './alarm.js';
import type { Delivery, DeliveryEnd, DeliveryTurn } from './delivery.js';
import type { DeliveryLog } from './delivery-log.js';
import type { DeliveryMetrics } from './delivery-metrics.js';

/** Notifications that events were written. */
export interface EventSignals {
  /** Whether a signal sent now would arrive. */
  isLive(): boolean;
  close(): Promise<void>;
}

export interface DispatcherSettings {
  maxDeliveries: number;
  /** Interval of sweeps over the whole database while signals arrive, and while they do not. */
  sweepMs: number;
  pollMs: number;
  /** Time after which a delivery gives way to others, if any wait. */
  turnMs: number;
  /** Time that posts under way have at a stop. */
  drainMs: number;
}

export interface DispatcherParts {
  cursors: Cursors;
  delivery: Delivery;
  /** Ends the posts under way and makes no new ones. */
  abandonPosts: () => void;
  subscribe: (onEvents: (channelId: string) => void) => EventSignals;
  metrics: DeliveryMetrics;
  log: DeliveryLog;
  settings: DispatcherSettings;
}

/** Claimed in one statement at most. */
const CLAIM_AT_ONCE = 200;
/** Sweeps that follow each other because slots became free, or because retries lie close together, keep this distance. */
const SWEEP_GAP_MS = 200;
const RETRY_GAP_MS = 20;

/** What a webhook was claimed for: new events, or to try it again. */
type ClaimedFor = 'new' | 'retry';

class Turn implements DeliveryTurn {
  #isAnnounced = false;
  #notify: () => void = () => undefined;

  constructor(readonly shouldYield: () => boolean) {}

  announce(): void {
    this.#isAnnounced = true;
    this.#notify();
  }

  takeAnnouncement(): boolean {
    const isAnnounced = this.#isAnnounced;
    this.#isAnnounced = false;
    return isAnnounced;
  }

  async announced(): Promise<void> {
    if (!this.#isAnnounced) await new Promise<void>((resolve) => (this.#notify = resolve));
  }
}

export class Dispatcher {
  readonly #parts: DispatcherParts;
  /** Channels that were announced and not looked at yet, in order of announcement. */
  readonly #woken = new Set<string>();
  /** Those that may have found no room in their account's share. */
  readonly #crowded = new Set<string>();
  /** Of deliveries of new events, and of webhooks that are tried again. */
  readonly #shares: Record<ClaimedFor, AccountShares>;
  /** Turns of the deliveries under way, by channel. */
  readonly #turns = new Map<string, Set<Turn>>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #sweepAlarm = new Alarm(() => this.#sweep());
  readonly #retryAlarm = new Alarm(() => this.#retry());
  #retrying = 0;
  #sweepDue = false;
  #retryDue = false;
  /** The last sweep or retry found more than there were slots for. */
  #sweepLeft = false;
  #retryLeft = false;
  #lastSweepMs = -Infinity;
  #wasLive = false;
  /** The claiming that goes on at this moment. */
  #pumping: Promise<void> | undefined;
  #databaseAway = false;
  #stopping = false;
  #ticker: NodeJS.Timeout | undefined;
  #signals: EventSignals | undefined;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    const halfOf = (slots: number): AccountShares => new AccountShares(Math.max(2, Math.floor(slots / 2)));
    this.#shares = { new: halfOf(parts.settings.maxDeliveries), retry: halfOf(this.#retrySlots) };
  }

  start(): void {
    this.#signals = this.#parts.subscribe((channelId) => this.wake(channelId));
    this.#ticker = setInterval(() => this.#tick(), this.#parts.settings.pollMs);
    this.sweepNow();
  }

  /** Events of this channel were committed. */
  wake(channelId: string): void {
    this.#turns.get(channelId)?.forEach((turn) => turn.announce());
    this.#woken.add(channelId);
    this.#pump();
  }

  /** Looks for work in the whole database now. */
  sweepNow(): void {
    this.#retryDue = true;
    this.#sweep();
  }

  /** Resolves once nothing is being claimed or delivered. */
  async idle(): Promise<void> {
    while (this.#pumping || this.#underWay.size > 0) await Promise.all([this.#pumping, ...this.#underWay]);
  }

  /** Stops in bounded time: `drainMs` and the recording of outcomes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#ticker);
    this.#sweepAlarm.cancel();
    this.#retryAlarm.cancel();
    await this.#signals?.close();
    const ended = this.idle();
    await pTimeout(ended, { milliseconds: this.#parts.settings.drainMs, fallback: this.#parts.abandonPosts });
    await ended;
  }

  #tick(): void {
    const isLive = this.#signals?.isLive() ?? false;
    const isDue = performance.now() - this.#lastSweepMs >= this.#parts.settings.sweepMs;
    // After an outage of Redis one more sweep: what was signalled in its last moments is not known.
    if (!isLive || !this.#wasLive || isDue) this.sweepNow();
    this.#wasLive = isLive;
  }

  #sweep(): void {
    this.#sweepDue = true;
    this.#pump();
  }

  #retry(): void {
    this.#retryDue = true;
    this.#pump();
  }

  /** Claims and starts deliveries until nothing is due or no slot is free. One runs at a time. */
  #pump(): void {
    this.#pumping ??= this.#claimAll().then((succeeded) => {
      this.#pumping = undefined;
      if (succeeded && this.#hasWork()) this.#pump();
    });
  }

  #hasWork(): boolean {
    return !this.#stopping && (this.#retryDue || this.#sweepDue || (this.#woken.size > 0 && this.#free() > 0));
  }

  /** False when the database did not answer. */
  async #claimAll(): Promise<boolean> {
    try {
      while (this.#hasWork()) {
        if (this.#retryDue) await this.#claimRetries();
        if (this.#sweepDue) await this.#claimSwept();
        if (this.#woken.size > 0) await this.#claimWoken();
        this.#databaseAway = false;
      }
      return true;
    } catch (error) {
      // The next tick sweeps the whole database, so nothing that was announced is forgotten.
      this.#lastSweepMs = -Infinity;
      if (!this.#databaseAway) this.#parts.log.warn({ reason: textOf(error) }, 'cannot claim webhooks; trying again');
      this.#databaseAway = true;
      return false;
    }
  }

  #free(): number {
    return this.#parts.settings.maxDeliveries - this.#underWay.size;
  }

  async #claimRetries(): Promise<void> {
    this.#retryDue = false;
    const limit = Math.min(this.#free(), this.#retrySlots - this.#retrying, CLAIM_AT_ONCE);
    this.#retryLeft = limit <= 0;
    if (limit <= 0) return;
    // Read before the claim: a cursor whose pause ends between the two statements is claimed, or the alarm rings for it.
    const nextMs = await this.#parts.cursors.nextRetryInMs();
    if (nextMs !== undefined) this.#retryAlarm.ringWithin(Math.max(nextMs, RETRY_GAP_MS));
    const claims = await this.#parts.cursors.claimRetries(limit, this.#shares.retry.room);
    this.#begin(claims, 'retry');
    this.#retryLeft = this.#shares.retry.isAnyFull;
    if (claims.length === limit) this.#retryAlarm.ringWithin(RETRY_GAP_MS);
  }

  async #claimSwept(): Promise<void> {
    this.#sweepDue = false;
    const limit = Math.min(this.#free(), CLAIM_AT_ONCE);
    this.#sweepLeft = limit <= 0;
    if (limit <= 0) return;
    this.#lastSweepMs = performance.now();
    const claims = await this.#parts.cursors.claimFresh(limit, this.#shares.new.room);
    this.#begin(claims, 'new');
    this.#sweepLeft = this.#shares.new.isAnyFull;
    if (claims.length === limit) this.#sweepAlarm.ringWithin(SWEEP_GAP_MS);
  }

  async #claimWoken(): Promise<void> {
    const limit = Math.min(this.#free(), CLAIM_AT_ONCE);
    if (limit <= 0) return;
    const channelIds = [...this.#woken].slice(0, limit);
    channelIds.forEach((channelId) => this.#woken.delete(channelId));
    const claims = await this.#parts.cursors.claimOf(channelIds, limit, this.#shares.new.room);
    this.#begin(claims, 'new');
    if (this.#shares.new.isAnyFull) {
      const found = new Set(claims.map(({ channelId }) => channelId));
      channelIds.filter((channelId) => !found.has(channelId)).forEach((channelId) => this.#crowded.add(channelId));
    }
    // A channel may have several webhooks: some may be left.
    if (claims.length === limit) this.#sweepAlarm.ringWithin(SWEEP_GAP_MS);
  }

  #begin(claims: Claim[], claimedFor: ClaimedFor): void {
    for (const claim of claims) {
      const delivery = this.#deliver(claim, claimedFor).finally(() => {
        this.#underWay.delete(delivery);
        this.#slotFreed();
      });
      this.#underWay.add(delivery);
    }
    this.#parts.metrics.active(this.#underWay.size);
  }

  async #deliver(claim: Claim, claimedFor: ClaimedFor): Promise<void> {
    const shares = this.#shares[claimedFor];
    shares.begin(claim.accountId);
    const startedAtMs = performance.now();
    const turn = new Turn(() => this.#stopping || (this.#othersWait() && this.#isOver(startedAtMs)));
    const turns = this.#turns.get(claim.channelId) ?? new Set();
    this.#turns.set(claim.channelId, turns.add(turn));
    if (claimedFor === 'retry') this.#retrying += 1;
    try {
      this.#ended(claim, await this.#parts.delivery.run(claim, turn));
    } catch (error) {
      const facts = { channelId: claim.channelId, webhookId: claim.webhookId, reason: textOf(error) };
      this.#parts.log.warn(facts, 'delivery interrupted; goes on when its lease has run out');
    } finally {
      if (claimedFor === 'retry') this.#retrying -= 1;
      shares.end(claim.accountId, claim.attempts > 0);
      turns.delete(turn);
      if (turns.size === 0) this.#turns.delete(claim.channelId);
      // Announced after the delivery had looked for the last time and before it gave the cursor back.
      if (turn.takeAnnouncement() && !this.#stopping) this.wake(claim.channelId);
    }
  }

  #ended(claim: Claim, end: DeliveryEnd): void {
    if (this.#stopping) return;
    if (end.kind === 'yielded') this.#sweepAlarm.ringWithin(0);
    if (end.kind === 'waiting') this.#retryAlarm.ringWithin(Math.max(end.waitMs, RETRY_GAP_MS));
    else if (claim.hasHeld) this.#retryAlarm.ringWithin(RETRY_GAP_MS); // looks when the first of its events is due
  }

  #slotFreed(): void {
    this.#parts.metrics.active(this.#underWay.size);
    if (this.#stopping) return;
    if (this.#retryLeft) this.#retryAlarm.ringWithin(RETRY_GAP_MS);
    if (this.#sweepLeft) this.#sweepAlarm.ringWithin(SWEEP_GAP_MS);
    this.#crowded.forEach((channelId) => this.#woken.add(channelId));
    this.#crowded.clear();
    if (this.#woken.size > 0) this.#pump();
  }

  get #retrySlots(): number {
    return Math.max(1, Math.floor(this.#parts.settings.maxDeliveries / 2));
  }

  #othersWait(): boolean {
    return this.#free() <= 0 && (this.#sweepLeft || this.#retryLeft || this.#woken.size > 0);
  }

  #isOver(startedAtMs: number): boolean {
    return performance.now() - startedAtMs > this.#parts.settings.turnMs;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
