import { newId } from '../wire/ids.js';
import { findCard } from '../money/cards.js';
import { amountRemaining } from '../objects/invoice-view.js';
import type { Invoice, PaymentMethod } from '../objects/records.js';
import type { World } from '../world/world.js';
import { invoiceOf, markPaid } from './invoices.js';

/** How a payment is made. */
export interface Attempt {
  /** Absent: that of the subscription, else the customer's own. */
  paymentMethod?: string | undefined;
  /** Somebody sits at the page. */
  isPresent: boolean;
  /** They have confirmed it there. */
  isConfirmed?: boolean;
}

/** What an attempt came to; `no_method`: there was nothing to pay with. */
export type Payment =
  | { outcome: 'succeeds' }
  | { outcome: 'needs_confirmation' }
  | { outcome: 'declined' | 'no_method'; code: string; message: string };

/** The method that an invoice is collected with. */
export function methodFor(world: World, invoice: Invoice): string | null {
  const subscription = invoice.subscription === null ? undefined : world.store.subscriptions.get(invoice.subscription);
  return (
    subscription?.default_payment_method ?? world.store.customers.get(invoice.customer)?.defaultPaymentMethod ?? null
  );
}

/** Adds a card to a customer, or to nobody yet. */
export function addCard(world: World, cardToken: string, customer: string | null): PaymentMethod {
  const holder = customer === null ? undefined : world.store.customers.get(customer);
  return world.store.paymentMethods.put({
    ...{ id: newId('pm'), object: 'payment_method', customer, metadata: {}, cardToken, payments: 0 },
    ...{ created: world.now(holder?.test_clock ?? null), email: holder?.email ?? null },
  });
}

/** Tries to pay an open invoice. Its state, its payment intent and its charge show what came of it; the subscription is left alone. */
export function attemptPayment(world: World, invoiceId: string, attempt: Attempt): Payment {
  const invoice = invoiceOf(world, invoiceId);
  const id = attempt.paymentMethod ?? methodFor(world, invoice);
  const method = id === null ? undefined : world.store.paymentMethods.get(id);
  if (!method || method.customer !== invoice.customer) return fail(world, invoice, undefined, 'no_method');
  const card = findCard(method.cardToken);
  const drawn = card?.outcome({ isPresent: attempt.isPresent, priorPayments: method.payments }) ?? 'declined';
  const outcome = drawn === 'needs_confirmation' && attempt.isConfirmed === true ? 'succeeds' : drawn;
  if (outcome === 'needs_confirmation') return waitForConfirmation(world, invoice, method);
  if (outcome === 'declined') return fail(world, invoice, method, card?.declineCode ?? 'generic_decline');
  world.store.paymentMethods.change(method.id, { payments: method.payments + 1 });
  const charge = recordCharge(world, invoice, method, undefined);
  if (invoice.paymentIntent !== null) {
    const intent = world.store.paymentIntents.change(invoice.paymentIntent, {
      ...{ status: 'succeeded', amount_received: charge.amount, latest_charge: charge.id, payment_method: method.id },
      last_payment_error: null,
    });
    world.emit('payment_intent.succeeded', intent);
  }
  markPaid(world, invoiceId);
  return { outcome };
}

function recordCharge(world: World, invoice: Invoice, method: PaymentMethod, failure: string | undefined) {
  const charge = world.store.charges.put({
    ...{ id: newId('ch'), object: 'charge', created: world.nowFor(invoice.customer), amount: amountRemaining(invoice) },
    ...{ amount_refunded: 0, currency: invoice.currency, customer: invoice.customer, metadata: {} },
    ...{ failure_code: failure === undefined ? null : 'card_declined', failure_message: failure ? DECLINED : null },
    ...{ paid: failure === undefined, payment_intent: invoice.paymentIntent ?? '', payment_method: method.id },
    ...{ refunded: false, status: failure === undefined ? 'succeeded' : 'failed' },
  });
  world.emit(failure === undefined ? 'charge.succeeded' : 'charge.failed', charge);
  return charge;
}

const DECLINED = 'Your card was declined.';
const NO_METHOD = 'This customer has no attached payment source or default payment method.';

function fail(world: World, invoice: Invoice, method: PaymentMethod | undefined, declineCode: string): Payment {
  if (invoice.paymentIntent !== null && method) {
    const charge = recordCharge(world, invoice, method, declineCode);
    const intent = world.store.paymentIntents.change(invoice.paymentIntent, {
      ...{ status: 'requires_payment_method', latest_charge: charge.id, payment_method: null },
      last_payment_error: { type: 'card_error', code: 'card_declined', decline_code: declineCode, message: DECLINED },
    });
    world.emit('payment_intent.payment_failed', intent);
  }
  return method
    ? { outcome: 'declined', code: declineCode, message: DECLINED }
    : { outcome: 'no_method', code: 'resource_missing', message: NO_METHOD };
}

function waitForConfirmation(world: World, invoice: Invoice, method: PaymentMethod): Payment {
  if (invoice.paymentIntent !== null) {
    const fields = { status: 'requires_action', payment_method: method.id } as const;
    world.emit('payment_intent.requires_action', world.store.paymentIntents.change(invoice.paymentIntent, fields));
  }
  return { outcome: 'needs_confirmation' };
}
