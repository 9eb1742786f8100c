/**
 * Whether a number may be used: decided here and nowhere else, from stored facts alone. Pure.
 *
 * What it guarantees: the free numbers are always good; a number that is covered by what was bought is refused only when
 * payment failed for good, and after the grace only once Stripe was read after its end: an invoice may have been paid in the last
 * minute. It is never refused because Stripe or billing is away, or answers something that this version does not know: then its
 * standing stays as it is. No clock alone refuses anything. While billing is off every number is good.
 */
import type { Standing } from '@dormouse/channel-directory';

/** What is known of a subscription, as it was stored last. */
export interface SubscriptionState {
  /** As Stripe gave it. */
  status: string;
  /** Of a paused one: 'requested' or 'payment_failed'; null: not known. */
  pausedKind: string | null;
  /** How many numbers it covers. */
  bought: number;
  /** When the oldest invoice that is not paid was finalised; null: there is none. */
  oldestUnpaidAtMs: number | null;
  /** When all of this held at Stripe; null: not known. */
  asOfMs: number | null;
}

/** By which standings are computed. */
export interface BillingRules {
  /** False: billing is off. */
  isOn: boolean;
  /** Numbers of each account that cost nothing. */
  freeNumbers: number;
  /** For how long an unpaid invoice stops nothing. */
  graceMs: number;
}

/** Where a number stands among those of its account, in the order of their first links. */
export type Position = 'free' | 'covered' | 'beyond';

export interface AccountState {
  /** Null: it has none. */
  subscription: SubscriptionState | null;
  /** All free numbers of the account, gifts included. */
  freeNumbers: number;
}

/** What a subscription means for the numbers beyond the free ones. */
type Coverage = 'covers' | 'covers nothing' | 'payment failed' | 'unknown';

/** The standings of an account's numbers, in the order of their first links, by what is stored for them now (undefined: nothing). */
export function standingsOf(
  account: AccountState,
  stored: readonly (Standing | undefined)[],
  rules: Pick<BillingRules, 'isOn' | 'graceMs'>,
): Standing[] {
  return stored.map((before, index) =>
    rules.isOn
      ? (standingAt(positionOf(index, account), account.subscription, rules.graceMs) ?? before ?? 'good')
      : 'good',
  );
}

/** The position of the number with this index. */
export function positionOf(index: number, { freeNumbers, subscription }: AccountState): Position {
  return placeOf(index, freeNumbers, subscription?.bought ?? 0);
}

/** The place of the number with this index among free places and those that were bought. */
export function placeOf(index: number, free: number, bought: number): Position {
  if (index < free) return 'free';
  return index < free + bought ? 'covered' : 'beyond';
}

/** The standing of a number; undefined: as stored. */
export function standingAt(
  position: Position,
  subscription: SubscriptionState | null,
  graceMs: number,
): Standing | undefined {
  if (position === 'free') return 'good';
  const coverage = coverageOf(subscription, graceMs);
  if (coverage === 'unknown') return undefined;
  if (position === 'beyond' || coverage === 'covers nothing') return 'over_free_allowance';
  return coverage === 'covers' ? 'good' : 'past_due';
}

function coverageOf(subscription: SubscriptionState | null, graceMs: number): Coverage {
  switch (subscription?.status) {
    case undefined:
    case 'incomplete':
    case 'incomplete_expired':
    case 'canceled':
      return 'covers nothing';
    case 'active':
    case 'trialing':
      return 'covers';
    case 'past_due':
      return isInGrace(subscription, graceMs) ? 'covers' : 'payment failed';
    case 'unpaid':
      return 'payment failed';
    case 'paused':
      return pausedCoverage(subscription.pausedKind);
    default:
      return 'unknown';
  }
}

function pausedCoverage(kind: string | null): Coverage {
  if (kind === 'requested') return 'covers nothing';
  return kind === 'payment_failed' ? 'payment failed' : 'unknown';
}

/** A subscription that is past due without a known invoice has lost nothing yet. */
function isInGrace({ oldestUnpaidAtMs, asOfMs }: SubscriptionState, graceMs: number): boolean {
  return oldestUnpaidAtMs === null || asOfMs === null || asOfMs < oldestUnpaidAtMs + graceMs;
}

/** When the clock alone changes standings next: the end of a gift. Null: never. */
export function nextChangeByClock(giftEndsMs: readonly number[], nowMs: number): number | null {
  const ahead = giftEndsMs.filter((ms) => ms > nowMs);
  return ahead.length === 0 ? null : Math.min(...ahead);
}
