import { z } from 'zod';
import {
  flag,
  integer,
  listParameters,
  list,
  metadata,
  mergeMetadata,
  moments,
  parameters,
  text,
  within,
} from '../wire/parameters.js';
import { invalid, noSuch, StripeFault } from '../wire/stripe-fault.js';
import type { Invoice } from '../objects/records.js';
import { afterPayment, afterWriteOff, collect } from '../subscriptions/collection.js';
import { paymentFault } from '../subscriptions/creation.js';
import { finalizeInvoice, markPaid, markUncollectible, voidInvoice } from '../subscriptions/invoices.js';
import { nothingUpcoming, previewInvoice } from '../subscriptions/preview.js';
import { subscriptionOf } from '../subscriptions/changing.js';
import type { World } from '../world/world.js';
import { customerOf } from './customers.js';
import { listAnswer } from './lists.js';
import { operation } from './operation.js';
import { itemChange } from './subscriptions.js';

function invoiceNamed(world: World, id: string): Invoice {
  const invoice = world.store.invoices.get(id);
  if (!invoice) throw noSuch('invoice', id);
  return invoice;
}

function needs(invoice: Invoice, states: Invoice['status'][], doing: string): void {
  if (!states.includes(invoice.status))
    throw invalid(`You can only ${doing} an invoice that is ${states.join(' or ')}. This one is ${invoice.status}.`);
}

const previewParameters = parameters({
  customer: text.optional(),
  subscription: text.optional(),
  preview_mode: z.literal('next').optional(),
  subscription_details: z
    .strictObject({
      ...{
        items: list(itemChange).optional(),
        proration_date: integer.optional(),
        cancel_at_period_end: flag.optional(),
      },
      proration_behavior: z.enum(['always_invoice', 'create_prorations', 'none']).optional(),
    })
    .optional(),
});

function preview(world: World, given: z.output<typeof previewParameters>) {
  const { customer, subscription, subscription_details: details } = given;
  if (customer !== undefined) customerOf(world, customer, 'customer');
  if (subscription !== undefined) {
    if (!world.store.subscriptions.get(subscription)) throw noSuch('subscription', subscription, 'subscription');
    return { record: previewInvoice(world, subscriptionOf(world, subscription), details ?? {}) };
  }
  if (customer === undefined)
    throw invalid('You must pass either `customer` or `subscription`.', 'customer', 'parameter_missing');
  const [next] = world.store.subscriptions
    .filter((one) => one.customer === customer && ['active', 'trialing', 'past_due', 'unpaid'].includes(one.status))
    .sort((a, b) => (a.items[0]?.current_period_end ?? 0) - (b.items[0]?.current_period_end ?? 0));
  if (!next) throw nothingUpcoming(customer);
  return { record: previewInvoice(world, next, details ?? {}) };
}

function pay(
  world: World,
  id: string,
  given: {
    payment_method?: string | undefined;
    paid_out_of_band?: boolean | undefined;
    off_session?: boolean | undefined;
  },
) {
  const invoice = invoiceNamed(world, id);
  if (invoice.status === 'paid') throw invalid('Invoice is already paid');
  needs(invoice, ['draft', 'open', 'uncollectible'], 'pay');
  if (given.paid_out_of_band === true) {
    if (invoice.status === 'draft') finalizeInvoice(world, id);
    afterPayment(world, markPaid(world, id));
    return { record: invoiceNamed(world, id) };
  }
  const payment = collect(world, id, {
    ...{ isAutomatic: false, isPresent: given.off_session === false, paymentMethod: given.payment_method },
  });
  if (payment.outcome !== 'succeeds') throw declined(payment, world, id);
  return { record: invoiceNamed(world, id) };
}

/** A payment that failed is answered as an error, and is on record all the same. */
function declined(payment: Parameters<typeof paymentFault>[0], world: World, id: string): StripeFault {
  const fault = paymentFault(payment, true);
  const intent = world.store.paymentIntents.get(invoiceNamed(world, id).paymentIntent ?? '');
  if (fault.type !== 'card_error' || !intent)
    return new StripeFault(fault.status, fault.type, fault.message, fault.details, true);
  return new StripeFault(
    fault.status,
    fault.type,
    fault.message,
    { ...fault.details, payment_intent: world.views.of(intent) },
    true,
  );
}

const listing = operation(
  'GET',
  '/v1/invoices',
  listParameters({
    ...{ customer: text.optional(), subscription: text.optional(), created: moments.optional() },
    status: z.enum(['draft', 'open', 'paid', 'uncollectible', 'void']).optional(),
    collection_method: z.enum(['charge_automatically', 'send_invoice']).optional(),
  }),
  (world, given) =>
    listAnswer(world, world.store.invoices, given, '/v1/invoices', (invoice) => {
      const isTheirs = given.customer === undefined || invoice.customer === given.customer;
      const isOf = given.subscription === undefined || invoice.subscription === given.subscription;
      const isSo = (given.status ?? invoice.status) === invoice.status && given.collection_method !== 'send_invoice';
      return isTheirs && isOf && isSo && within(given.created, invoice.created);
    }),
);

export const invoiceOperations = [
  listing,
  operation('POST', '/v1/invoices/create_preview', previewParameters, preview),
  operation('GET', '/v1/invoices/:invoice', parameters({}), (world, _, { invoice = '' }) => ({
    record: invoiceNamed(world, invoice),
  })),
  operation(
    'POST',
    '/v1/invoices/:invoice',
    parameters({ metadata: metadata.optional(), auto_advance: flag.optional() }),
    (world, given, { invoice: id = '' }) => {
      const before = invoiceNamed(world, id);
      const after = world.store.invoices.change(id, {
        ...(given.auto_advance !== undefined && { auto_advance: given.auto_advance }),
        metadata: mergeMetadata(before.metadata, given.metadata),
      });
      world.emit('invoice.updated', after, before);
      return { record: after };
    },
  ),
  operation('GET', '/v1/invoices/:invoice/lines', listParameters({}), (world, _, { invoice = '' }) => ({
    object: world.views.of(invoiceNamed(world, invoice)).lines as Record<string, never>,
  })),
  operation(
    'POST',
    '/v1/invoices/:invoice/pay',
    parameters({ payment_method: text.optional(), paid_out_of_band: flag.optional(), off_session: flag.optional() }),
    (world, given, { invoice = '' }) => pay(world, invoice, given),
  ),
  operation(
    'POST',
    '/v1/invoices/:invoice/finalize',
    parameters({ auto_advance: flag.optional() }),
    (world, given, { invoice: id = '' }) => {
      needs(invoiceNamed(world, id), ['draft'], 'finalize');
      if (given.auto_advance !== undefined) world.store.invoices.change(id, { auto_advance: given.auto_advance });
      const invoice = finalizeInvoice(world, id);
      if (invoice.status === 'paid') afterPayment(world, invoice);
      return { record: invoiceNamed(world, id) };
    },
  ),
  operation('POST', '/v1/invoices/:invoice/void', parameters({}), (world, _, { invoice: id = '' }) => {
    needs(invoiceNamed(world, id), ['open', 'uncollectible'], 'void');
    const record = voidInvoice(world, id);
    afterWriteOff(world, record);
    return { record };
  }),
  operation('POST', '/v1/invoices/:invoice/mark_uncollectible', parameters({}), (world, _, { invoice: id = '' }) => {
    needs(invoiceNamed(world, id), ['open'], 'mark uncollectible');
    const record = markUncollectible(world, id);
    afterWriteOff(world, record);
    return { record };
  }),
];
