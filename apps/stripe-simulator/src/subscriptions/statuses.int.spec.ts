import type Stripe from 'stripe';
import { DAY, itemOf, openTestBed, type TestBed } from '../testing/test-bed.js';

const HOUR = 3600;
/** 2027-01-15 08:00:00 UTC: the period is January's 31 days. */
const START = 1_800_000_000;

describe('statuses of subscriptions', () => {
  let bed: TestBed;
  let stripe: Stripe;
  beforeEach(async () => {
    bed = await openTestBed({ wallMs: () => START * 1000 });
    stripe = bed.stripe;
  });
  afterEach(() => bed.close());

  const statusOf = async (id: string) => (await stripe.subscriptions.retrieve(id)).status;
  const useCard = (customer: Stripe.Customer, card: string) =>
    bed.control('POST', `/customers/${customer.id}/card`, { card });
  /** A subscription that is past due: its first renewal was declined. */
  const pastDue = async () => {
    const made = await bed.subscriber();
    await useCard(made.customer, 'pm_card_chargeDeclined');
    await bed.advance(31 * DAY + HOUR);
    return made;
  };

  it('active, renewed by an invoice that is a draft for an hour and then paid', async () => {
    const { subscription } = await bed.subscriber();
    await bed.advance(31 * DAY);
    const renewed = await stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] });
    expect(renewed).toMatchObject({
      status: 'active',
      latest_invoice: { status: 'draft', total: 400, billing_reason: 'subscription_cycle' },
    });
    expect(itemOf(renewed)).toMatchObject({
      current_period_start: START + 31 * DAY,
      current_period_end: START + 59 * DAY,
    });
    await bed.advance(HOUR);
    expect((await stripe.invoices.retrieve((renewed.latest_invoice as Stripe.Invoice).id)).status).toBe('paid');
    expect(await statusOf(subscription.id)).toBe('active');
  });

  it('trialing, then active with the first paid period', async () => {
    const customer = await stripe.customers.create({});
    await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    const [card] = (await stripe.paymentMethods.list({ customer: customer.id })).data;
    const subscription = await stripe.subscriptions.create({
      ...{ customer: customer.id, items: [{ price: bed.price.id, quantity: 2 }], trial_period_days: 7 },
      default_payment_method: card?.id ?? '',
    });
    expect(subscription).toMatchObject({ status: 'trialing', trial_end: START + 7 * DAY });
    await bed.advance(7 * DAY + HOUR);
    const active = await stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] });
    expect(active).toMatchObject({ status: 'active', latest_invoice: { status: 'paid', amount_paid: 800 } });
  });

  it.each([
    ['cancel', 'canceled', undefined],
    ['pause', 'paused', 'trial_end_without_payment_method'],
  ] as const)('a trial that ends without a card and is to %s is %s', async (missing_payment_method, status, reason) => {
    const customer = await stripe.customers.create({});
    const { id } = await stripe.subscriptions.create({
      ...{ customer: customer.id, items: [{ price: bed.price.id }], trial_period_days: 1 },
      trial_settings: { end_behavior: { missing_payment_method } },
    });
    await bed.advance(DAY);
    const ended = await stripe.subscriptions.retrieve(id);
    expect(ended.status).toBe(status);
    expect(ended.status_details?.paused.subscription.type).toBe(reason);
  });

  it('incomplete without its first payment, active once that is made', async () => {
    const customer = await stripe.customers.create({});
    const subscription = await stripe.subscriptions.create({
      ...{ customer: customer.id, items: [{ price: bed.price.id }], payment_behavior: 'default_incomplete' },
    });
    expect(subscription.status).toBe('incomplete');
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    await stripe.invoices.pay(subscription.latest_invoice as string, { payment_method: card.id });
    expect(await statusOf(subscription.id)).toBe('active');
  });

  it('incomplete_expired after 23 hours, with a first invoice that nobody owes', async () => {
    const customer = await stripe.customers.create({});
    const { id, latest_invoice } = await stripe.subscriptions.create({
      ...{ customer: customer.id, items: [{ price: bed.price.id }], payment_behavior: 'default_incomplete' },
    });
    await bed.advance(23 * HOUR - 1);
    expect(await statusOf(id)).toBe('incomplete');
    await bed.advance(1);
    expect(await statusOf(id)).toBe('incomplete_expired');
    expect((await stripe.invoices.retrieve(latest_invoice as string)).status).toBe('void');
  });

  it('past_due after a renewal was declined, active again when a retry works', async () => {
    const { customer, subscription } = await pastDue();
    const owing = await stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] });
    expect(owing).toMatchObject({
      status: 'past_due',
      latest_invoice: { status: 'open', attempt_count: 1, amount_remaining: 400 },
    });
    expect((owing.latest_invoice as Stripe.Invoice).next_payment_attempt).toBe(START + 31 * DAY + HOUR + 3 * DAY);
    await useCard(customer, 'pm_card_visa');
    await bed.advance(3 * DAY);
    expect(await statusOf(subscription.id)).toBe('active');
  });

  it('a new default card of the customer alone changes nothing: the card of the subscription goes first', async () => {
    const { customer, subscription } = await pastDue();
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: card.id } });
    await bed.advance(3 * DAY);
    expect(await statusOf(subscription.id)).toBe('past_due');
    await stripe.subscriptions.update(subscription.id, { default_payment_method: card.id });
    await bed.advance(5 * DAY);
    expect(await statusOf(subscription.id)).toBe('active');
  });

  it.each([
    ['cancel', 'canceled'],
    ['unpaid', 'unpaid'],
    ['past_due', 'past_due'],
    ['pause', 'paused'],
  ] as const)('what is to %s after the last retry is %s', async (afterLastRetry, status) => {
    await bed.control('PATCH', '/settings', { collection: { afterLastRetry } });
    const { subscription } = await pastDue();
    await bed.advance(13 * DAY - 1);
    expect(await statusOf(subscription.id)).toBe('past_due');
    await bed.advance(1);
    const ended = await stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] });
    expect(ended).toMatchObject({
      status,
      latest_invoice: { status: 'open', attempt_count: 4, next_payment_attempt: null },
    });
    if (status === 'paused') expect(ended.status_details?.paused.subscription.type).toBe('final_payment_failure');
    if (status === 'canceled') expect(ended.cancellation_details?.reason).toBe('payment_failed');
  });

  it.each(['voidInvoice', 'markUncollectible'] as const)(
    'past_due is active again when nobody owes the invoice any more: %s',
    async (give) => {
      const { subscription } = await pastDue();
      const { latest_invoice: owed } = await stripe.subscriptions.retrieve(subscription.id);
      await stripe.invoices[give](owed as string);
      expect(await statusOf(subscription.id)).toBe('active');
    },
  );

  it('unpaid goes on with drafts that nobody collects, and is active again when the open invoice is paid', async () => {
    await bed.control('PATCH', '/settings', { collection: { afterLastRetry: 'unpaid' } });
    const { customer, subscription } = await pastDue();
    const { latest_invoice: owed } = await stripe.subscriptions.retrieve(subscription.id);
    await bed.advance(40 * DAY);
    const unpaid = await stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] });
    expect(unpaid).toMatchObject({ status: 'unpaid', latest_invoice: { status: 'draft', auto_advance: false } });
    await useCard(customer, 'pm_card_visa');
    await stripe.invoices.pay(owed as string);
    expect(await statusOf(subscription.id)).toBe('active');
  });

  it('paused on request with credit for the unused time, and resumed with a new period that uses it', async () => {
    const { subscription } = await bed.subscriber();
    await bed.advance(15.5 * DAY);
    const paused = await stripe.subscriptions.pause(subscription.id);
    expect(paused.status).toBe('paused');
    expect(paused.status_details?.paused).toMatchObject({
      subscription: { type: 'pause_requested' },
      transitioned_at: START + 15.5 * DAY,
    });
    await bed.advance(60 * DAY);
    expect(await statusOf(subscription.id)).toBe('paused');
    const resumed = await stripe.subscriptions.resume(subscription.id, { expand: ['latest_invoice'] });
    expect(resumed).toMatchObject({ status: 'active', latest_invoice: { total: 200, status: 'paid' } });
    expect(itemOf(resumed).current_period_start).toBe(START + 75.5 * DAY);
    expect(resumed).not.toHaveProperty('status_details');
  });

  it('resumed only on success stays paused until somebody pays, and after 23 hours nobody owes it', async () => {
    const { customer, subscription } = await bed.subscriber();
    await stripe.subscriptions.pause(subscription.id, { bill_for: { unused_time_from: { type: 'none' } } });
    await useCard(customer, 'pm_card_chargeDeclined');
    const resume = () =>
      stripe.subscriptions.resume(subscription.id, { payment_behavior: 'resume_on_payment_success' });
    const waiting = await resume();
    expect(waiting.status).toBe('paused');
    await bed.advance(23 * HOUR);
    expect((await stripe.invoices.retrieve(waiting.latest_invoice as string)).status).toBe('void');
    const again = await resume();
    await useCard(customer, 'pm_card_visa');
    await stripe.invoices.pay(again.latest_invoice as string);
    expect(await statusOf(subscription.id)).toBe('active');
  });

  it('cancelled at the end of the period is active until its last second', async () => {
    const { subscription } = await bed.subscriber();
    const ending = await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
    expect(ending).toMatchObject({ status: 'active', cancel_at: START + 31 * DAY, canceled_at: START });
    await bed.advance(31 * DAY - 1);
    expect(await statusOf(subscription.id)).toBe('active');
    await bed.advance(1);
    expect(await stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
      status: 'canceled',
      ended_at: START + 31 * DAY,
    });
    expect((await stripe.invoices.list({ subscription: subscription.id })).data).toHaveLength(1);
  });

  it('one that this version does not know can be set, and is on the wire as it is', async () => {
    const { subscription } = await bed.subscriber();
    await bed.control('POST', `/subscriptions/${subscription.id}/status`, { status: 'frozen' });
    expect(await statusOf(subscription.id)).toBe('frozen');
  });

  it('on a test clock move with it alone, at each second in order', async () => {
    const customer = await stripe.customers.create({});
    await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    const clock = await stripe.testHelpers.testClocks.create({ frozen_time: START, customer: customer.id });
    const [card] = (await stripe.paymentMethods.list({ customer: customer.id })).data;
    const subscription = await stripe.subscriptions.create({
      ...{ customer: customer.id, items: [{ price: bed.price.id }], default_payment_method: card?.id ?? '' },
    });
    await expect(
      stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: START + 100 * DAY }),
    ).rejects.toMatchObject({ param: 'frozen_time' });
    for (const days of [59, 60])
      await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: START + days * DAY });
    const invoices = (await stripe.invoices.list({ customer: customer.id })).data;
    expect(invoices.map(({ status, created }) => [status, (created - START) / DAY])).toEqual([
      ['paid', 59],
      ['paid', 31],
      ['paid', 0],
    ]);
    expect((await stripe.subscriptions.list({ status: 'all' })).data).toEqual([]);
    expect((await stripe.subscriptions.list({ test_clock: clock.id })).data.map(({ id }) => id)).toEqual([
      subscription.id,
    ]);
  });
});
