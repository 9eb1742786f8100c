// Objects are held against the types of the client: those were made from Stripe's own description of this version.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type Stripe from 'stripe';
import { itemOf, openTestBed, type TestBed } from '../testing/test-bed.js';

const RESOURCES = join(dirname(createRequire(import.meta.url).resolve('stripe')), '..', 'esm', 'resources');

/** The names of an interface in the client's types: those that are always there, and all. */
function fieldsOf(file: string, name: string): { always: string[]; all: string[] } {
  const text = readFileSync(join(RESOURCES, `${file}.d.ts`), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '');
  const body = new RegExp(`\\n( *)export interface ${name} \\{\\n([\\s\\S]*?)\\n\\1\\}`).exec(text);
  if (!body) throw new Error(`${file} has no ${name}.`);
  const indent = ' '.repeat((body[1] ?? '').length + 4);
  const fields = [...(body[2] ?? '').matchAll(new RegExp(`^${indent}(\\w+)(\\??):`, 'gm'))];
  return {
    always: fields.filter(([, , mark]) => mark === '').map(([, field]) => field ?? ''),
    all: fields.map(([, field]) => field ?? ''),
  };
}

describe('objects', () => {
  let bed: TestBed;
  let objects: Record<string, object | undefined>;

  beforeAll(async () => {
    bed = await openTestBed();
    const { stripe } = bed;
    const { customer, subscription } = await bed.subscriber();
    const invoice = await stripe.invoices.retrieve(subscription.latest_invoice as string, { expand: ['payments'] });
    const intent = invoice.payments?.data[0]?.payment.payment_intent as string;
    const { latest_charge: charge } = await stripe.paymentIntents.retrieve(intent);
    const [session] = (await stripe.checkout.sessions.list({ expand: ['data.line_items'] })).data;
    const configuration = await stripe.billingPortal.configurations.create({
      features: { invoice_history: { enabled: true } },
    });
    objects = {
      ...{ customer, subscription, invoice, session, configuration, price: bed.price },
      item: itemOf(subscription),
      line: invoice.lines.data[0],
      payment: invoice.payments?.data[0],
      lineItem: session?.line_items?.data[0],
      product: await stripe.products.retrieve(bed.price.product as string),
      intent: await stripe.paymentIntents.retrieve(intent),
      charge: await stripe.charges.retrieve(charge as string),
      method: (await stripe.paymentMethods.list({ customer: customer.id })).data[0],
      portal: await stripe.billingPortal.sessions.create({ customer: customer.id }),
      note: await stripe.creditNotes.create({ invoice: invoice.id, amount: 100, credit_amount: 100 }),
      refund: await stripe.refunds.create({ charge: charge as string }),
      endpoint: await stripe.webhookEndpoints.create({ url: 'https://a.example/', enabled_events: ['*'] }),
      clock: await stripe.testHelpers.testClocks.create({ frozen_time: 1 }),
      event: (await stripe.events.list({ type: 'invoice.paid' })).data[0],
    } satisfies Record<string, object | undefined>;
  });
  afterAll(() => bed.close());

  it.each([
    ['customer', 'Customers', 'Customer'],
    ['subscription', 'Subscriptions', 'Subscription'],
    ['item', 'SubscriptionItems', 'SubscriptionItem'],
    ['invoice', 'Invoices', 'Invoice'],
    ['line', 'InvoiceLineItems', 'InvoiceLineItem'],
    ['payment', 'InvoicePayments', 'InvoicePayment'],
    ['session', 'Checkout/Sessions', 'Session'],
    ['lineItem', 'LineItems', 'LineItem'],
    ['configuration', 'BillingPortal/Configurations', 'Configuration'],
    ['portal', 'BillingPortal/Sessions', 'Session'],
    ['product', 'Products', 'Product'],
    ['price', 'Prices', 'Price'],
    ['intent', 'PaymentIntents', 'PaymentIntent'],
    ['charge', 'Charges', 'Charge'],
    ['method', 'PaymentMethods', 'PaymentMethod'],
    ['refund', 'Refunds', 'Refund'],
    ['note', 'CreditNotes', 'CreditNote'],
    ['endpoint', 'WebhookEndpoints', 'WebhookEndpoint'],
    ['clock', 'TestHelpers/TestClocks', 'TestClock'],
    ['event', 'Events', 'EventBase'],
  ])(
    'of the kind %s have every field that this version always has, and none that it does not know',
    (kind, file, name) => {
      const { always, all } = fieldsOf(file, name);
      const present = Object.keys(objects[kind] ?? {});
      expect(always.filter((field) => !present.includes(field))).toEqual([]);
      // `lastResponse` is the client's own; an event's type stands in the interfaces of its kinds.
      const known = [...all, 'lastResponse', ...(kind === 'event' ? ['type'] : [])];
      expect(present.filter((field) => !known.includes(field))).toEqual([]);
    },
  );

  it('pause and resume with what the version says about it', async () => {
    const subscription = objects.subscription as Stripe.Subscription;
    const paused = await bed.stripe.subscriptions.pause(subscription.id);
    expect(Object.keys(paused.status_details?.paused ?? {}).sort()).toEqual([
      'subscription',
      'transitioned_at',
      'type',
    ]);
  });
});
