/**
 * Delivers one webhook its events.
 *
 * Guarantees: within a conversation events go out in sequence, the next one only after the receiver answered 2xx to the
 * one before, or after the one before was set aside, given up or dropped and that is recorded; events that belong to
 * no conversation keep order among themselves. What a quick receiver accepts is recorded while it is sent the next events,
 * within a bound (acceptances.ts); what others accept, before the next one is sent. Anything but 2xx is a failed attempt, which is made again after
 * `min(n * callback_backoff_delay_ms, max_callback_backoff_delay_ms)` and up to 10 % more, n being the number of failed
 * attempts. What a failure leads to is decided in failure-decision.ts:
 * - The event's conversation waits; others go on beside the next attempts, which are made one at a time.
 * - Where nothing shows that the receiver accepts anything, the webhook as a whole waits. Then one event after the other
 *   is tried to see whether it is back (`#trial`), until one is accepted.
 * - With `callback_persist` off the third failed attempt of an event is the last and nothing is stored.
 * Dead letters with a redrive are delivered once more, before newer events.
 * After `readAgainMs` settings, held events and redrives are looked at again, whatever is left of what was read before.
 * - Killed between the receiver's 2xx and the commit, or PostgreSQL away then: the events whose 2xx was not recorded are posted
 *   again with the same ids, in order, when the lease has run out. That is the only way to a duplicate besides a receiver whose 2xx got lost, a replay
 *   and a redrive.
 */
import type { ChannelSeals } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import {
  type Batch,
  type Claim,
  type Cursors,
  type DeadLetters,
  type HeldEvents,
  type PendingEvent,
  readBatch,
} from '@dormouse/event-outbox/delivery';
import { Acceptances, type RunAhead } from './acceptances.js';
import { attemptRecord, failureOf } from './attempt-record.js';
import type { Attempted, Attempts } from './attempts.js';
import { backoffMs } from './failure-decision.js';
import { deliveringEvent } from './event-span.js';
import type { Poster } from './poster.js';
import type { Retries } from './retries.js';
import type { WhileLeased } from './while-leased.js';
import { isTooOld, readWebhook, type Webhook } from './webhooks.js';

export interface DeliveryParts {
  database: Pick<RegionalDatabase, 'pool'>;
  cursors: Cursors;
  held: HeldEvents;
  attempts: Attempts;
  retries: Retries;
  deadLetters: DeadLetters;
  /** Opens what is sealed of channels. */
  seals?: ChannelSeals;
  poster: Poster;
  leased: WhileLeased;
  /** Events read at a time, at first; more of a receiver that is quick. */
  batchSize: number;
  /** After this time settings, held events and redrives are looked at again, in the middle of a batch, too. */
  readAgainMs: number;
  runAhead: RunAhead;
  random: () => number;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
}

/** What others want of a delivery. */
export interface DeliveryTurn {
  /** Whether events were announced for the channel since the last call: read again before giving the cursor back. */
  takeAnnouncement(): boolean;
  /** Resolves when more events are announced, or when `shouldYield` may have changed. */
  announced(): Promise<void>;
  /** Others wait, or we stop: give the cursor back after the present event. */
  shouldYield(): boolean;
}

/** How a delivery ended. */
export type DeliveryEnd =
  | { kind: 'delivered' }
  /** Given back with events left. */
  | { kind: 'yielded' }
  /** Given back for `waitMs`: an attempt failed, or it could not be made yet. */
  | { kind: 'waiting'; waitMs: number }
  /** Another dispatcher holds the cursor, or the webhook is gone. */
  | { kind: 'lost' };

/** Go on, or give the cursor back: for a pause, or for others. */
type Step = { kind: 'on' } | { kind: 'pause'; waitMs: number } | { kind: 'yield' } | { kind: 'lost' };

/** Or what was read is too old to go on with; the position is past what was posted of it. */
type LongStep = Step | { kind: 'read again' };

type TimedBatch = Batch & { readAtMs: number };

const ON: Step = { kind: 'on' };
const READ_AGAIN: LongStep = { kind: 'read again' };

/** A full host, or a cursor whose webhook cannot be found in the settings, is claimed again after this time. */
const HOST_FULL_WAIT_MS = 1_000;
const NO_WEBHOOK_WAIT_MS = 60_000;
/** New events of a paused webhook that are tried after the held one, each of another conversation; and from which attempt on. */
const NEW_TRIALS = 2;
const ATTEMPTS_BEFORE_NEW_TRIALS = 2;

/** After a batch that took less than this twice as many events are read, up to so many times the batch's first size. */
const QUICK_BATCH_MS = 100;
const LARGEST_BATCH = 8;

export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #now: () => number;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /**
   * Delivers the claimed webhook all it wants, or as much as its turn and its receiver allow, and gives the
   * cursor back. @throws when PostgreSQL is away; the lease then runs out by itself.
   */
  async run(claim: Claim, turn: DeliveryTurn): Promise<DeliveryEnd> {
    const { cursors, leased, runAhead } = this.#parts;
    const accepted = new Acceptances(() => leased.write(claim, () => cursors.advance(claim)), runAhead);
    const beside = new Beside();
    try {
      return await this.#deliver(claim, turn, { beside, accepted });
    } finally {
      // However it ended, nothing goes on that a stop does not wait for. What that threw is less than what ended it.
      await accepted.end();
      await beside.end().catch(() => undefined);
    }
  }

  async #deliver(claim: Claim, turn: DeliveryTurn, underWay: UnderWay): Promise<DeliveryEnd> {
    const { cursors, held, leased } = this.#parts;
    const { accepted, beside } = underWay;
    if (claim.hasHeld) await leased.write(claim, () => held.read(claim));
    for (;;) {
      let step = await this.#deliverAll(claim, turn, underWay);
      if (step.kind === 'on') {
        if (turn.takeAnnouncement()) continue;
        if (beside.isRunning) {
          if (!(await accepted.record())) return { kind: 'lost' };
          if (!(await beside.endsBefore(turn.announced()))) continue;
        }
      }
      // What is under way beside is recorded before the cursor is somebody else's.
      const retried = await beside.end();
      if (step.kind === 'on') step = retried;
      if (step.kind === 'on' && turn.takeAnnouncement()) continue;
      await accepted.end();
      if (step.kind !== 'on') return this.#giveBack(claim, step);
      await leased.write(claim, () => cursors.finish(claim));
      return { kind: 'delivered' };
    }
  }

  /** Delivers what is there now; `on`: nothing is left, but for held events that may be under way beside. */
  async #deliverAll(claim: Claim, turn: DeliveryTurn, { beside, accepted }: UnderWay): Promise<Step> {
    const { batchSize, database, leased, seals } = this.#parts;
    for (let limit = batchSize; ;) {
      if (!(await accepted.settle())) return { kind: 'lost' };
      turn.takeAnnouncement(); // what was announced until now is in what is read next
      const webhook = await leased.read(claim, () => readWebhook(database, claim, seals));
      if (!webhook) return { kind: 'pause', waitMs: NO_WEBHOOK_WAIT_MS };
      const redriven = await this.#deliverRedrives(claim, webhook, turn);
      if (redriven.kind === 'read again') continue;
      if (redriven.kind !== 'on') return redriven;
      const tried = claim.paused ? await this.#trial(claim, webhook, { turn, accepted }) : ON;
      if (tried.kind !== 'on') return tried;
      claim.paused = false;
      const retried = beside.isRunning ? ON : await beside.end();
      // A failure that called for a pause counts as long as nothing was accepted after it.
      const isVoid = retried.kind === 'pause' && claim.attempts === 0;
      if (retried.kind !== 'on' && !isVoid) return retried;
      if (claim.hasHeld && !beside.isRunning) beside.start(this.#retry(claim, webhook, turn));
      const batch = await this.#read(claim, webhook, limit);
      const step = await this.#deliverBatch(claim, webhook, batch, { turn, accepted });
      if (step.kind === 'read again') limit = batchSize;
      if (step.kind === 'read again') continue;
      if (step.kind !== 'on') return step;
      if (batch.upTo > claim.position) {
        accepted.note();
        claim.position = batch.upTo;
      }
      if (batch.isAll) return ON;
      const tookMs = this.#now() - batch.readAtMs;
      limit = tookMs < QUICK_BATCH_MS ? Math.min(limit * 2, batchSize * LARGEST_BATCH) : batchSize;
    }
  }

  async #read(claim: Claim, webhook: Webhook, limit: number): Promise<TimedBatch> {
    const readAtMs = this.#now();
    const batch = await this.#parts.leased.read(claim, () =>
      readBatch(this.#parts.database, claim, webhook.entry, limit),
    );
    return { ...batch, readAtMs };
  }

  /** Posts the events of a batch, but for those of conversations that wait. */
  async #deliverBatch(
    claim: Claim,
    webhook: Webhook,
    batch: TimedBatch,
    { turn, accepted }: { turn: DeliveryTurn; accepted: Acceptances },
  ): Promise<LongStep> {
    const { attempts } = this.#parts;
    const isOutdated = this.#outdated();
    for (const event of batch.events) {
      if (turn.shouldYield()) return { kind: 'yield' };
      if (event !== batch.events[0] && isOutdated()) return READ_AGAIN;
      if (event.seq <= claim.position) continue; // a dead letter since an earlier one was not answered
      if (this.#passesOver(claim, webhook, event, batch.readAtMs)) {
        accepted.note();
        continue;
      }
      if (!(await accepted.settle())) return { kind: 'lost' };
      const attempted = await attempts.ofNew(claim, webhook, event);
      const step = this.#stepOf(claim, webhook, attempted);
      if (step.kind !== 'on') return step;
      if (attempted.kind !== 'accepted') continue;
      claim.position = event.seq;
      accepted.note(attempted.tookMs);
    }
    return ON;
  }

  /** An event that is not posted now: too old for the webhook, or one of its conversation waits. */
  #passesOver(claim: Claim, webhook: Webhook, event: PendingEvent, readAtMs: number): boolean {
    const isOld = isTooOld(event, webhook, this.#now() - readAtMs);
    const waits = !isOld && claim.held.has(event.conversation);
    if (waits) claim.queued.push({ seq: event.seq, conversation: event.conversation, isDue: false });
    if (isOld || waits) claim.position = event.seq;
    return isOld || waits;
  }

  /**
   * Sees whether a receiver that accepted nothing is back: by the held event that was tried least and, where that one
   * may itself be the reason of the failure, by few new ones of other conversations. `on`: it accepts events again, or
   * there was nothing to try.
   */
  async #trial(
    claim: Claim,
    webhook: Webhook,
    { turn, accepted }: { turn: DeliveryTurn; accepted: Acceptances },
  ): Promise<Step> {
    const { attempts, batchSize, retries } = this.#parts;
    const again = await retries.trial(claim, webhook, turn);
    const retried = again?.attempted;
    if (retried?.kind === 'accepted') return this.#recover(claim, webhook, turn, again?.seq);
    if (retried && retried.kind !== 'failed') return this.#stepOf(claim, webhook, retried);
    let left = retried ? newTrials(retried) : NEW_TRIALS;
    const batch = left > 0 ? await this.#read(claim, webhook, batchSize) : undefined;
    for (const event of batch?.events ?? []) {
      if (turn.shouldYield()) return { kind: 'yield' };
      if (event.seq <= claim.position) continue;
      if (this.#passesOver(claim, webhook, event, batch?.readAtMs ?? 0)) continue;
      const attempted = await attempts.ofNew(claim, webhook, event);
      if (attempted.kind === 'accepted') {
        claim.position = event.seq;
        accepted.note(attempted.tookMs);
        return (await accepted.settle()) ? this.#recover(claim, webhook, turn, again?.seq) : { kind: 'lost' };
      }
      if (attempted.kind !== 'failed') return this.#stepOf(claim, webhook, attempted);
      left = attempted.answer === 'unanswered' ? 0 : left - 1;
      if (left === 0) break;
    }
    return retried || left < NEW_TRIALS ? this.#pause(claim, webhook) : ON;
  }

  /** What waited for a receiver that was away goes first, in order, before new events. */
  async #recover(claim: Claim, webhook: Webhook, turn: DeliveryTurn, tried: bigint | undefined): Promise<Step> {
    const { held, leased } = this.#parts;
    if (!claim.hasHeld) return ON;
    await leased.write(claim, () => held.letAllTry(claim, tried === undefined ? [] : [tried]));
    return this.#retry(claim, webhook, turn);
  }

  async #retry(claim: Claim, webhook: Webhook, turn: DeliveryTurn): Promise<Step> {
    const retryTurn = { shouldYield: () => turn.shouldYield(), isOutdated: this.#outdated() };
    return this.#stepOf(claim, webhook, await this.#parts.retries.run(claim, webhook, retryTurn));
  }

  /** Delivers the dead letters with a redrive. */
  async #deliverRedrives(claim: Claim, webhook: Webhook, turn: DeliveryTurn): Promise<LongStep> {
    const { batchSize, deadLetters, leased, poster } = this.#parts;
    const isOutdated = this.#outdated();
    while (claim.redriving) {
      const letters = await leased.read(claim, () => deadLetters.pendingRedrives(claim, batchSize));
      for (const { event, attempts } of letters) {
        if (turn.shouldYield()) return { kind: 'yield' };
        const posted = await deliveringEvent(claim, event, () => poster.post(claim, webhook, event, true));
        if (posted.kind !== 'answered') return this.#stepOf(claim, webhook, posted);
        const { answer, tookMs } = posted;
        const outcome = answer.kind === 'accepted' ? 'taken' : 'dead';
        const record = attemptRecord(event, { answer, attempt: attempts + 1, outcome, tookMs });
        await leased.write(claim, () =>
          answer.kind === 'accepted'
            ? deadLetters.markDelivered(claim, record)
            : deadLetters.failed(claim, record, failureOf(answer), answer.kind === 'unanswered'),
        );
        if (answer.kind === 'unanswered') break;
        if (isOutdated()) return READ_AGAIN;
      }
      await leased.write(claim, () => deadLetters.clearRedriveFlag(claim));
    }
    return ON;
  }

  /** Whether what is read now has become too old to go on with. */
  #outdated(): () => boolean {
    const readAtMs = this.#now();
    return () => this.#now() - readAtMs > this.#parts.readAgainMs;
  }

  #stepOf(claim: Claim, webhook: Webhook, attempted: Attempted | undefined): Step {
    if (attempted?.kind === 'failed' && attempted.pauses) return this.#pause(claim, webhook);
    if (attempted?.kind === 'full') return { kind: 'pause', waitMs: HOST_FULL_WAIT_MS };
    if (attempted?.kind === 'abandoned') return { kind: 'yield' };
    return attempted?.kind === 'lost' ? { kind: 'lost' } : ON;
  }

  #pause(claim: Claim, { settings }: Webhook): Step {
    return { kind: 'pause', waitMs: backoffMs(settings, claim.attempts, this.#parts.random) };
  }

  async #giveBack(claim: Claim, step: Exclude<Step, { kind: 'on' }>): Promise<DeliveryEnd> {
    const { cursors, leased } = this.#parts;
    if (step.kind === 'lost') return step;
    await leased.write(claim, () =>
      step.kind === 'pause' ? cursors.pause(claim, step.waitMs) : cursors.putBack(claim),
    );
    return step.kind === 'pause' ? { kind: 'waiting', waitMs: step.waitMs } : { kind: 'yielded' };
  }
}

/** What goes on while events are posted. */
interface UnderWay {
  beside: Beside;
  accepted: Acceptances;
}

/** Attempts at held events that go on beside the delivery of new ones. */
class Beside {
  #running: Promise<Step> | undefined;
  #hasEnded = false;

  /** Those that were started are under way, or how they ended is not known to the delivery yet. */
  get isRunning(): boolean {
    return this.#running !== undefined && !this.#hasEnded;
  }

  start(running: Promise<Step>): void {
    this.#hasEnded = false;
    this.#running = running.finally(() => (this.#hasEnded = true));
    this.#running.catch(() => undefined); // thrown where it is awaited
  }

  async endsBefore(other: Promise<void>): Promise<boolean> {
    return Promise.race([this.#running?.then(() => true), other.then(() => false)]).then((ended) => ended ?? true);
  }

  async end(): Promise<Step> {
    const step = (await this.#running) ?? ON;
    this.#running = undefined;
    return step;
  }
}

/** How many new events are tried after a held one has failed: none where it cannot be the event's own fault. */
function newTrials(failed: Extract<Attempted, { kind: 'failed' }>): number {
  if (failed.answer === 'refused') return NEW_TRIALS;
  return failed.reachedReceiver && failed.attempts >= ATTEMPTS_BEFORE_NEW_TRIALS ? 1 : 0;
}
