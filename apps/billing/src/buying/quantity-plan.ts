/**
 * What is to be done at Stripe so that an account has the places that its numbers need. Pure.
 *
 * What it guarantees: a place that was paid for is never paid for again within its period, so deleting a number and creating
 * another one neither costs nor earns anything; what costs something is done only up to the owner's limit, while the
 * subscription is in order, one purchase at a time, and not again after the card refused it.
 */
import type { SubscriptionFacts } from '../customers/subscription-facts.js';

/** A purchase that was refused: it is not repeated with the same card. */
export interface Declined {
  quantity: number;
  paymentMethod: string | null;
}

export interface Wish {
  subscription: SubscriptionFacts | null;
  /** Numbers beyond the free ones. */
  furtherNumbers: number;
  /** Up to how many places may be bought without asking; 0: ask first. */
  buyLimit: number;
  declined: Declined | null;
}

export type QuantityStep =
  /** Nothing is charged: the places are paid for, or the next period has fewer. */
  | { kind: 'free'; quantity: number; paidPlaces: number }
  /** Charged at once for the rest of the period. */
  | { kind: 'purchase'; quantity: number };

/** Statuses in which the quantity of the next period follows the numbers. */
const MAY_CHANGE = new Set(['active', 'trialing', 'past_due', 'unpaid']);
/** Statuses in which more is bought. */
const MAY_BUY = new Set(['active', 'trialing']);

/** The next step, or undefined when everything is as it should be. After a step the facts are read again. */
export function nextQuantityStep(wish: Wish): QuantityStep | undefined {
  const { subscription, furtherNumbers } = wish;
  if (!subscription || !MAY_CHANGE.has(subscription.status) || subscription.pending) return undefined;
  const { quantity, bought } = subscription;
  const free = Math.min(furtherNumbers, bought);
  if (quantity !== free) return { kind: 'free', quantity: free, paidPlaces: bought };
  const wanted = placesToBuy(wish);
  return wanted > bought && !isDeclined(wish, wanted) ? { kind: 'purchase', quantity: wanted } : undefined;
}

/** How many places the account shall have after a purchase: those that its numbers need, up to the limit. */
function placesToBuy({ subscription, furtherNumbers, buyLimit }: Wish): number {
  return subscription && MAY_BUY.has(subscription.status) ? Math.min(furtherNumbers, buyLimit) : 0;
}

function isDeclined({ declined, subscription }: Wish, quantity: number): boolean {
  return declined?.quantity === quantity && declined.paymentMethod === (subscription?.paymentMethod ?? null);
}
