import { periodEnd } from '../money/periods.js';
import type { Subscription } from '../objects/records.js';
import type { World } from '../world/world.js';
import { changeSubscription, subscriptionOf } from './changing.js';
import { endSubscription } from './ending.js';
import { draftInvoice, takePendingLines } from './invoices.js';
import { billedBy, fullLine, priceOf } from './lines.js';

/**
 * Begins the next period at `start`: the items move on and a draft is made of what they cost and what still waited. It is
 * finalized and collected a while later; that of a subscription that is `unpaid` stays a draft.
 */
export function renew(world: World, subscription: Subscription, start: number): void {
  const moved = subscription.items.map((item) => {
    const { recurring } = priceOf(world, item.price);
    const end = recurring ? periodEnd(subscription.billing_cycle_anchor, recurring, start) : start;
    return { ...item, current_period_start: start, current_period_end: end };
  });
  const lines = moved.map((item) =>
    fullLine(world, subscription.id, item, { start: item.current_period_start, end: item.current_period_end }),
  );
  const items = moved.map((item, index) => {
    const line = lines[index];
    return line ? { ...item, billed: billedBy(line) } : item;
  });
  const isCollected = subscription.status !== 'unpaid';
  const previous = { start: subscription.items[0]?.current_period_start ?? start, end: start };
  const changed = changeSubscription(world, subscription.id, { items });
  draftInvoice(world, {
    ...{
      customer: subscription.customer,
      subscription: changed,
      purpose: 'cycle',
      billingReason: 'subscription_cycle',
    },
    lines: [...takePendingLines(world, subscription.customer, subscription.id), ...lines],
    ...{ period: previous, autoAdvance: isCollected },
    finalizesAt: isCollected ? start + world.state.collection.finalizeAfterSeconds : null,
  });
}

/** A trial is over: the first paid period begins, or what was arranged for want of a card. */
export function endTrial(world: World, subscription: Subscription): void {
  const { id, customer } = subscription;
  const at = world.nowFor(customer);
  const hasMethod =
    subscription.default_payment_method !== null || world.store.customers.get(customer)?.defaultPaymentMethod != null;
  if (!hasMethod && subscription.missingPaymentMethod === 'cancel') {
    endSubscription(world, id, 'payment_failed');
    return;
  }
  if (!hasMethod && subscription.missingPaymentMethod === 'pause') {
    const paused = { reason: 'trial_end_without_payment_method', since: at } as const;
    changeSubscription(world, id, { status: 'paused', paused }, 'paused');
    return;
  }
  changeSubscription(world, id, { status: 'active' });
  renew(world, subscriptionOf(world, id), at);
}
