import { z } from 'zod';
import { findCard } from '../money/cards.js';
import type { PaymentMethod } from '../objects/records.js';
import { listParameters, parameters, text } from '../wire/parameters.js';
import { noSuch, StripeFault } from '../wire/stripe-fault.js';
import { addCard } from '../subscriptions/payments.js';
import type { World } from '../world/world.js';
import { customerOf } from './customers.js';
import { listAnswer } from './lists.js';
import { operation } from './operation.js';

function methodOf(world: World, id: string): PaymentMethod {
  const method = world.store.paymentMethods.get(id);
  if (!method) throw noSuch('PaymentMethod', id);
  return method;
}

const ofKind = { type: z.literal('card').optional() };

export const paymentMethodOperations = [
  operation('GET', '/v1/payment_methods', listParameters({ ...ofKind, customer: text.optional() }), (world, given) => {
    if (given.customer !== undefined) customerOf(world, given.customer, 'customer');
    return listAnswer(world, world.store.paymentMethods, given, '/v1/payment_methods', ({ customer }) =>
      given.customer === undefined ? customer === null : customer === given.customer,
    );
  }),
  operation(
    'GET',
    '/v1/customers/:customer/payment_methods',
    listParameters(ofKind),
    (world, given, { customer: id = '' }) => {
      customerOf(world, id);
      const url = `/v1/customers/${id}/payment_methods`;
      return listAnswer(world, world.store.paymentMethods, given, url, ({ customer }) => customer === id);
    },
  ),
  operation('GET', '/v1/payment_methods/:method', parameters({}), (world, _, { method = '' }) => ({
    record: methodOf(world, method),
  })),
  operation(
    'POST',
    '/v1/payment_methods/:method/attach',
    parameters({ customer: text }),
    (world, given, { method = '' }) => {
      customerOf(world, given.customer, 'customer');
      const card = findCard(method);
      if (card?.token === 'pm_card_chargeDeclined')
        throw new StripeFault(402, 'card_error', 'Your card was declined.', {
          ...{ code: 'card_declined', decline_code: 'generic_decline' },
        });
      const present = card ? addCard(world, card.token, given.customer) : methodOf(world, method);
      const attached = world.store.paymentMethods.change(present.id, { customer: given.customer });
      world.emit('payment_method.attached', attached);
      return { record: attached };
    },
  ),
  operation('POST', '/v1/payment_methods/:method/detach', parameters({}), (world, _, { method: id = '' }) => {
    const before = methodOf(world, id);
    const detached = world.store.paymentMethods.change(id, { customer: null });
    for (const customer of world.store.customers.filter(({ defaultPaymentMethod }) => defaultPaymentMethod === id))
      world.store.customers.change(customer.id, { defaultPaymentMethod: null });
    for (const one of world.store.subscriptions.filter(({ default_payment_method }) => default_payment_method === id))
      world.store.subscriptions.change(one.id, { default_payment_method: null });
    world.emit('payment_method.detached', detached, before);
    return { record: detached };
  }),
];
