import type { CheckoutSession, Customer } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import { invalid } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';
import { createSubscription } from './creation.js';
import { makeCustomer } from './new-customer.js';
import { addCard } from './payments.js';

const DAY_SECONDS = 86_400;

/** What a person gave on the Checkout page. */
export interface CheckoutPayment {
  cardToken: string;
  /** They confirmed the payment with their bank. */
  isConfirmed: boolean;
  email?: string | undefined;
  name?: string | undefined;
  taxId?: { type: string; value: string } | undefined;
}

/**
 * Pays for a session: the subscription comes to be, with the card as its own. Throws the API's error for a card that is
 * declined (`card_declined`) or wants confirmation (`invoice_payment_intent_requires_action`); then nothing has changed.
 */
export function payCheckout(world: World, id: string, payment: CheckoutPayment): CheckoutSession {
  const session = world.store.checkoutSessions.get(id);
  if (session?.status !== 'open') throw invalid(`This Checkout Session is ${session?.status ?? 'not there'}.`);
  const customer = buyer(world, session, payment);
  const card = addCard(world, payment.cardToken, customer.id);
  world.emit('payment_method.attached', card);
  const { trialEnd, trialDays, metadata, description } = session.subscriptionData;
  const at = world.nowFor(customer.id);
  const trial = trialEnd ?? (trialDays === null ? null : at + trialDays * DAY_SECONDS);
  const { subscription } = createSubscription(world, {
    ...{ customer: customer.id, items: session.lineItems, defaultPaymentMethod: card.id, metadata, description },
    ...{ trialEnd: trial, missingPaymentMethod: 'create_invoice', paymentBehavior: 'error_if_incomplete' },
    payment: { isPresent: true, isConfirmed: payment.isConfirmed },
  });
  const complete = world.store.checkoutSessions.change(id, {
    ...{ status: 'complete', payment_status: trial === null ? 'paid' : 'no_payment_required', url: null },
    ...{ customer: customer.id, customer_email: customer.email, subscription: subscription.id },
    invoice: subscription.latest_invoice,
  });
  world.emit('checkout.session.completed', complete);
  return complete;
}

function buyer(world: World, session: CheckoutSession, { email, name, taxId }: CheckoutPayment): Customer {
  const present = session.customer === null ? undefined : world.store.customers.get(session.customer);
  if (present?.deleted === true) throw invalid('The customer of this Checkout Session was deleted.');
  const customer =
    present ?? makeCustomer(world, { email: session.customer_email ?? email ?? null, name: name ?? null });
  if (!session.collectsTaxId || !taxId) return customer;
  const added = { id: newId('txi'), ...taxId, created: world.nowFor(customer.id) };
  const after = world.store.customers.change(customer.id, {
    ...{ taxIds: [...customer.taxIds, added], name: name ?? customer.name },
  });
  world.emit('customer.updated', after, customer);
  return after;
}
