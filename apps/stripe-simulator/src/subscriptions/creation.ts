import { periodEnd } from '../money/periods.js';
import type { Metadata, Subscription, SubscriptionItem } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import { invalid, StripeFault } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';
import { subscriptionOf } from './changing.js';
import { collect } from './collection.js';
import { draftInvoice, finalizeInvoice, takePendingLines } from './invoices.js';
import { billedBy, fullLine, priceOf, trialLine } from './lines.js';
import type { Attempt, Payment } from './payments.js';

/** What a subscription begins with. */
export interface NewSubscription {
  customer: string;
  items: { price: string; quantity: number; metadata?: Metadata }[];
  defaultPaymentMethod: string | null;
  metadata: Metadata;
  description: string | null;
  /** A trial until then; null for none. */
  trialEnd: number | null;
  missingPaymentMethod: Subscription['missingPaymentMethod'];
  /** `default_incomplete` waits for a payment that somebody makes; `error_if_incomplete` is refused without one. */
  paymentBehavior: 'allow_incomplete' | 'default_incomplete' | 'error_if_incomplete';
  payment: Attempt;
}

/** Makes a subscription with its first invoice, and collects that. It is `incomplete` until the first payment. */
export function createSubscription(
  world: World,
  given: NewSubscription,
): { subscription: Subscription; payment?: Payment } {
  const at = world.nowFor(given.customer);
  const items = given.items.map((item) => newItem(world, item, at, given.trialEnd ?? at, given.trialEnd));
  const subscription = world.store.subscriptions.put({
    ...{ id: newId('sub'), object: 'subscription', created: at, billing_cycle_anchor: given.trialEnd ?? at },
    ...{ cancel_at: null, cancel_at_period_end: false, canceled_at: null, ended_at: null, latest_invoice: null },
    cancellation_details: { comment: null, feedback: null, reason: null },
    ...{ currency: priceOf(world, items[0]?.price ?? '').currency, customer: given.customer, items },
    ...{ default_payment_method: given.defaultPaymentMethod, description: given.description, metadata: given.metadata },
    ...{ start_date: at, status: given.trialEnd === null ? 'incomplete' : 'trialing', trial_end: given.trialEnd },
    ...{ trial_start: given.trialEnd === null ? null : at, pendingUpdate: null, paused: null, resumption: null },
    test_clock: world.store.customers.get(given.customer)?.test_clock ?? null,
    missingPaymentMethod: given.missingPaymentMethod,
  });
  world.emit('customer.subscription.created', subscription);
  return collectFirst(world, subscription, given);
}

function newItem(
  world: World,
  item: NewSubscription['items'][number],
  at: number,
  anchor: number,
  trialEnd: number | null,
): SubscriptionItem {
  const { recurring } = priceOf(world, item.price);
  if (!recurring)
    throw invalid(
      'The price specified is set to `type=one_time` but this field only accepts prices with `type=recurring`.',
      'items[0][price]',
    );
  return {
    ...{ id: newId('si'), created: at, current_period_start: at, metadata: item.metadata ?? {}, price: item.price },
    ...{ current_period_end: trialEnd ?? periodEnd(anchor, recurring, at), quantity: item.quantity, billed: undefined },
  };
}

function collectFirst(world: World, subscription: Subscription, given: NewSubscription) {
  const [first] = subscription.items;
  const period = { start: first?.current_period_start ?? 0, end: first?.current_period_end ?? 0 };
  const isTrial = given.trialEnd !== null;
  const lines = subscription.items.map((item) =>
    (isTrial ? trialLine : fullLine)(world, subscription.id, item, period),
  );
  const invoice = draftInvoice(world, {
    ...{ customer: given.customer, subscription, purpose: 'create', billingReason: 'subscription_create' },
    ...{ lines: [...lines, ...takePendingLines(world, given.customer, null)], period, autoAdvance: false },
  });
  if (!isTrial)
    world.store.subscriptions.change(subscription.id, {
      items: subscription.items.map((item, index) => {
        const line = lines[index];
        return line ? { ...item, billed: billedBy(line) } : item;
      }),
    });
  if (given.paymentBehavior === 'default_incomplete') {
    const { status } = finalizeInvoice(world, invoice.id);
    if (status === 'open') return { subscription: subscriptionOf(world, subscription.id) };
  }
  const payment = collect(world, invoice.id, { ...given.payment, isAutomatic: true });
  if (payment.outcome !== 'succeeds' && given.paymentBehavior === 'error_if_incomplete') throw paymentFault(payment);
  return { subscription: subscriptionOf(world, subscription.id), payment };
}

/** The answer to a request that demanded a payment and did not get it. `keepsChanges`: the failed attempt is on record. */
export function paymentFault(payment: Payment, keepsChanges = false): StripeFault {
  if (payment.outcome === 'no_method') return invalid(payment.message, undefined, payment.code);
  if (payment.outcome === 'declined')
    return new StripeFault(
      402,
      'card_error',
      payment.message,
      { code: 'card_declined', decline_code: payment.code },
      keepsChanges,
    );
  return new StripeFault(
    402,
    'card_error',
    'This payment requires additional user action before it can be completed successfully. Payment needs confirmation by the customer.',
    { code: 'invoice_payment_intent_requires_action' },
    keepsChanges,
  );
}
