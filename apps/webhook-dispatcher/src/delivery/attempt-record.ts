import type { AttemptRecord, Failure, PendingEvent } from '@dormouse/event-outbox/delivery';
import type { Answer } from '../http/webhook-client.js';

/** A call that was made and has an end. */
export type FinalAnswer = Exclude<Answer, { kind: 'abandoned' }>;

export function failureOf(answer: Exclude<FinalAnswer, { kind: 'accepted' }>): Failure {
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
  if (answer.kind === 'accepted' || answer.redirectsTo === undefined) return null;
  return `redirects to ${answer.redirectsTo}: redirects are not followed, set the webhook's URL to where it is to go`;
}
