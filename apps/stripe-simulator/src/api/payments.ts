import { z } from 'zod';
import { amountRemaining } from '../objects/invoice-view.js';
import type { Charge, Invoice, Refund } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import {
  integer,
  listParameters,
  mergeMetadata,
  metadata,
  moments,
  parameters,
  text,
  within,
} from '../wire/parameters.js';
import { invalid, noSuch, StripeFault } from '../wire/stripe-fault.js';
import { markPaid } from '../subscriptions/invoices.js';
import { afterPayment } from '../subscriptions/collection.js';
import type { World } from '../world/world.js';
import { listAnswer } from './lists.js';
import { operation } from './operation.js';

function chargeOfIntent(world: World, intent: string): Charge {
  const present = world.store.paymentIntents.get(intent);
  if (!present) throw noSuch('payment_intent', intent, 'payment_intent');
  const charge = present.status === 'succeeded' ? world.store.charges.get(present.latest_charge ?? '') : undefined;
  if (!charge)
    throw invalid(`This PaymentIntent (${intent}) does not have a successful charge to refund.`, 'payment_intent');
  return charge;
}

/** Pays a charge back, whole or in part. Throws the API's 400 for more than is left of it. */
function refund(
  world: World,
  charge: Charge,
  amount: number,
  about: { reason: string | null; metadata: Record<string, string> },
): Refund {
  const left = charge.amount - charge.amount_refunded;
  if (!charge.paid) throw invalid(`Charge ${charge.id} did not succeed: there is nothing to refund.`, 'charge');
  if (left === 0)
    throw new StripeFault(400, 'invalid_request_error', `Charge ${charge.id} has already been refunded.`, {
      code: 'charge_already_refunded',
    });
  if (amount <= 0 || amount > left)
    throw invalid(
      `Refund amount (${cents(amount)}) is greater than unrefunded amount on charge (${cents(left)})`,
      'amount',
    );
  const made = world.store.refunds.put({
    ...{ id: newId('re'), object: 'refund', created: world.nowFor(charge.customer), amount, charge: charge.id },
    ...{ currency: charge.currency, customer: charge.customer, metadata: about.metadata, reason: about.reason },
    ...{ payment_intent: charge.payment_intent, status: 'succeeded' },
  });
  const refunded = charge.amount_refunded + amount;
  const after = world.store.charges.change(charge.id, {
    amount_refunded: refunded,
    refunded: refunded === charge.amount,
  });
  world.emit('charge.refunded', after, charge);
  world.emit('refund.created', made);
  return made;
}

const cents = (amount: number): string => `$${(amount / 100).toFixed(2)}`;

const newRefund = parameters({
  ...{
    charge: text.optional(),
    payment_intent: text.optional(),
    amount: integer.optional(),
    metadata: metadata.optional(),
  },
  reason: z.enum(['duplicate', 'fraudulent', 'requested_by_customer']).optional(),
});

const newCreditNote = parameters({
  ...{ invoice: text, amount: integer.optional(), memo: text.optional(), metadata: metadata.optional() },
  ...{ credit_amount: integer.optional(), refund_amount: integer.optional(), out_of_band_amount: integer.optional() },
  reason: z.enum(['duplicate', 'fraudulent', 'order_change', 'product_unsatisfactory']).optional(),
});

function createCreditNote(world: World, given: z.output<typeof newCreditNote>) {
  const invoice = world.store.invoices.get(given.invoice);
  if (!invoice) throw noSuch('invoice', given.invoice, 'invoice');
  if (invoice.status === 'draft' || invoice.status === 'void')
    throw invalid(
      `You can only create a credit note for an invoice that is open, paid or uncollectible. This one is ${invoice.status}.`,
      'invoice',
    );
  const { credit_amount: credit = 0, refund_amount: back = 0, out_of_band_amount: outside = 0 } = given;
  const amount = given.amount ?? credit + back + outside;
  const noted = invoice.pre_payment_credit_notes_amount + invoice.post_payment_credit_notes_amount;
  if (amount <= 0 || amount > invoice.total - noted)
    throw invalid(`The credit note amount must be positive and at most ${cents(invoice.total - noted)}.`, 'amount');
  const isPaid = invoice.status === 'paid';
  if (isPaid && credit + back + outside !== amount)
    throw invalid(
      'The sum of credit amount, refund amount and out of band amount must equal the post payment credit note amount.',
      'amount',
    );
  const refunds = isPaid && back > 0 ? [refundInvoice(world, invoice, back, given.reason ?? null)] : [];
  if (isPaid && credit > 0) creditCustomer(world, invoice.customer, credit);
  const note = world.store.creditNotes.put({
    ...{
      id: newId('cn'),
      object: 'credit_note',
      created: world.nowFor(invoice.customer),
      amount,
      memo: given.memo ?? null,
    },
    ...{ currency: invoice.currency, customer: invoice.customer, invoice: invoice.id, reason: given.reason ?? null },
    ...{ metadata: mergeMetadata({}, given.metadata), out_of_band_amount: outside === 0 ? null : outside },
    number: `${invoice.number ?? ''}-CN-${String(countNotes(world, invoice.id) + 1).padStart(2, '0')}`,
    ...{ post_payment_amount: isPaid ? amount : 0, pre_payment_amount: isPaid ? 0 : amount },
    refunds: refunds.map(({ id, amount: refunded }) => ({ amount_refunded: refunded, refund: id })),
  });
  applyNote(world, invoice, isPaid, amount);
  world.emit('credit_note.created', note);
  return { record: note };
}

function countNotes(world: World, invoice: string): number {
  return world.store.creditNotes.filter((one) => one.invoice === invoice).length;
}

function refundInvoice(world: World, invoice: Invoice, amount: number, reason: string | null): Refund {
  const charge = chargeOfIntent(world, invoice.paymentIntent ?? '');
  return refund(world, charge, amount, { reason: reason === 'duplicate' ? reason : null, metadata: {} });
}

function creditCustomer(world: World, id: string, amount: number): void {
  const customer = world.store.customers.get(id);
  if (customer) world.store.customers.change(id, { balance: customer.balance - amount });
}

function applyNote(world: World, invoice: Invoice, isPaid: boolean, amount: number): void {
  const after = world.store.invoices.change(invoice.id, {
    ...(isPaid
      ? { post_payment_credit_notes_amount: invoice.post_payment_credit_notes_amount + amount }
      : { pre_payment_credit_notes_amount: invoice.pre_payment_credit_notes_amount + amount }),
  });
  if (!isPaid && amountRemaining(after) <= 0) afterPayment(world, markPaid(world, invoice.id));
}

export const paymentOperations = [
  operation('GET', '/v1/payment_intents/:intent', parameters({}), (world, _, { intent = '' }) => {
    const record = world.store.paymentIntents.get(intent);
    if (!record) throw noSuch('payment_intent', intent);
    return { record };
  }),
  operation(
    'GET',
    '/v1/payment_intents',
    listParameters({ customer: text.optional(), created: moments.optional() }),
    (world, given) =>
      listAnswer(world, world.store.paymentIntents, given, '/v1/payment_intents', ({ customer, created }) => {
        return (given.customer ?? customer) === customer && within(given.created, created);
      }),
  ),
  operation('GET', '/v1/charges/:charge', parameters({}), (world, _, { charge = '' }) => {
    const record = world.store.charges.get(charge);
    if (!record) throw noSuch('charge', charge);
    return { record };
  }),
  operation(
    'GET',
    '/v1/charges',
    listParameters({ customer: text.optional(), payment_intent: text.optional(), created: moments.optional() }),
    (world, given) =>
      listAnswer(world, world.store.charges, given, '/v1/charges', (charge) => {
        const isTheirs = (given.customer ?? charge.customer) === charge.customer;
        return (
          isTheirs &&
          (given.payment_intent ?? charge.payment_intent) === charge.payment_intent &&
          within(given.created, charge.created)
        );
      }),
  ),
  operation('POST', '/v1/refunds', newRefund, (world, given) => {
    if (given.charge === undefined && given.payment_intent === undefined)
      throw invalid('One of the following params should be provided for this request: payment_intent or charge.');
    const charge =
      given.charge === undefined
        ? chargeOfIntent(world, given.payment_intent ?? '')
        : world.store.charges.get(given.charge);
    if (!charge) throw noSuch('charge', given.charge ?? '', 'charge');
    const amount = given.amount ?? charge.amount - charge.amount_refunded;
    const about = { reason: given.reason ?? null, metadata: mergeMetadata({}, given.metadata) };
    return { record: refund(world, charge, amount, about) };
  }),
  operation(
    'GET',
    '/v1/refunds',
    listParameters({ charge: text.optional(), payment_intent: text.optional() }),
    (world, given) =>
      listAnswer(world, world.store.refunds, given, '/v1/refunds', ({ charge, payment_intent }) => {
        return (given.charge ?? charge) === charge && (given.payment_intent ?? payment_intent) === payment_intent;
      }),
  ),
  operation('GET', '/v1/refunds/:refund', parameters({}), (world, _, { refund: id = '' }) => {
    const record = world.store.refunds.get(id);
    if (!record) throw noSuch('refund', id);
    return { record };
  }),
  operation('POST', '/v1/credit_notes', newCreditNote, createCreditNote),
  operation(
    'GET',
    '/v1/credit_notes',
    listParameters({ invoice: text.optional(), customer: text.optional() }),
    (world, given) =>
      listAnswer(world, world.store.creditNotes, given, '/v1/credit_notes', ({ invoice, customer }) => {
        return (given.invoice ?? invoice) === invoice && (given.customer ?? customer) === customer;
      }),
  ),
  operation(
    'GET',
    '/v1/invoice_payments',
    listParameters({
      ...{ invoice: text.optional(), status: z.enum(['open', 'paid', 'canceled']).optional() },
      payment: z.strictObject({ type: z.literal('payment_intent'), payment_intent: text.optional() }).optional(),
    }),
    (world, given) =>
      listAnswer(world, world.store.invoicePayments, given, '/v1/invoice_payments', (one) => {
        const isOf = (given.invoice ?? one.invoice) === one.invoice && (given.status ?? one.status) === one.status;
        return isOf && (given.payment?.payment_intent ?? one.paymentIntent) === one.paymentIntent;
      }),
  ),
];
