import type { Subscription } from '../objects/records.js';
import type { World } from '../world/world.js';
import { subscriptionOf } from './changing.js';
import { collect } from './collection.js';
import { endSubscription, expireIncomplete } from './ending.js';
import { draftInvoice, keepPending, pendingItems, takePendingLines } from './invoices.js';
import { prorationLines } from './lines.js';

/** Cancels at once, as a request demands: with credit for unused time if `prorate`, with a last invoice if `invoiceNow`. */
export function cancelNow(world: World, id: string, how: { prorate: boolean; invoiceNow: boolean }): Subscription {
  const subscription = subscriptionOf(world, id);
  if (subscription.status === 'incomplete') return expireIncomplete(world, id);
  if (how.prorate) {
    const at = world.nowFor(subscription.customer);
    const lines = subscription.items.flatMap((item) => prorationLines(world, subscription, item, undefined, at).lines);
    keepPending(world, subscription.customer, lines);
  } else if (!how.invoiceNow) {
    for (const { id: item } of pendingItems(world, subscription.customer, id)) world.store.pendingItems.remove(item);
  }
  if (how.invoiceNow) invoiceWhatWaits(world, subscription);
  return endSubscription(world, id, 'cancellation_requested');
}

/** Cancels as it was arranged before, at the end of a period: what still waits is collected. */
export function cancelAsArranged(world: World, subscription: Subscription): void {
  invoiceWhatWaits(world, subscription);
  endSubscription(world, subscription.id, subscription.cancellation_details.reason ?? 'cancellation_requested');
}

function invoiceWhatWaits(world: World, subscription: Subscription): void {
  const lines = takePendingLines(world, subscription.customer, subscription.id);
  if (lines.length === 0) return;
  const at = world.nowFor(subscription.customer);
  const { id } = draftInvoice(world, {
    ...{ customer: subscription.customer, subscription, purpose: 'final', billingReason: 'subscription_update', lines },
    ...{ period: { start: at, end: at }, autoAdvance: true },
  });
  collect(world, id, { isAutomatic: true, isPresent: false });
}
