import type { Claim, Cursors, HeldEvent, HeldEvents, PendingEvent } from '@dormouse/event-outbox/delivery';
/**
 * Makes one attempt at an event and records what it led to: the receiver's standing, the delivery log, and where the
 * event is from now on.
 *
 * Guarantees: an event that is not accepted is somewhere else before its webhook's position is past it: held, or a dead
 * letter; only where events are not to be stored (`callback_persist` off) the third failed attempt is the end of it.
 */
import { wantedEvents } from '@dormouse/gateway-contract';
import { attemptRecord, failureOf, type FinalAnswer } from './attempt-record.js';
import type { DeliveryLog } from './delivery-log.js';
import type { DeliveryMetrics } from './delivery-metrics.js';
import { deliveringEvent } from './event-span.js';
import { decideFailure, type FailedAttempt, type FailureDecision } from './failure-decision.js';
import type { Posted, Poster } from './poster.js';
import type { RedirectNotices } from './redirect-notices.js';
import type { WhileLeased } from './while-leased.js';
import type { Webhook } from './webhooks.js';

/** What an attempt led to. */
export type Attempted =
  /** A new event: its position is not written yet. A held one: it has left. */
  | { kind: 'accepted'; tookMs: number }
  /** Recorded; the position of a new event is past it. */
  | { kind: 'failed'; answer: 'refused' | 'unanswered'; reachedReceiver: boolean; pauses: boolean; attempts: number }
  | Exclude<Posted, { kind: 'answered' }>;

export interface AttemptsParts {
  cursors: Cursors;
  held: HeldEvents;
  poster: Poster;
  redirects: RedirectNotices;
  leased: WhileLeased;
  metrics: Pick<DeliveryMetrics, 'setAside'>;
  log: DeliveryLog;
  /** An event that is not accepted within this time becomes a dead letter. */
  deadAfterMs: number;
  random: () => number;
}

type Failed = Exclude<FinalAnswer, { kind: 'accepted' }>;

/** Failures before which nothing of the event can have reached the receiver. */
const NEVER_REACHED: ReadonlySet<string> = new Set([
  'name not found',
  'connection refused',
  'certificate not accepted',
  'address not public',
]);

export class Attempts {
  constructor(private readonly parts: AttemptsParts) {}

  /** Posts an event after the position. */
  ofNew(claim: Claim, webhook: Webhook, event: PendingEvent): Promise<Attempted> {
    return deliveringEvent(claim, event, () => this.#new(claim, webhook, event));
  }

  async #new(claim: Claim, webhook: Webhook, event: PendingEvent): Promise<Attempted> {
    const posted = await this.parts.poster.post(claim, webhook, event, false);
    if (posted.kind !== 'answered') return posted;
    const { answer, tookMs } = posted;
    if (answer.kind === 'accepted') return this.#accepted(claim, event, 1, answer, tookMs);
    if (answer.kind === 'refused') claim.refusals += 1;
    const facts = { failingForMs: 0, aliveSince: false, isSetAside: false, attempts: 1 };
    const decision = this.#decide(claim, webhook, event, facts, answer, tookMs);
    const { cursors, deadAfterMs, held, leased } = this.parts;
    const holds = await leased.write(claim, () => {
      if (decision.outcome === 'failed') return held.hold(claim, event.seq, event.conversation, decision.waitMs);
      const overdueMs = answer.kind === 'unanswered' ? deadAfterMs : undefined;
      return cursors.moveToDeadLetters(claim, event.seq, overdueMs, wantedEvents(webhook.entry));
    });
    return holds ? this.#failed(claim, answer, decision, 1) : { kind: 'lost' };
  }

  /** Posts a held event again. */
  ofHeld(claim: Claim, webhook: Webhook, again: HeldEvent & { event: PendingEvent }): Promise<Attempted> {
    return deliveringEvent(claim, again.event, () => this.#held(claim, webhook, again));
  }

  async #held(claim: Claim, webhook: Webhook, again: HeldEvent & { event: PendingEvent }): Promise<Attempted> {
    const { held, leased, poster } = this.parts;
    const { event } = again;
    const posted = await poster.post(claim, webhook, event, true);
    if (posted.kind !== 'answered') return posted;
    const { answer, tookMs } = posted;
    const attempts = again.attempts + 1;
    if (answer.kind === 'accepted') {
      const accepted = this.#accepted(claim, event, attempts, answer, tookMs);
      return (await leased.write(claim, () => held.leave(claim, again))) ? accepted : { kind: 'lost' };
    }
    const decision = this.#decide(claim, webhook, event, { ...again, attempts }, answer, tookMs);
    const holds = await leased.write(claim, () => this.#recordHeld(claim, webhook, again, answer, decision));
    return holds ? this.#failed(claim, answer, decision, attempts) : { kind: 'lost' };
  }

  async #recordHeld(
    claim: Claim,
    webhook: Webhook,
    again: HeldEvent,
    answer: Failed,
    { outcome, waitMs }: FailureDecision,
  ): Promise<boolean> {
    const { cursors, deadAfterMs, held, metrics } = this.parts;
    if (outcome === 'dropped') return held.leave(claim, again);
    if (outcome === 'dead') {
      const overdueMs = answer.kind === 'unanswered' && !again.aliveSince ? deadAfterMs : undefined;
      const holds = await held.moveToDeadLetters(claim, again, overdueMs);
      if (!holds || overdueMs === undefined) return holds;
      return cursors.moveToDeadLetters(claim, again.seq, overdueMs, wantedEvents(webhook.entry));
    }
    if (outcome === 'set_aside' && !again.isSetAside) metrics.setAside();
    return held.failed(claim, again, waitMs, outcome === 'set_aside');
  }

  #accepted(claim: Claim, event: PendingEvent, attempt: number, answer: FinalAnswer, tookMs: number): Attempted {
    claim.unlogged.push(attemptRecord(event, { answer, attempt, outcome: 'taken', tookMs }));
    Object.assign(claim, { attempts: 0, refusals: 0, lastFailure: undefined, paused: false, accepted: true });
    return { kind: 'accepted', tookMs };
  }

  #decide(
    claim: Claim,
    webhook: Webhook,
    event: PendingEvent,
    facts: Pick<FailedAttempt, 'attempts' | 'failingForMs' | 'aliveSince' | 'isSetAside'>,
    answer: Failed,
    tookMs: number,
  ): FailureDecision {
    const { deadAfterMs, log, random } = this.parts;
    const { attempts, failingForMs, aliveSince, isSetAside } = facts;
    const failure = failureOf(answer);
    claim.attempts += 1;
    claim.lastFailure = failure;
    const decision = decideFailure(
      { answer: answer.kind, attempts, failingForMs, waitedMs: event.waitedMs + tookMs, aliveSince, isSetAside },
      {
        settings: webhook.settings,
        refusals: claim.refusals,
        heldConversations: claim.held.size,
        deadAfterMs,
        random,
      },
    );
    const { outcome, waitMs } = decision;
    claim.unlogged.push(attemptRecord(event, { answer, attempt: attempts, outcome, tookMs }));
    const which = { channelId: claim.channelId, webhookId: claim.webhookId, eventId: event.id, attempt: attempts };
    const what = { reason: failure.reason, tookMs: Math.round(tookMs), outcome, retryInMs: Math.round(waitMs) };
    log.info({ ...which, ...what }, 'webhook did not accept an event');
    return decision;
  }

  async #failed(claim: Claim, answer: Failed, { pauses }: FailureDecision, attempts: number): Promise<Attempted> {
    const { leased, redirects } = this.parts;
    if (answer.kind === 'refused' && answer.redirectsTo !== undefined) {
      const redirect = { status: answer.status, to: answer.redirectsTo };
      await leased.read(claim, () => redirects.notify(claim, redirect));
    }
    const reachedReceiver = answer.kind === 'refused' || !NEVER_REACHED.has(answer.reason);
    return { kind: 'failed', answer: answer.kind, reachedReceiver, pauses, attempts };
  }
}
