import type { FailureOutcome } from './failure-decision.js';
import type { PendingEvent } from './pending-event.js';
import type { Answer } from './webhook-client.js';

/** Why an attempt did not count as taken; kept for people to read. */
export interface Failure {
  /** The receiver's HTTP status, if it gave one. */
  status: number | undefined;
  reason: string;
}

/** A finished call as the customer's delivery log shows it: a row of `webhook_attempts`, written with what it led to. */
export interface AttemptRecord {
  seq: string;
  event_id: string;
  type: string;
  method: string;
  /** Which attempt of the event it was, from 1. */
  attempt: number;
  /** 'failed' and 'set_aside' are followed by another attempt; 'dead' and 'dropped' are not. */
  outcome: 'taken' | FailureOutcome;
  status: number | null;
  error: string | null;
  took_ms: number;
  /** The first kilobyte of what the receiver said. */
  answer: string | null;
}

/** A call that was made and has an end. */
export type FinalAnswer = Exclude<Answer, { kind: 'abandoned' }>;

export function failureOf(answer: Exclude<FinalAnswer, { kind: 'taken' }>): Failure {
  return answer.kind === 'refused'
    ? { status: answer.status, reason: `answered ${answer.status}` }
    : { status: undefined, reason: answer.reason };
}

export function attemptRecord(
  event: Pick<PendingEvent, 'seq' | 'id' | 'type' | 'method'>,
  facts: { answer: FinalAnswer; attempt: number; outcome: AttemptRecord['outcome']; tookMs: number },
): AttemptRecord {
  const { answer, attempt, outcome, tookMs } = facts;
  return {
    seq: String(event.seq),
    event_id: event.id,
    type: event.type,
    method: event.method,
    attempt,
    outcome,
    status: answer.kind === 'unanswered' ? null : answer.status,
    error: errorOf(answer),
    took_ms: Math.round(tookMs),
    answer: answer.kind === 'unanswered' ? null : answer.text,
  };
}

function errorOf(answer: FinalAnswer): string | null {
  if (answer.kind === 'unanswered') return answer.reason;
  if (answer.kind === 'taken' || answer.redirectsTo === undefined) return null;
  return `redirects to ${answer.redirectsTo}: redirects are not followed, set the webhook's URL to where it is to go`;
}
