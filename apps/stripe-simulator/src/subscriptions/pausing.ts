import { anniversary, periodEnd } from '../money/periods.js';
import type { InvoiceLine, ProrationBehavior, Subscription, SubscriptionItem } from '../objects/records.js';
import { invalid } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';
import { changeSubscription, subscriptionOf } from './changing.js';
import { collect } from './collection.js';
import { dropPendingUpdate } from './ending.js';
import { draftInvoice, finalizeInvoice, invoiceOf, keepPending, takePendingLines, voidInvoice } from './invoices.js';
import { billedBy, fullLine, priceOf, prorationLines } from './lines.js';

const RESUMPTION_SECONDS = 23 * 3600;

/** How a subscription is paused. */
export interface Pause {
  unusedTimeFrom: 'now' | 'none' | 'item_current_period_start';
  invoicing: 'invoice' | 'pending_invoice_item';
}

/** Pauses on request: no invoices, no new periods until it is resumed. Unused time is credited unless it is given up. */
export function pauseSubscription(world: World, id: string, pause: Pause): Subscription {
  const subscription = subscriptionOf(world, id);
  if (!['active', 'trialing', 'past_due'].includes(subscription.status))
    throw invalid(`Subscription ${id} cannot be paused: its status is ${subscription.status}.`, 'id');
  const at = world.nowFor(subscription.customer);
  dropPendingUpdate(world, subscription);
  const isCredited = pause.unusedTimeFrom !== 'none' && subscription.status !== 'trialing';
  const lines = !isCredited
    ? []
    : subscription.items.flatMap((item) => {
        const from = pause.unusedTimeFrom === 'now' ? at : item.current_period_start;
        return prorationLines(world, subscription, item, undefined, from).lines;
      });
  if (pause.invoicing === 'pending_invoice_item') keepPending(world, subscription.customer, lines);
  else if (lines.length > 0) {
    const draft = draftInvoice(world, {
      ...{
        customer: subscription.customer,
        subscription,
        purpose: 'final',
        billingReason: 'subscription_update',
        lines,
      },
      ...{ period: { start: at, end: at }, autoAdvance: true },
    });
    finalizeInvoice(world, draft.id);
  }
  const items = isCredited ? subscription.items.map((item) => ({ ...item, billed: undefined })) : subscription.items;
  const paused = { reason: 'pause_requested', since: at } as const;
  return changeSubscription(world, id, { status: 'paused', paused, items, pendingUpdate: null }, 'paused');
}

/** How a subscription is resumed. */
export interface Resumption {
  anchor: 'now' | 'unchanged';
  payment: 'resume_on_payment_attempt' | 'resume_on_payment_success';
  proration: ProrationBehavior;
}

/** Resumes a paused subscription: from now on, or in the periods that it had. What it costs is invoiced and collected at once. */
export function resumeSubscription(world: World, id: string, how: Resumption): Subscription {
  const subscription = subscriptionOf(world, id);
  if (subscription.status !== 'paused')
    throw invalid(`Subscription ${id} cannot be resumed: its status is ${subscription.status}, not paused.`, 'id');
  const at = world.nowFor(subscription.customer);
  const { items, lines, anchor } =
    how.anchor === 'now' ? fromNow(world, subscription, at) : unchanged(world, subscription, at, how);
  changeSubscription(world, id, { items, billing_cycle_anchor: anchor });
  const isInvoiced = how.anchor === 'now' || how.proration === 'always_invoice';
  if (!isInvoiced) keepPending(world, subscription.customer, lines);
  if (!isInvoiced || lines.length === 0) return resumed(world, id);
  const invoice = draftInvoice(world, {
    ...{ customer: subscription.customer, subscription, purpose: 'resume', billingReason: 'subscription_update' },
    lines: [...takePendingLines(world, subscription.customer, id), ...lines],
    ...{ period: { start: at, end: at }, autoAdvance: true },
  });
  if (how.payment === 'resume_on_payment_attempt') resumed(world, id);
  else changeSubscription(world, id, { resumption: { invoice: invoice.id, expiresAt: at + RESUMPTION_SECONDS } });
  collect(world, invoice.id, { isAutomatic: true, isPresent: false });
  return subscriptionOf(world, id);
}

function resumed(world: World, id: string): Subscription {
  return changeSubscription(world, id, { status: 'active', paused: null, resumption: null }, 'resumed');
}

interface Resumed {
  items: SubscriptionItem[];
  lines: InvoiceLine[];
  anchor: number;
}

function fromNow(world: World, subscription: Subscription, at: number): Resumed {
  const lines: InvoiceLine[] = [];
  const items = subscription.items.map((item) => {
    const { recurring } = priceOf(world, item.price);
    const end = recurring ? periodEnd(at, recurring, at) : at;
    const moved = { ...item, current_period_start: at, current_period_end: end };
    const line = fullLine(world, subscription.id, moved, { start: at, end });
    lines.push(line);
    return { ...moved, billed: billedBy(line) };
  });
  return { items, lines, anchor: at };
}

function unchanged(world: World, subscription: Subscription, at: number, how: Resumption): Resumed {
  const lines: InvoiceLine[] = [];
  const anchor = subscription.billing_cycle_anchor;
  const items = subscription.items.map((item) => {
    const { recurring } = priceOf(world, item.price);
    if (!recurring) return item;
    let count = 0;
    while (anniversary(anchor, recurring, count + 1) <= at) count += 1;
    const moved = {
      ...{ ...item, current_period_start: anniversary(anchor, recurring, count) },
      current_period_end: anniversary(anchor, recurring, count + 1),
    };
    if (how.proration === 'none' || (item.billed && item.billed.end > at)) return moved;
    const change = prorationLines(world, subscription, undefined, moved, at);
    lines.push(...change.lines);
    return { ...moved, billed: change.billed };
  });
  return { items, lines, anchor };
}

/** Nobody paid for the resumption in time: its invoice is void, and the subscription stays paused. */
export function expireResumption(world: World, subscription: Subscription): void {
  const invoice = subscription.resumption?.invoice;
  changeSubscription(world, subscription.id, { resumption: null });
  if (invoice !== undefined && invoiceOf(world, invoice).status === 'open') voidInvoice(world, invoice);
}
