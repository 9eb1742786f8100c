/** What happens to a subscription whose invoice is still unpaid after the last retry. */
export type AfterLastRetry = 'cancel' | 'unpaid' | 'past_due' | 'pause';

/** How payments are collected: settings of the whole simulator. */
export interface CollectionRules {
  /** Between the creation of a renewal's invoice and its finalization. */
  finalizeAfterSeconds: number;
  /** Between one failed payment and the next attempt; as many retries as there are numbers. */
  retryAfterSeconds: number[];
  afterLastRetry: AfterLastRetry;
}

const DAY_SECONDS = 86_400;

/** Three retries within two weeks, then the end: an account's settings as they are at first. */
export const DEFAULT_COLLECTION_RULES: CollectionRules = {
  finalizeAfterSeconds: 3600,
  retryAfterSeconds: [3 * DAY_SECONDS, 5 * DAY_SECONDS, 5 * DAY_SECONDS],
  afterLastRetry: 'cancel',
};

/** When the next attempt is due after this many failed ones, or null after the last. */
export function nextAttempt(rules: CollectionRules, failedAttempts: number, at: number): number | null {
  const wait = rules.retryAfterSeconds[failedAttempts - 1];
  return wait === undefined ? null : at + wait;
}
