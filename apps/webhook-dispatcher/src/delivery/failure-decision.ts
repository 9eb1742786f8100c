import type { ChannelSettings } from '@dormouse/gateway-contract';

/** An attempt that the receiver did not answer with 2xx, and what is known of the event it was made for. */
export interface FailedAttempt {
  /** `refused`: the receiver answered, but not with 2xx. `unanswered`: no status came. */
  answer: 'refused' | 'unanswered';
  /** Failed attempts of this event, this one included. */
  attempts: number;
  /** Since the first of them. */
  failingForMs: number;
  /** How long the webhook could have had the event. */
  waitedMs: number;
  /** The receiver has accepted another event since this one failed first. */
  aliveSince: boolean;
  /** Its conversation goes on without it already. */
  isSetAside: boolean;
}

/** What becomes of the event. */
export type FailureOutcome =
  /** It is tried again; its conversation waits. */
  | 'failed'
  /** It is tried again; its conversation goes on. */
  | 'set_aside'
  /** It is not tried again by itself. */
  | 'dead'
  /** It is not stored. */
  | 'dropped';

export interface FailureDecision {
  outcome: FailureOutcome;
  /** Until its next attempt; 0 when there is none. */
  waitMs: number;
  /** Nothing shows that the receiver accepts anything: the whole webhook waits. */
  pauses: boolean;
}

/** The webhook at the moment of the failure. */
export interface WebhookSituation {
  settings: Pick<ChannelSettings, 'callback_backoff_delay_ms' | 'max_callback_backoff_delay_ms' | 'callback_persist'>;
  /** Different events refused since the receiver accepted something, this one included. */
  refusals: number;
  /** Conversations that wait for an event of theirs. */
  heldConversations: number;
  deadAfterMs: number;
  /** 0 to 1. */
  random: () => number;
}

/** Different events refused in a row after which a receiver counts as one that accepts nothing. */
export const MAX_REFUSALS = 3;
/** Conversations that may wait at a time: beyond, the whole webhook waits. */
export const MAX_HELD_CONVERSATIONS = 1_000;
const SET_ASIDE_ATTEMPTS = 10;
const SET_ASIDE_AFTER_MS = 15 * 60_000;
/** Attempts of an event whose customer does not want events stored. */
const ATTEMPTS_UNKEPT = 3;
/** Waits are longer by up to this part, so that receivers that failed together are not tried again together. */
const JITTER = 0.1;

/** Wait after the n-th failed attempt (n from 1), with jitter of up to 10 % on top. */
export function backoffMs(
  settings: Pick<ChannelSettings, 'callback_backoff_delay_ms' | 'max_callback_backoff_delay_ms'>,
  failedAttempts: number,
  random: () => number,
): number {
  const { callback_backoff_delay_ms: stepMs, max_callback_backoff_delay_ms: maxMs } = settings;
  return Math.min(failedAttempts * stepMs, maxMs) * (1 + JITTER * random());
}

/** Decides what a failed attempt leads to. */
export function decideFailure(attempt: FailedAttempt, webhook: WebhookSituation): FailureDecision {
  const { settings, deadAfterMs, random } = webhook;
  if (!settings.callback_persist && attempt.attempts >= ATTEMPTS_UNKEPT)
    return { outcome: 'dropped', waitMs: 0, pauses: false };
  if (attempt.waitedMs >= deadAfterMs) return { outcome: 'dead', waitMs: 0, pauses: false };
  const waitMs = backoffMs(settings, attempt.attempts, random);
  const isStubborn = attempt.attempts >= SET_ASIDE_ATTEMPTS || attempt.failingForMs >= SET_ASIDE_AFTER_MS;
  if (attempt.isSetAside || (attempt.aliveSince && isStubborn)) return { outcome: 'set_aside', waitMs, pauses: false };
  return { outcome: 'failed', waitMs, pauses: !attempt.aliveSince && seemsDown(attempt, webhook) };
}

function seemsDown({ answer }: FailedAttempt, { refusals, heldConversations }: WebhookSituation): boolean {
  return answer === 'unanswered' || refusals >= MAX_REFUSALS || heldConversations >= MAX_HELD_CONVERSATIONS;
}
