import { noSuch } from '../wire/stripe-fault.js';
import type { Subscription } from '../objects/records.js';
import type { World } from '../world/world.js';

export function subscriptionOf(world: World, id: string): Subscription {
  const subscription = world.store.subscriptions.get(id);
  if (!subscription) throw noSuch('subscription', id);
  return subscription;
}

/** Changes a subscription and tells it: `updated`, with what was before, and the special event if there is one. */
export function changeSubscription(
  world: World,
  id: string,
  fields: Partial<Subscription>,
  special?: 'paused' | 'resumed' | 'pending_update_applied' | 'pending_update_expired',
): Subscription {
  const before = subscriptionOf(world, id);
  const after = world.store.subscriptions.change(id, fields);
  if (special !== undefined) world.emit(`customer.subscription.${special}`, after);
  world.emit('customer.subscription.updated', after, before);
  return after;
}
