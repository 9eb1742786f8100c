/**
 * What Stripe answers about one customer, in our own words. Pure.
 *
 * What it guarantees: a status, or any other word, that this version does not know is passed on as it is and breaks nothing;
 * places that were paid for stay bought until the period ends, however low the quantity for the next one is by then; the
 * invoice of a purchase that waits for payment never counts as an overdue one.
 */
import { createHash } from 'node:crypto';
import type { Stripe } from 'stripe';
import { ACCOUNT_KEY, PRICE_LOOKUP_KEY, PRODUCT_ID } from '../stripe/catalogue.js';

/** In the metadata of a subscription: places paid for, and the end of the period that they are paid for (epoch seconds). */
export const PAID_PLACES_KEY = 'paid_places';
export const PAID_UNTIL_KEY = 'paid_until';

/** An invoice that waits for payment. */
export interface OpenInvoice {
  id: string;
  /** Where it can be paid. */
  url: string | null;
  amountDue: number;
  currency: string;
  /** Epoch seconds of its finalisation. */
  finalizedAt: number;
}

/** A purchase that waits for payment: more places, not bought yet. */
export interface PendingPurchase {
  quantity: number;
  /** Epoch seconds at which Stripe gives it up. */
  expiresAt: number;
  invoiceId: string | null;
}

export interface SubscriptionFacts {
  id: string;
  itemId: string;
  /** As Stripe gave it. */
  status: string;
  /** Of a paused one: 'requested' or 'payment_failed'; another word of Stripe as it is; null: not given. */
  pausedKind: string | null;
  /** What the next period will be charged for. */
  quantity: number;
  /** Places paid for in this period: at least the quantity. */
  bought: number;
  unitAmount: number;
  currency: string;
  /** Epoch seconds. */
  periodStart: number;
  periodEnd: number;
  created: number;
  cancelAtPeriodEnd: boolean;
  pending: PendingPurchase | null;
  /** With what it is paid. */
  paymentMethod: string | null;
  /** The customer's default, which Stripe uses only where a subscription has none of its own. */
  customerPaymentMethod: string | null;
}

/** The facts of one customer. */
export interface CustomerFacts {
  subscription: SubscriptionFacts | null;
  /** Invoices of the subscription that wait for payment, the oldest first; those of pending purchases apart. */
  overdue: OpenInvoice[];
  /** The invoice of the pending purchase. */
  pendingInvoice: OpenInvoice | null;
  /** Further subscriptions that run beside it, which must not be, the oldest first. */
  duplicates: string[];
}

const ENDED = new Set(['canceled', 'incomplete_expired']);
/** Not begun: gone by itself if nobody pays. */
const NOT_BEGUN = 'incomplete';

export const idOf = (value: string | { id: string } | null | undefined): string | null =>
  typeof value === 'string' ? value : (value?.id ?? null);

/** Whether a subscription is one of ours: others may be made by hand for the same customer. */
function isOurs(subscription: Stripe.Subscription): boolean {
  return subscription.metadata[ACCOUNT_KEY] !== undefined || itemOf(subscription) !== undefined;
}

function itemOf({ items }: Stripe.Subscription): Stripe.SubscriptionItem | undefined {
  return items.data.find(({ price }) => price.lookup_key === PRICE_LOOKUP_KEY || idOf(price.product) === PRODUCT_ID);
}

/** Those that run come first, the oldest of them before others; then one not begun; then the one that ended last. */
function byImportance(one: Stripe.Subscription, other: Stripe.Subscription): number {
  const rank = ({ status }: Stripe.Subscription): number => (ENDED.has(status) ? 2 : status === NOT_BEGUN ? 1 : 0);
  const difference = rank(one) - rank(other);
  if (difference !== 0) return difference;
  return rank(one) === 2 ? other.created - one.created : one.created - other.created;
}

/**
 * @param subscriptions of the customer, the newest first, as Stripe lists them, with the customer expanded
 * @param openInvoices of the customer, in any order
 */
export function customerFacts(
  subscriptions: readonly Stripe.Subscription[],
  openInvoices: readonly Stripe.Invoice[],
): CustomerFacts {
  const [first, ...others] = subscriptions.filter(isOurs).reverse().sort(byImportance);
  const item = first && itemOf(first);
  if (!first || !item) return { subscription: null, overdue: [], pendingInvoice: null, duplicates: [] };
  const subscription = factsOf(first, item);
  const invoices = openInvoices
    .filter((invoice) => idOf(invoice.parent?.subscription_details?.subscription) === first.id)
    .map(openInvoiceOf)
    .sort((one, other) => one.finalizedAt - other.finalizedAt);
  const pendingId = subscription.pending?.invoiceId;
  return {
    subscription,
    overdue: invoices.filter(({ id }) => id !== pendingId),
    pendingInvoice: invoices.find(({ id }) => id === pendingId) ?? null,
    duplicates:
      ENDED.has(first.status) || first.status === NOT_BEGUN ? [] : others.filter(isRunning).map(({ id }) => id),
  };
}

/** Begun and not ended, whether paid or not. A status that this version does not know counts as running. */
export function isRunning({ status }: { status: string }): boolean {
  return !ENDED.has(status) && status !== NOT_BEGUN;
}

function factsOf(subscription: Stripe.Subscription, item: Stripe.SubscriptionItem): SubscriptionFacts {
  const quantity = item.quantity ?? 0;
  return {
    id: subscription.id,
    itemId: item.id,
    status: subscription.status,
    pausedKind: subscription.status === 'paused' ? pausedKindOf(subscription) : null,
    quantity,
    bought: Math.max(quantity, paidPlaces(subscription, item)),
    unitAmount: item.price.unit_amount ?? 0,
    currency: item.price.currency,
    periodStart: item.current_period_start,
    periodEnd: item.current_period_end,
    created: subscription.created,
    cancelAtPeriodEnd: subscription.cancel_at_period_end || subscription.cancel_at !== null,
    pending: pendingOf(subscription, item),
    paymentMethod: idOf(subscription.default_payment_method),
    customerPaymentMethod: defaultOf(subscription.customer),
  };
}

/** Known only where the customer was expanded. */
function defaultOf(customer: Stripe.Subscription['customer']): string | null {
  if (typeof customer === 'string' || customer.deleted) return null;
  return idOf(customer.invoice_settings.default_payment_method);
}

/** Places that were paid for this very period before the quantity was lowered. */
function paidPlaces(
  { metadata }: Stripe.Subscription,
  { current_period_end: periodEnd }: Stripe.SubscriptionItem,
): number {
  const places = Number(metadata[PAID_PLACES_KEY]);
  return Number.isInteger(places) && Number(metadata[PAID_UNTIL_KEY]) === periodEnd ? places : 0;
}

function pausedKindOf({ status_details: details }: Stripe.Subscription): string | null {
  const type = details?.paused?.subscription?.type;
  switch (type) {
    case undefined:
      return null;
    case 'pause_requested':
      return 'requested';
    case 'final_payment_failure':
    case 'first_payment_failure':
      return 'payment_failed';
    default:
      return type;
  }
}

function pendingOf(
  { pending_update: update, latest_invoice: invoice }: Stripe.Subscription,
  item: Stripe.SubscriptionItem,
): PendingPurchase | null {
  if (!update) return null;
  const changed = update.subscription_items?.find(({ id }) => id === item.id);
  return { quantity: changed?.quantity ?? item.quantity ?? 0, expiresAt: update.expires_at, invoiceId: idOf(invoice) };
}

function openInvoiceOf(invoice: Stripe.Invoice): OpenInvoice {
  return {
    id: invoice.id,
    url: invoice.hosted_invoice_url ?? null,
    amountDue: invoice.amount_remaining,
    currency: invoice.currency,
    finalizedAt: invoice.status_transitions.finalized_at ?? invoice.created,
  };
}

/** The same for the same facts: by it the sweep compares what is stored with what Stripe answers. */
export function fingerprintOf({ subscription, overdue, pendingInvoice, duplicates }: CustomerFacts): string {
  // One that ended differs from none in nothing that is sold, and Stripe does not list it for ever.
  if (!subscription || ENDED.has(subscription.status)) return 'none';
  const facts = [subscription, overdue.map(({ id }) => id), pendingInvoice?.id ?? null, duplicates];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url');
}
