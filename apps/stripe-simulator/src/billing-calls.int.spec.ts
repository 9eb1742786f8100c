// Every call that billing makes, and what each must have been given. What is held here against the simulator can be held
// against Stripe's own documentation of the same version.
import type Stripe from 'stripe';
import { DAY, itemOf, openSession, openTestBed, type TestBed } from './testing/test-bed.js';

interface Logged {
  method: string;
  path: string;
  parameters: unknown;
  idempotencyKey: string | null;
  status: number;
}

/** What the calls act on. */
interface Scene {
  bed: TestBed;
  stripe: Stripe;
  customer: Stripe.Customer;
  subscription: Stripe.Subscription;
  item: string;
  invoice: Stripe.Invoice;
}

/** A call: what billing does, the request it is, and the parameters that must be in it. */
interface Call {
  name: string;
  request: string;
  must: string[];
  does: (scene: Scene) => Promise<unknown>;
}

const CALLS: Call[] = [
  {
    name: 'a customer is made with the account in its metadata',
    request: 'POST /v1/customers',
    must: ['email', 'metadata'],
    does: ({ stripe }) =>
      stripe.customers.create(
        { email: 'a@example.com', name: 'A', metadata: { account: '8' } },
        { idempotencyKey: 'c' },
      ),
  },
  {
    name: 'a customer is read',
    request: 'GET /v1/customers/:id',
    must: [],
    does: ({ stripe, customer }) => stripe.customers.retrieve(customer.id),
  },
  {
    name: 'a customer is corrected',
    request: 'POST /v1/customers/:id',
    must: ['metadata'],
    does: ({ stripe, customer }) =>
      stripe.customers.update(customer.id, { metadata: { account: '7' } }, { idempotencyKey: 'u' }),
  },
  {
    name: 'customers are listed by address',
    request: 'GET /v1/customers',
    must: ['email'],
    does: ({ stripe }) => stripe.customers.list({ email: 'a@example.com' }),
  },
  {
    name: 'customers are searched by account',
    request: 'GET /v1/customers/search',
    must: ['query'],
    does: ({ stripe }) => stripe.customers.search({ query: "metadata['account']:'7'" }),
  },
  {
    name: 'the product is made',
    request: 'POST /v1/products',
    must: ['name'],
    does: ({ stripe }) => stripe.products.create({ name: 'Number', metadata: { app: 'x' } }, { idempotencyKey: 'p' }),
  },
  {
    name: 'products are listed',
    request: 'GET /v1/products',
    must: ['active'],
    does: ({ stripe }) => stripe.products.list({ active: true }),
  },
  {
    name: 'the product is corrected',
    request: 'POST /v1/products/:id',
    must: ['name'],
    does: ({ stripe, bed }) =>
      stripe.products.update(bed.price.product as string, { name: 'Further number' }, { idempotencyKey: 'pu' }),
  },
  {
    name: 'the price is made, licensed and monthly, and takes its lookup key over',
    request: 'POST /v1/prices',
    must: ['currency', 'lookup_key', 'product', 'recurring', 'transfer_lookup_key', 'unit_amount'],
    does: ({ stripe, bed }) =>
      stripe.prices.create(
        {
          ...{
            product: bed.price.product as string,
            currency: 'usd',
            unit_amount: 500,
            lookup_key: 'number',
            transfer_lookup_key: true,
          },
          recurring: { interval: 'month', usage_type: 'licensed' },
        },
        { idempotencyKey: 'pr' },
      ),
  },
  {
    name: 'the price is found',
    request: 'GET /v1/prices',
    must: ['lookup_keys'],
    does: ({ stripe }) => stripe.prices.list({ lookup_keys: ['number'], active: true }),
  },
  {
    name: 'an old price is put out of use',
    request: 'POST /v1/prices/:id',
    must: ['active'],
    does: async ({ stripe, bed }) => {
      const old = await stripe.prices.create({ product: bed.price.product as string, currency: 'usd', unit_amount: 1 });
      await stripe.prices.update(old.id, { active: false }, { idempotencyKey: 'pa' });
    },
  },
  {
    name: 'Checkout is opened',
    request: 'POST /v1/checkout/sessions',
    must: [
      'cancel_url',
      'client_reference_id',
      'customer',
      'line_items',
      'mode',
      'subscription_data',
      'success_url',
      'ui_mode',
    ],
    does: ({ stripe, bed, customer }) => openSession(stripe, bed.price.id, { customer: customer.id }),
  },
  {
    name: 'open Checkout sessions of a customer are listed, read and expired',
    request: 'POST /v1/checkout/sessions/:id/expire',
    must: [],
    does: async ({ stripe, bed, customer }) => {
      await openSession(stripe, bed.price.id, { customer: customer.id });
      const [session] = (await stripe.checkout.sessions.list({ customer: customer.id, status: 'open' })).data;
      await stripe.checkout.sessions.retrieve(session?.id ?? '', { expand: ['line_items'] });
      await stripe.checkout.sessions.expire(session?.id ?? '');
    },
  },
  {
    name: 'the portal is configured without change of quantity and without pause',
    request: 'POST /v1/billing_portal/configurations',
    must: ['features'],
    does: ({ stripe }) => stripe.billingPortal.configurations.create({ features: PORTAL }, { idempotencyKey: 'bc' }),
  },
  {
    name: 'the portal configuration is found and corrected',
    request: 'POST /v1/billing_portal/configurations/:id',
    must: ['features'],
    does: async ({ stripe }) => {
      const [found] = (await stripe.billingPortal.configurations.list({ active: true })).data;
      await stripe.billingPortal.configurations.update(found?.id ?? '', { features: PORTAL });
    },
  },
  {
    name: 'the portal is opened',
    request: 'POST /v1/billing_portal/sessions',
    must: ['customer', 'return_url'],
    does: ({ stripe, customer }) =>
      stripe.billingPortal.sessions.create({ customer: customer.id, return_url: 'https://app.example.com/' }),
  },
  {
    name: 'a subscription is read',
    request: 'GET /v1/subscriptions/:id',
    must: ['expand'],
    does: ({ stripe, subscription }) => stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] }),
  },
  {
    name: 'subscriptions of all statuses are listed page by page, with their customers',
    request: 'GET /v1/subscriptions',
    must: ['expand', 'limit', 'status'],
    does: ({ stripe }) => stripe.subscriptions.list({ status: 'all', limit: 100, expand: ['data.customer'] }),
  },
  {
    name: 'the amount of a further number is shown before it is charged',
    request: 'POST /v1/invoices/create_preview',
    must: ['subscription', 'subscription_details'],
    does: ({ stripe, subscription, item }) =>
      stripe.invoices.createPreview({
        subscription: subscription.id,
        subscription_details: {
          ...{ items: [{ id: item, quantity: 2 }], proration_behavior: 'always_invoice' },
          proration_date: Math.floor(Date.now() / 1000),
        },
      }),
  },
  {
    name: 'a further number is bought: charged at once, and pending if it is not paid',
    request: 'POST /v1/subscriptions/:id',
    must: ['items', 'payment_behavior', 'proration_behavior', 'proration_date'],
    does: ({ stripe, subscription, item }) =>
      stripe.subscriptions.update(
        subscription.id,
        {
          ...{ items: [{ id: item, quantity: 2 }], proration_behavior: 'always_invoice' },
          ...{ payment_behavior: 'pending_if_incomplete', proration_date: Math.floor(Date.now() / 1000) },
        },
        { idempotencyKey: 'buy' },
      ),
  },
  {
    name: 'the quantity is changed without a charge',
    request: 'POST /v1/subscriptions/:id',
    must: ['items', 'proration_behavior'],
    does: ({ stripe, subscription, item }) =>
      stripe.subscriptions.update(
        subscription.id,
        { items: [{ id: item, quantity: 1 }], proration_behavior: 'none' },
        { idempotencyKey: 'none' },
      ),
  },
  {
    name: 'a cancellation at the end of the period is set and taken back',
    request: 'POST /v1/subscriptions/:id',
    must: ['cancel_at_period_end'],
    does: async ({ stripe, subscription }) => {
      await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
      await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: false });
    },
  },
  {
    name: 'invoices of a customer are listed',
    request: 'GET /v1/invoices',
    must: ['customer'],
    does: ({ stripe, customer }) => stripe.invoices.list({ customer: customer.id, status: 'open' }),
  },
  {
    name: 'an invoice is read with its payments',
    request: 'GET /v1/invoices/:id',
    must: ['expand'],
    does: ({ stripe, invoice }) => stripe.invoices.retrieve(invoice.id, { expand: ['payments'] }),
  },
  {
    name: 'payments of an invoice are listed',
    request: 'GET /v1/invoice_payments',
    must: ['invoice'],
    does: ({ stripe, invoice }) => stripe.invoicePayments.list({ invoice: invoice.id }),
  },
  {
    name: 'an open invoice is paid with a new card',
    request: 'POST /v1/invoices/:id/pay',
    must: ['payment_method'],
    does: async ({ stripe, bed, customer, subscription, item }) => {
      await bed.control('POST', `/customers/${customer.id}/card`, { card: 'pm_card_chargeDeclinedInsufficientFunds' });
      const { latest_invoice: open } = await stripe.subscriptions.update(subscription.id, {
        ...{
          items: [{ id: item, quantity: 3 }],
          proration_behavior: 'always_invoice',
          payment_behavior: 'pending_if_incomplete',
        },
      });
      await bed.control('POST', `/customers/${customer.id}/card`, { card: 'pm_card_visa' });
      const [card] = (await stripe.paymentMethods.list({ customer: customer.id, type: 'card' })).data;
      await stripe.invoices.pay(open as string, { payment_method: card?.id ?? '' }, { idempotencyKey: 'pay' });
    },
  },
  {
    name: 'a duplicate is paid back',
    request: 'POST /v1/refunds',
    must: ['payment_intent', 'reason'],
    does: async ({ stripe, invoice }) => {
      const [payment] = (await stripe.invoicePayments.list({ invoice: invoice.id })).data;
      await stripe.refunds.create(
        { payment_intent: payment?.payment.payment_intent as string, reason: 'duplicate' },
        { idempotencyKey: 'r' },
      );
    },
  },
  {
    name: 'cards of a customer are listed',
    request: 'GET /v1/payment_methods',
    must: ['customer', 'type'],
    does: ({ stripe, customer }) => stripe.paymentMethods.list({ customer: customer.id, type: 'card' }),
  },
  {
    name: 'events that no webhook reported are listed and read',
    request: 'GET /v1/events',
    must: ['delivery_success', 'types'],
    does: async ({ stripe }) => {
      const [event] = (await stripe.events.list({ delivery_success: true, types: ['invoice.paid'] })).data;
      await stripe.events.retrieve(event?.id ?? '');
    },
  },
  {
    name: 'the webhook endpoint is made, found and corrected',
    request: 'POST /v1/webhook_endpoints',
    must: ['api_version', 'enabled_events', 'url'],
    does: async ({ stripe }) => {
      const made = await stripe.webhookEndpoints.create({
        ...{
          url: 'https://billing.example.com/stripe/webhook',
          enabled_events: ['invoice.paid'],
          api_version: '2026-10-28.endive',
        },
      });
      expect(made.secret).toMatch(/^whsec_/);
      const [found] = (await stripe.webhookEndpoints.list()).data;
      expect(found).not.toHaveProperty('secret');
      await stripe.webhookEndpoints.update(made.id, {
        enabled_events: ['invoice.paid', 'customer.subscription.updated'],
      });
    },
  },
  {
    name: 'a paused subscription is resumed in the periods that it had',
    request: 'POST /v1/subscriptions/:id/resume',
    must: ['billing_cycle_anchor', 'payment_behavior', 'proration_behavior'],
    does: async ({ stripe, subscription }) => {
      await stripe.subscriptions.pause(subscription.id);
      await stripe.subscriptions.resume(subscription.id, {
        ...{ billing_cycle_anchor: { type: 'unchanged' }, proration_behavior: 'always_invoice' },
        payment_behavior: 'resume_on_payment_attempt',
      });
    },
  },
  {
    name: "the customer's new card becomes that of the subscription",
    request: 'POST /v1/subscriptions/:id',
    must: ['default_payment_method'],
    does: async ({ stripe, customer, subscription }) => {
      const [card] = (await stripe.paymentMethods.list({ customer: customer.id, type: 'card' })).data;
      await stripe.subscriptions.update(subscription.id, { default_payment_method: card?.id ?? '' });
    },
  },
  {
    name: 'a subscription is cancelled at once',
    request: 'DELETE /v1/subscriptions/:id',
    must: [],
    does: ({ stripe, subscription }) => stripe.subscriptions.cancel(subscription.id),
  },
];

const PORTAL = {
  customer_update: { enabled: true, allowed_updates: ['email', 'name', 'tax_id'] },
  ...{ invoice_history: { enabled: true }, payment_method_update: { enabled: true } },
  subscription_cancel: { enabled: true, mode: 'at_period_end', proration_behavior: 'none' },
  ...{ subscription_update: { enabled: false }, subscription_pause: { enabled: false } },
} satisfies Stripe.BillingPortal.ConfigurationCreateParams.Features;

describe('what billing calls', () => {
  let bed: TestBed;
  let scene: Scene;

  beforeAll(async () => {
    bed = await openTestBed();
    const { customer, subscription } = await bed.subscriber();
    const invoice = await bed.stripe.invoices.retrieve(subscription.latest_invoice as string);
    scene = { bed, stripe: bed.stripe, customer, subscription, item: itemOf(subscription).id, invoice };
  });
  afterAll(() => bed.close());

  it.each(CALLS)('$name ($request)', async ({ request, must, does }) => {
    const { requests: before } = await bed.control<{ requests: unknown[] }>('GET', '/requests');
    await does(scene);
    const { requests } = await bed.control<{ requests: Logged[] }>('GET', `/requests?after=${before.length}`);
    const made = requests.filter((one) => `${one.method} ${nameless(one.path)}` === request);
    expect(made.length).toBeGreaterThan(0);
    for (const { parameters, status } of made) {
      expect(status).toBe(200);
      expect(Object.keys(parameters as object)).toEqual(expect.arrayContaining(must));
    }
  });

  it('includes test clocks: each moves the time of its own customers', async () => {
    const clock = await bed.stripe.testHelpers.testClocks.create({ frozen_time: 1_800_000_000 });
    await bed.stripe.customers.create({ test_clock: clock.id });
    const advancing = await bed.stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: 1_800_000_000 + DAY });
    expect(advancing.status).toBe('advancing');
    expect(await bed.stripe.testHelpers.testClocks.retrieve(clock.id)).toMatchObject({
      status: 'ready',
      frozen_time: 1_800_086_400,
    });
  });
});

/** A path with its ids taken out. */
function nameless(path: string): string {
  return path.replace(/\/(cus|prod|price|cs_test|bpc|sub|in|we|evt)_\w+/g, '/:id');
}
