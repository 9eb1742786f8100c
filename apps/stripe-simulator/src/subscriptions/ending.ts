import type { Subscription } from '../objects/records.js';
import type { World } from '../world/world.js';
import { subscriptionOf } from './changing.js';
import { voidInvoice } from './invoices.js';

/** Ends a subscription now. Its open invoices stay open, and nobody tries to collect them any more. */
export function endSubscription(world: World, id: string, reason: string): Subscription {
  const before = subscriptionOf(world, id);
  const at = world.nowFor(before.customer);
  for (const invoice of world.store.invoices.filter(({ subscription }) => subscription === id)) {
    if (invoice.status === 'draft' || invoice.status === 'open')
      world.store.invoices.change(invoice.id, { auto_advance: false, next_payment_attempt: null });
  }
  dropPendingUpdate(world, before);
  const after = world.store.subscriptions.change(id, {
    ...{ status: 'canceled', ended_at: at, canceled_at: before.canceled_at ?? at, pendingUpdate: null, paused: null },
    cancellation_details: { ...before.cancellation_details, reason },
  });
  world.emit('customer.subscription.deleted', after);
  return after;
}

/** The first invoice was never paid: the subscription never was. */
export function expireIncomplete(world: World, id: string): Subscription {
  const before = subscriptionOf(world, id);
  const { latest_invoice: invoice } = before;
  const at = world.nowFor(before.customer);
  const after = world.store.subscriptions.change(id, { status: 'incomplete_expired', ended_at: at });
  if (invoice !== null && world.store.invoices.get(invoice)?.status === 'open') voidInvoice(world, invoice);
  world.emit('customer.subscription.updated', after, before);
  return after;
}

export function dropPendingUpdate(world: World, subscription: Subscription): void {
  const invoice = subscription.pendingUpdate?.invoice;
  if (invoice !== undefined && world.store.invoices.get(invoice)?.status === 'open') voidInvoice(world, invoice);
}
