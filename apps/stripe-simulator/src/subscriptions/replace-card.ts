import type { PaymentMethod } from '../objects/records.js';
import type { World } from '../world/world.js';
import { changeSubscription } from './changing.js';
import { addCard } from './payments.js';

/** Gives a customer a new default card, as the portal does: subscriptions that have a card of their own keep using that. */
export function replaceDefaultCard(world: World, customer: string, cardToken: string): PaymentMethod {
  const added = addCard(world, cardToken, customer);
  world.emit('payment_method.attached', added);
  const before = world.store.customers.get(customer);
  if (before)
    world.emit('customer.updated', world.store.customers.change(customer, { defaultPaymentMethod: added.id }), before);
  return added;
}

/** Gives a customer a card that pays for everything from now on: it is the default of the customer and of each subscription. */
export function replaceCard(world: World, customer: string, cardToken: string): PaymentMethod {
  const added = replaceDefaultCard(world, customer, cardToken);
  for (const { id, status } of world.store.subscriptions.filter((one) => one.customer === customer))
    if (status !== 'canceled' && status !== 'incomplete_expired')
      changeSubscription(world, id, { default_payment_method: added.id });
  return added;
}
