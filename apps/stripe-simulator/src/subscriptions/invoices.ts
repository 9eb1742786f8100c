import { newId } from '../wire/ids.js';
import type { Invoice, InvoiceLine, InvoicePurpose, Subscription } from '../objects/records.js';
import { amountRemaining } from '../objects/invoice-view.js';
import type { World } from '../world/world.js';
import type { Period } from './lines.js';

/** What a new invoice is made from. */
export interface Draft {
  customer: string;
  subscription: Subscription | null;
  purpose: InvoicePurpose;
  billingReason: string;
  lines: InvoiceLine[];
  period: Period;
  /** Whether it is finalized and collected without being asked to be. */
  autoAdvance: boolean;
  finalizesAt?: number | null;
  prorationDate?: number | null;
}

export const total = (lines: readonly InvoiceLine[]): number => lines.reduce((sum, { amount }) => sum + amount, 0);

/** An invoice that is not stored: what a preview shows, and what `draftInvoice` stores. */
export function composeInvoice(world: World, draft: Draft): Invoice {
  const { customer, subscription, purpose, lines, period } = draft;
  const holder = world.store.customers.get(customer);
  const sum = total(lines);
  const startingBalance = holder?.balance ?? 0;
  return {
    ...{ id: newId('in'), object: 'invoice', created: world.nowFor(customer), customer, purpose, lines, total: sum },
    ...{ amount_due: Math.max(0, sum + startingBalance), amount_paid: 0, attempt_count: 0, attempted: false },
    ...{ auto_advance: draft.autoAdvance, automatically_finalizes_at: draft.finalizesAt ?? null },
    ...{ billing_reason: draft.billingReason, currency: lines[0]?.currency ?? holder?.currency ?? 'usd' },
    ...{ ending_balance: null, hosted_invoice_url: null, metadata: {}, next_payment_attempt: null, number: null },
    ...{ period_start: period.start, period_end: period.end, starting_balance: startingBalance, status: 'draft' },
    ...{ post_payment_credit_notes_amount: 0, pre_payment_credit_notes_amount: 0 },
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    ...{ test_clock: holder?.test_clock ?? null, subscription: subscription?.id ?? null },
    ...{ subscriptionMetadata: subscription?.metadata ?? {}, prorationDate: draft.prorationDate ?? null },
    ...{ pageToken: newId('pay'), paymentIntent: null },
  };
}

/** Makes a draft; it is the newest invoice of its subscription from now on. */
export function draftInvoice(world: World, draft: Draft): Invoice {
  const invoice = world.store.invoices.put(composeInvoice(world, draft));
  if (draft.subscription) world.store.subscriptions.change(draft.subscription.id, { latest_invoice: invoice.id });
  world.emit('invoice.created', invoice);
  return invoice;
}

/** Takes the lines that wait for the customer's next invoice. */
export function takePendingLines(world: World, customer: string, subscription: string | null): InvoiceLine[] {
  const waiting = pendingItems(world, customer, subscription);
  for (const { id } of waiting) world.store.pendingItems.remove(id);
  return waiting.map(({ line }) => line);
}

/** Lines that wait, without taking them. */
export function pendingItems(world: World, customer: string, subscription: string | null) {
  return world.store.pendingItems.filter(
    (item) => item.customer === customer && (subscription === null || item.line.subscription === subscription),
  );
}

/** Keeps lines for the customer's next invoice. */
export function keepPending(world: World, customer: string, lines: readonly InvoiceLine[]): void {
  for (const line of lines) {
    const id = line.invoiceItem ?? newId('ii');
    world.store.pendingItems.put({ id, object: 'invoiceitem', created: world.nowFor(customer), customer, line });
  }
}

/**
 * Finalizes a draft: it gets its number and its page, and the customer's balance is used. What leaves nothing to pay is
 * paid; a total below zero becomes credit of the customer.
 */
export function finalizeInvoice(world: World, id: string): Invoice {
  const draft = invoiceOf(world, id);
  const customer = world.store.customers.get(draft.customer);
  if (!customer) throw new Error(`There is no customer ${draft.customer}.`);
  const at = world.nowFor(draft.customer);
  const after = draft.total + customer.balance;
  const due = Math.max(0, after);
  const sequence = customer.next_invoice_sequence;
  world.store.customers.change(customer.id, {
    ...{ balance: Math.min(0, after), next_invoice_sequence: sequence + 1, currency: draft.currency },
  });
  const invoice = world.store.invoices.change(id, {
    ...{ status: 'open', amount_due: due, starting_balance: customer.balance, ending_balance: Math.min(0, after) },
    ...{ number: `${customer.invoice_prefix}-${String(sequence).padStart(4, '0')}`, automatically_finalizes_at: null },
    hosted_invoice_url: `${world.options.publicUrl()}/i/${draft.pageToken}`,
    status_transitions: { ...draft.status_transitions, finalized_at: at },
    paymentIntent: due > 0 ? makePaymentIntent(world, draft, due) : null,
  });
  world.emit('invoice.finalized', invoice);
  return due === 0 ? markPaid(world, id) : invoice;
}

function makePaymentIntent(world: World, invoice: Invoice, amount: number): string {
  const id = newId('pi');
  const created = world.nowFor(invoice.customer);
  const { currency, customer } = invoice;
  const intent = world.store.paymentIntents.put({
    ...{ id, object: 'payment_intent', created, amount, amount_received: 0, canceled_at: null, currency, customer },
    ...{ client_secret: `${id}_secret_${newId('s').slice(2)}`, last_payment_error: null, latest_charge: null },
    ...{ metadata: {}, payment_method: null, status: 'requires_payment_method', invoice: invoice.id },
  });
  world.emit('payment_intent.created', intent);
  world.store.invoicePayments.put({
    ...{
      id: newId('inpay'),
      object: 'invoice_payment',
      created,
      amount_paid: null,
      amount_requested: amount,
      currency,
    },
    ...{ invoice: invoice.id, status: 'open', status_transitions: { canceled_at: null, paid_at: null } },
    paymentIntent: id,
  });
  return id;
}

/** Notes that nothing is left to pay. */
export function markPaid(world: World, id: string): Invoice {
  const open = invoiceOf(world, id);
  const at = world.nowFor(open.customer);
  const invoice = world.store.invoices.change(id, {
    ...{ status: 'paid', amount_paid: open.amount_paid + amountRemaining(open), attempted: true },
    ...{ next_payment_attempt: null, auto_advance: false },
    status_transitions: { ...open.status_transitions, paid_at: at },
  });
  closePayment(world, invoice, 'paid');
  world.emit('invoice.paid', invoice);
  world.emit('invoice.payment_succeeded', invoice);
  return invoice;
}

/** Voids an open invoice: nobody owes it any more. Credit that it used goes back to the customer. */
export function voidInvoice(world: World, id: string): Invoice {
  const open = invoiceOf(world, id);
  const used = open.status === 'open' ? (open.ending_balance ?? 0) - open.starting_balance : 0;
  const customer = world.store.customers.get(open.customer);
  if (used > 0 && customer) world.store.customers.change(customer.id, { balance: customer.balance - used });
  const invoice = world.store.invoices.change(id, {
    ...{ status: 'void', next_payment_attempt: null, auto_advance: false },
    status_transitions: { ...open.status_transitions, voided_at: world.nowFor(open.customer) },
  });
  closePayment(world, invoice, 'canceled');
  world.emit('invoice.voided', invoice);
  return invoice;
}

/** Gives an invoice up; it can still be paid. */
export function markUncollectible(world: World, id: string): Invoice {
  const open = invoiceOf(world, id);
  const invoice = world.store.invoices.change(id, {
    ...{ status: 'uncollectible', next_payment_attempt: null, auto_advance: false },
    status_transitions: { ...open.status_transitions, marked_uncollectible_at: world.nowFor(open.customer) },
  });
  world.emit('invoice.marked_uncollectible', invoice);
  return invoice;
}

function closePayment(world: World, invoice: Invoice, status: 'paid' | 'canceled'): void {
  if (invoice.paymentIntent === null) return;
  const at = world.nowFor(invoice.customer);
  const [payment] = world.store.invoicePayments.filter((one) => one.invoice === invoice.id);
  if (payment)
    world.store.invoicePayments.change(payment.id, {
      ...{ status, amount_paid: status === 'paid' ? payment.amount_requested : null },
      status_transitions: { canceled_at: status === 'canceled' ? at : null, paid_at: status === 'paid' ? at : null },
    });
  if (status === 'canceled') {
    const intent = world.store.paymentIntents.change(invoice.paymentIntent, { status, canceled_at: at });
    world.emit('payment_intent.canceled', intent);
  }
}

export function invoiceOf(world: World, id: string): Invoice {
  const invoice = world.store.invoices.get(id);
  if (!invoice) throw new Error(`There is no invoice ${id}.`);
  return invoice;
}
