import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import type Stripe from 'stripe';
import { DAY, itemOf, openTestBed, type TestBed } from '../testing/test-bed.js';
import { describeInBrowser, openBrowser } from './test-browser.js';

const HOUR = 3600;
const FEATURES = {
  customer_update: { enabled: true, allowed_updates: ['email', 'name', 'tax_id'] },
  ...{ invoice_history: { enabled: true }, payment_method_update: { enabled: true } },
  subscription_cancel: { enabled: true, mode: 'at_period_end', proration_behavior: 'none' },
  ...{ subscription_update: { enabled: false }, subscription_pause: { enabled: false } },
} satisfies Stripe.BillingPortal.ConfigurationCreateParams.Features;

describeInBrowser('the hosted pages', () => {
  let bed: TestBed;
  let stripe: Stripe;
  let browser: Browser;
  let page: Page;
  let shop: Server;
  let shopUrl: string;

  beforeAll(async () => {
    browser = await openBrowser();
    shop = createServer((request, response) => response.end(`<title>Shop</title><p>${request.url ?? ''}</p>`));
    shop.listen(0, '127.0.0.1');
    await once(shop, 'listening');
    shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser.close();
    shop.closeAllConnections();
    shop.close();
  });
  beforeEach(async () => {
    bed = await openTestBed();
    stripe = bed.stripe;
    page = await (await browser.newContext()).newPage();
  });
  afterEach(async () => {
    await page.context().close();
    await bed.close();
  });

  const openCheckout = async (params: Partial<Stripe.Checkout.SessionCreateParams> = {}) => {
    const session = await stripe.checkout.sessions.create({
      ...{ mode: 'subscription', ui_mode: 'hosted_page', line_items: [{ price: bed.price.id, quantity: 2 }] },
      ...{ success_url: `${shopUrl}/done?session={CHECKOUT_SESSION_ID}`, cancel_url: `${shopUrl}/back`, ...params },
    });
    await page.goto(session.url ?? '');
    return session;
  };
  const pay = async (card: string, button = 'Subscribe') => {
    await page.getByRole('radio', { name: card, exact: false }).first().check();
    await page.getByRole('button', { name: button }).click();
  };
  const openPortal = async (
    customer: Stripe.Customer,
    features: Stripe.BillingPortal.ConfigurationCreateParams.Features = FEATURES,
  ) => {
    const configuration = await stripe.billingPortal.configurations.create({ features });
    const session = await stripe.billingPortal.sessions.create({
      ...{ customer: customer.id, configuration: configuration.id },
      return_url: `${shopUrl}/home`,
    });
    await page.goto(session.url);
  };

  it('Checkout shows what is bought, takes a card after one that was declined, and returns to the shop', async () => {
    const session = await openCheckout({ client_reference_id: '7', subscription_data: { metadata: { account: '7' } } });
    expect(await page.textContent('main')).toContain('$8.00');
    await page.getByLabel('Email').fill('new@example.com');
    await pay('Declined (');
    expect(await page.getByRole('alert').textContent()).toContain('Your card was declined.');
    expect((await stripe.subscriptions.list({ status: 'all' })).data).toEqual([]);
    expect((await stripe.customers.list()).data).toEqual([]);
    await page.getByLabel('Email').fill('new@example.com');
    await pay('Works (4242');
    await page.waitForURL(`${shopUrl}/done?session=${session.id}`);
    const done = await stripe.checkout.sessions.retrieve(session.id, { expand: ['subscription', 'customer'] });
    expect(done).toMatchObject({ status: 'complete', payment_status: 'paid', client_reference_id: '7', url: null });
    expect(done.subscription).toMatchObject({ status: 'active', metadata: { account: '7' } });
    expect(done.customer).toMatchObject({ email: 'new@example.com' });
  });

  it('Checkout asks for a confirmation where the card wants one: refused nothing is bought, confirmed it is', async () => {
    const session = await openCheckout({ customer_email: 'owner@example.com' });
    await pay('Wants confirmation');
    await page.getByRole('button', { name: 'Refuse payment' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('refused');
    expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('open');
    await pay('Wants confirmation');
    await page.getByRole('button', { name: 'Confirm payment' }).click();
    await page.waitForURL(/done/);
    expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('complete');
  });

  it('Checkout in two tabs buys once: the second says that it is paid', async () => {
    const session = await openCheckout({ customer_email: 'owner@example.com' });
    const other = await page.context().newPage();
    await other.goto(session.url ?? '');
    await pay('Works (4242');
    await page.waitForURL(/done/);
    await other.getByRole('button', { name: 'Subscribe' }).click();
    expect(await other.getByRole('status').textContent()).toContain('paid already');
    expect((await stripe.subscriptions.list()).data).toHaveLength(1);
  });

  it('Checkout has a way back, and an end after a day', async () => {
    await openCheckout();
    await page.getByRole('link', { name: 'Back without paying' }).click();
    await page.waitForURL(`${shopUrl}/back`);
    const session = await openCheckout();
    await bed.advance(DAY);
    await page.reload();
    expect(await page.getByRole('alert').textContent()).toContain('expired');
    expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('expired');
  });

  it('the portal replaces the card of the customer, not that of a subscription, and links to what is open, which is paid there', async () => {
    const { customer, subscription } = await bed.subscriber('pm_card_chargeCustomerFail');
    await bed.advance(31 * DAY + HOUR);
    await openPortal(customer);
    expect(await page.textContent('main')).toContain('Status: past_due');
    await pay('Works (4242', 'Replace card');
    expect(await page.getByRole('status').textContent()).toContain('replaced');
    await page.getByRole('row').filter({ hasText: 'open' }).getByRole('link').click();
    await pay('Card on file', 'Pay');
    expect(await page.getByRole('alert').textContent()).toContain('declined');
    await pay('Works (4242', 'Pay');
    expect(await page.getByRole('status').textContent()).toContain('Paid on');
    expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('active');
  });

  it('the page of an invoice pays a pending update that wants confirmation', async () => {
    const { customer, subscription } = await bed.subscriber();
    await bed.control('POST', `/customers/${customer.id}/card`, { card: 'pm_card_authenticationRequired' });
    const pending = await stripe.subscriptions.update(subscription.id, {
      ...{ items: [{ id: itemOf(subscription).id, quantity: 2 }], proration_behavior: 'always_invoice' },
      ...{ payment_behavior: 'pending_if_incomplete', expand: ['latest_invoice'] },
    });
    await page.goto((pending.latest_invoice as Stripe.Invoice).hosted_invoice_url ?? '');
    await pay('Declined (', 'Pay');
    expect(await page.getByRole('alert').textContent()).toContain('declined');
    await pay('Card on file', 'Pay');
    await page.getByRole('button', { name: 'Confirm payment' }).click();
    expect(await page.getByRole('status').textContent()).toContain('Paid on');
    expect(itemOf(await stripe.subscriptions.retrieve(subscription.id)).quantity).toBe(2);
  });

  it('the portal cancels at the end of the period and takes it back, and saves details', async () => {
    const { customer, subscription } = await bed.subscriber();
    await openPortal(customer);
    await page.getByRole('button', { name: 'Cancel subscription' }).click();
    expect((await stripe.subscriptions.retrieve(subscription.id)).cancel_at_period_end).toBe(true);
    await page.getByRole('button', { name: 'Keep subscription' }).click();
    expect((await stripe.subscriptions.retrieve(subscription.id)).cancel_at_period_end).toBe(false);
    await page.getByLabel('Name').fill('Zoë <b>& Co</b>');
    await page.getByLabel('VAT number').fill('DE123456789');
    await page.getByRole('button', { name: 'Save details' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('Zoë <b>& Co</b>');
    expect(await stripe.customers.retrieve(customer.id, { expand: ['tax_ids'] })).toMatchObject({
      ...{ name: 'Zoë <b>& Co</b>', tax_ids: { data: [{ type: 'eu_vat', value: 'DE123456789' }] } },
    });
    await page.getByRole('link', { name: 'Return' }).click();
    await page.waitForURL(`${shopUrl}/home`);
  });

  it('the portal offers no change of quantity and no pause unless it is configured, by no address either', async () => {
    const { customer, subscription } = await bed.subscriber();
    await openPortal(customer);
    expect(await page.getByRole('button').allTextContents()).toEqual([
      'Cancel subscription',
      'Replace card',
      'Save details',
    ]);
    for (const deed of ['quantity', 'pause']) {
      const body = new URLSearchParams({ subscription: subscription.id, quantity: '9' });
      expect((await fetch(`${page.url()}/${deed}`, { method: 'POST', body })).status).toBe(404);
    }
    await openPortal(customer, {
      subscription_update: {
        enabled: true,
        proration_behavior: 'always_invoice',
        default_allowed_updates: ['quantity'],
      },
      subscription_pause: { enabled: true },
    });
    await page.getByLabel('Quantity').fill('3');
    await page.getByRole('button', { name: 'Change quantity' }).click();
    await page.getByRole('button', { name: 'Pause subscription' }).click();
    expect(await stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
      status: 'paused',
      items: { data: [{ quantity: 3 }] },
    });
    await page.getByRole('button', { name: 'Resume subscription' }).click();
    expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('active');
  });

  it('can be used with the keyboard alone, with names for all fields', async () => {
    const session = await openCheckout({ customer_email: 'owner@example.com' });
    const fields = await page.locator('input:not([type=hidden])').count();
    expect(await page.locator('label input:not([type=hidden])').count()).toBe(fields);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('radio', { name: 'another brand' }).isChecked()).toBe(true);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/done/);
    expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('complete');
  });

  it('stand for nothing at an address that was not given out, and have their invoice as a file', async () => {
    for (const path of ['/c/pay/cs_test_none', '/p/session_none', '/i/pay_none', '/i/pay_none/pdf'])
      expect((await fetch(`${bed.url}${path}`)).status).toBe(404);
    const { subscription } = await bed.subscriber();
    const { invoice_pdf } = await stripe.invoices.retrieve(subscription.latest_invoice as string);
    const file = await fetch(invoice_pdf ?? '');
    expect(file.headers.get('content-type')).toBe('application/pdf');
    const text = Buffer.from(await file.arrayBuffer()).toString('latin1');
    expect(text).toMatch(/^%PDF-1\.4[\s\S]*4\.00 USD[\s\S]*%%EOF\n$/);
    const start = Number(/startxref\n(\d+)/.exec(text)?.[1]);
    expect(text.slice(start, start + 4)).toBe('xref');
  });
});
