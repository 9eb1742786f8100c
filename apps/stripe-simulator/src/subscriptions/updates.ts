import type { Metadata, ProrationBehavior, Subscription, SubscriptionItem } from '../objects/records.js';
import { invalid } from '../wire/stripe-fault.js';
import { mergeMetadata } from '../wire/parameters.js';
import type { World } from '../world/world.js';
import { changeSubscription, subscriptionOf } from './changing.js';
import { collect } from './collection.js';
import { paymentFault } from './creation.js';
import { dropPendingUpdate } from './ending.js';
import { draftInvoice, finalizeInvoice, keepPending, takePendingLines } from './invoices.js';
import { changeItems, prorateItems, type ItemChange } from './item-changes.js';
import { renew } from './renewal.js';

const PENDING_SECONDS = 23 * 3600;

/** What a request changes. */
export interface SubscriptionUpdate {
  items?: ItemChange[] | undefined;
  proration_behavior?: ProrationBehavior | undefined;
  proration_date?: number | undefined;
  payment_behavior?:
    'allow_incomplete' | 'default_incomplete' | 'error_if_incomplete' | 'pending_if_incomplete' | undefined;
  cancel_at_period_end?: boolean | undefined;
  cancel_at?: number | null | undefined;
  cancellation_details?: { comment?: string | null | undefined; feedback?: string | null | undefined } | undefined;
  default_payment_method?: string | undefined;
  description?: string | null | undefined;
  metadata?: Metadata | null | undefined;
  off_session?: boolean | undefined;
  trial_end?: number | 'now' | undefined;
  trial_settings?: { end_behavior: { missing_payment_method: Subscription['missingPaymentMethod'] } } | undefined;
}

/** Changes a subscription as a request demands. Throws the API's 400 for what its state does not allow. */
export function updateSubscription(world: World, id: string, update: SubscriptionUpdate): Subscription {
  const subscription = subscriptionOf(world, id);
  checkAllowed(subscription, update);
  const fields = plainFields(world, subscription, update);
  if (Object.keys(fields).length > 0) changeSubscription(world, id, fields);
  if (update.trial_end !== undefined) changeTrial(world, id, update.trial_end);
  if (update.items) applyItems(world, subscriptionOf(world, id), update);
  return subscriptionOf(world, id);
}

function checkAllowed(subscription: Subscription, update: SubscriptionUpdate): void {
  const { status } = subscription;
  const given = Object.entries(update).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (status === 'canceled' || status === 'incomplete_expired') {
    const refused = given.find((name) => name !== 'metadata' && name !== 'cancellation_details');
    if (refused !== undefined)
      throw invalid('A canceled subscription can only update its cancellation_details and metadata.', refused);
  }
  if (status === 'incomplete' && update.items)
    throw invalid('You cannot update the items of a subscription whose first payment is incomplete.', 'items');
  if (update.payment_behavior !== 'pending_if_incomplete') return;
  const unsupported = ['metadata', 'cancel_at_period_end', 'cancel_at', 'default_payment_method', 'description'];
  const refused = given.filter((name) => unsupported.includes(name));
  if (refused.length > 0)
    throw invalid(
      `You passed \`${refused.join('`, `')}\` with \`payment_behavior=pending_if_incomplete\`, but pending updates do not support it.`,
      refused[0],
    );
}

function plainFields(world: World, subscription: Subscription, update: SubscriptionUpdate): Partial<Subscription> {
  const at = world.nowFor(subscription.customer);
  const end = subscription.items[0]?.current_period_end ?? at;
  const method = update.default_payment_method;
  if (method !== undefined && world.store.paymentMethods.get(method)?.customer !== subscription.customer)
    throw invalid(`No such PaymentMethod: '${method}'`, 'default_payment_method', 'resource_missing');
  const details = update.cancellation_details;
  const stopped = { ...subscription.cancellation_details, reason: 'cancellation_requested' };
  const going = { comment: null, feedback: null, reason: null };
  const fields: Partial<Subscription> = {
    ...(method !== undefined && { default_payment_method: method }),
    ...(update.description !== undefined && { description: update.description }),
    ...(update.metadata !== undefined && { metadata: mergeMetadata(subscription.metadata, update.metadata) }),
    ...(update.trial_settings && { missingPaymentMethod: update.trial_settings.end_behavior.missing_payment_method }),
  };
  const stopsAt = update.cancel_at_period_end === true ? end : update.cancel_at;
  if (stopsAt === null || update.cancel_at_period_end === false)
    Object.assign(fields, {
      cancel_at_period_end: false,
      cancel_at: null,
      canceled_at: null,
      cancellation_details: going,
    });
  else if (stopsAt !== undefined)
    Object.assign(fields, {
      ...{ cancel_at_period_end: update.cancel_at_period_end === true, cancel_at: stopsAt, canceled_at: at },
      cancellation_details: stopped,
    });
  if (details) {
    const present = fields.cancellation_details ?? subscription.cancellation_details;
    fields.cancellation_details = {
      ...present,
      ...(details.comment !== undefined && { comment: details.comment }),
      ...(details.feedback !== undefined && { feedback: details.feedback }),
    };
  }
  return fields;
}

function changeTrial(world: World, id: string, trialEnd: number | 'now'): void {
  const subscription = subscriptionOf(world, id);
  const at = world.nowFor(subscription.customer);
  if (trialEnd === 'now') {
    if (subscription.status !== 'trialing') return;
    changeSubscription(world, id, { status: 'active', trial_end: at, billing_cycle_anchor: at });
    renew(world, subscriptionOf(world, id), at);
    return;
  }
  if (trialEnd <= at) throw invalid('Invalid timestamp: must be an integer Unix timestamp in the future', 'trial_end');
  changeSubscription(world, id, {
    ...{ status: 'trialing', trial_end: trialEnd, trial_start: at, billing_cycle_anchor: trialEnd },
    items: subscription.items.map((item) => ({
      ...{ ...item, current_period_start: at, current_period_end: trialEnd, billed: undefined },
    })),
  });
}

/** The moment that prorations are reckoned from. Throws when it lies outside the current period. */
export function prorationMoment(world: World, subscription: Subscription, given: number | undefined): number {
  if (given === undefined) return world.nowFor(subscription.customer);
  const [first] = subscription.items;
  if (first && (given < first.current_period_start || given > first.current_period_end))
    throw invalid(
      'The proration date must be within the current billing period of the subscription.',
      'proration_date',
    );
  return given;
}

function applyItems(world: World, subscription: Subscription, update: SubscriptionUpdate): void {
  const behavior = update.proration_behavior ?? 'create_prorations';
  const wanted = changeItems(world, subscription, update.items ?? []);
  const at = prorationMoment(world, subscription, update.proration_date);
  const isBilled = subscription.status !== 'trialing' && subscription.status !== 'paused' && behavior !== 'none';
  const { lines, items } = isBilled ? prorateItems(world, subscription, wanted, at) : { lines: [], items: wanted };
  dropPendingUpdate(world, subscription);
  const id = subscription.id;
  if (behavior === 'always_invoice' && lines.length > 0) {
    invoiceUpdate(world, subscription, update, { lines, items });
    return;
  }
  if (lines.length > 0) keepPending(world, subscription.customer, lines);
  changeSubscription(world, id, { items, pendingUpdate: null });
}

function invoiceUpdate(
  world: World,
  subscription: Subscription,
  update: SubscriptionUpdate,
  { lines, items }: ReturnType<typeof prorateItems>,
): void {
  const { id, customer } = subscription;
  const isPending = update.payment_behavior === 'pending_if_incomplete';
  if (!isPending) changeSubscription(world, id, { items, pendingUpdate: null });
  const at = world.nowFor(customer);
  const invoice = draftInvoice(world, {
    ...{
      customer,
      subscription,
      purpose: isPending ? 'pending_update' : 'update',
      billingReason: 'subscription_update',
    },
    lines: isPending ? lines : [...takePendingLines(world, customer, id), ...lines],
    ...{ period: { start: at, end: at }, autoAdvance: !isPending, prorationDate: update.proration_date ?? at },
  });
  if (isPending) holdItems(world, id, items, invoice.id);
  if (update.payment_behavior === 'default_incomplete') {
    const { status } = finalizeInvoice(world, invoice.id);
    if (status === 'open' && subscription.status === 'active') changeSubscription(world, id, { status: 'past_due' });
    return;
  }
  const payment = collect(world, invoice.id, { isAutomatic: true, isPresent: false });
  if (payment.outcome !== 'succeeds' && update.payment_behavior === 'error_if_incomplete') throw paymentFault(payment);
}

function holdItems(world: World, id: string, items: SubscriptionItem[], invoice: string): void {
  const subscription = subscriptionOf(world, id);
  const end = subscription.items[0]?.current_period_end ?? Infinity;
  const expires = Math.min(world.nowFor(subscription.customer) + PENDING_SECONDS, end);
  changeSubscription(world, id, { pendingUpdate: { expires_at: expires, items, invoice } });
}
