// What a payment, made or failed, means for its subscription.
import { nextAttempt } from '../money/retries.js';
import type { Invoice, Subscription } from '../objects/records.js';
import type { World } from '../world/world.js';
import { endSubscription } from './ending.js';
import { finalizeInvoice, invoiceOf, voidInvoice } from './invoices.js';
import { attemptPayment, type Attempt, type Payment } from './payments.js';
import { changeSubscription } from './changing.js';

/** How an invoice is collected. `isAutomatic`: by the schedule, which counts attempts and retries. */
export interface Collecting extends Attempt {
  isAutomatic: boolean;
}

/** Finalizes an invoice if it is a draft, and collects it: subscription and retries follow from what comes of it. */
export function collect(world: World, id: string, how: Collecting): Payment {
  const present = invoiceOf(world, id);
  const invoice = present.status === 'draft' ? finalizeInvoice(world, id) : present;
  if (invoice.status === 'paid') {
    afterPayment(world, invoice);
    return { outcome: 'succeeds' };
  }
  const payment = attemptPayment(world, id, how);
  const attempts = how.isAutomatic || invoice.attempt_count === 0 ? invoice.attempt_count + 1 : invoice.attempt_count;
  const tried = world.store.invoices.change(id, { attempted: true, attempt_count: attempts });
  if (payment.outcome === 'succeeds') afterPayment(world, tried);
  else afterFailure(world, tried, payment, how);
  return payment;
}

/** The subscription after one of its invoices was paid. */
export function afterPayment(world: World, invoice: Invoice): void {
  const subscription = invoice.subscription === null ? undefined : world.store.subscriptions.get(invoice.subscription);
  if (!subscription) return;
  if (invoice.purpose === 'pending_update') {
    if (subscription.pendingUpdate?.invoice === invoice.id) applyPendingUpdate(world, subscription);
    return;
  }
  if (invoice.purpose === 'resume' && subscription.resumption?.invoice === invoice.id) {
    changeSubscription(world, subscription.id, { status: 'active', paused: null, resumption: null }, 'resumed');
    return;
  }
  if (subscription.status === 'incomplete') changeSubscription(world, subscription.id, { status: 'active' });
  reconsider(world, subscription);
}

/** The subscription after one of its invoices was voided or given up. */
export function afterWriteOff(world: World, invoice: Invoice): void {
  const subscription = invoice.subscription === null ? undefined : world.store.subscriptions.get(invoice.subscription);
  if (subscription) reconsider(world, subscription);
}

/** A subscription that owes is active again once the newest of its finalized invoices is settled. */
function reconsider(world: World, subscription: Subscription): void {
  if (subscription.status !== 'past_due' && subscription.status !== 'unpaid') return;
  for (const invoice of world.store.invoices.newestFirst()) {
    if (invoice.subscription !== subscription.id || invoice.purpose === 'pending_update') continue;
    if (invoice.status === 'draft' || invoice.status === 'void') continue;
    if (invoice.status !== 'open') changeSubscription(world, subscription.id, { status: 'active' });
    return;
  }
}

function applyPendingUpdate(world: World, subscription: Subscription): void {
  const items = subscription.pendingUpdate?.items ?? subscription.items;
  changeSubscription(world, subscription.id, { items, pendingUpdate: null }, 'pending_update_applied');
}

/** An update that was not paid in time is dropped, and nobody owes its invoice. */
export function expirePendingUpdate(world: World, subscription: Subscription): void {
  const invoice = subscription.pendingUpdate?.invoice;
  changeSubscription(world, subscription.id, { pendingUpdate: null }, 'pending_update_expired');
  if (invoice !== undefined && invoiceOf(world, invoice).status === 'open') voidInvoice(world, invoice);
}

function afterFailure(world: World, invoice: Invoice, payment: Payment, how: Collecting): void {
  const isRetried = invoice.auto_advance && ['cycle', 'update', 'resume', 'final'].includes(invoice.purpose);
  const rules = world.state.collection;
  const next = isRetried ? nextAttempt(rules, invoice.attempt_count, world.nowFor(invoice.customer)) : null;
  const isNewSchedule = how.isAutomatic || invoice.next_payment_attempt === null;
  const failed = world.store.invoices.change(invoice.id, {
    next_payment_attempt: isNewSchedule ? next : invoice.next_payment_attempt,
  });
  if (payment.outcome === 'needs_confirmation') world.emit('invoice.payment_action_required', failed);
  world.emit('invoice.payment_failed', failed);
  const subscription = failed.subscription === null ? undefined : world.store.subscriptions.get(failed.subscription);
  if (!subscription || failed.purpose === 'create' || failed.purpose === 'pending_update') return;
  if (subscription.status === 'active' || subscription.status === 'trialing')
    changeSubscription(world, subscription.id, { status: 'past_due' });
  if (isRetried && how.isAutomatic && next === null) afterLastRetry(world, subscription.id, failed);
}

function afterLastRetry(world: World, id: string, invoice: Invoice): void {
  const subscription = world.store.subscriptions.get(id);
  if (subscription?.status !== 'past_due') return;
  switch (world.state.collection.afterLastRetry) {
    case 'cancel':
      endSubscription(world, id, 'payment_failed');
      return;
    case 'unpaid':
      changeSubscription(world, id, { status: 'unpaid' });
      return;
    case 'pause':
      changeSubscription(
        world,
        id,
        { status: 'paused', paused: { reason: 'final_payment_failure', since: world.nowFor(invoice.customer) } },
        'paused',
      );
      return;
    case 'past_due':
      return;
  }
}
