import type Stripe from 'stripe';
import { DAY, itemOf, openTestBed, type TestBed } from '../testing/test-bed.js';

const HOUR = 3600;
/** 2027-01-15 08:00:00 UTC: the period has 31 days. */
const START = 1_800_000_000;

describe('changes of quantity', () => {
  let bed: TestBed;
  let stripe: Stripe;
  beforeEach(async () => {
    bed = await openTestBed({ wallMs: () => START * 1000 });
    stripe = bed.stripe;
  });
  afterEach(() => bed.close());

  const change = (subscription: Stripe.Subscription, quantity: number, params: Stripe.SubscriptionUpdateParams = {}) =>
    stripe.subscriptions.update(subscription.id, {
      ...{
        items: [{ id: itemOf(subscription).id, quantity }],
        proration_behavior: 'always_invoice',
        expand: ['latest_invoice'],
      },
      ...params,
    });
  const invoiceOf = (subscription: Stripe.Subscription) => subscription.latest_invoice as Stripe.Invoice;
  const linesOf = (invoice: Stripe.Invoice) =>
    invoice.lines.data.map(({ amount, quantity, period }) => [amount, quantity, period.start]);
  const charged = async (customer: Stripe.Customer) =>
    (await stripe.charges.list({ customer: customer.id, limit: 100 })).data
      .filter(({ paid }) => paid)
      .map(({ amount }) => amount);
  const useCard = (customer: Stripe.Customer, card: string) =>
    bed.control('POST', `/customers/${customer.id}/card`, { card });

  it('charge at once to the cent what the preview showed, when both are given the same date', async () => {
    const { customer, subscription } = await bed.subscriber('pm_card_visa', 2);
    await bed.advance(10 * DAY + 12_345);
    const at = START + 10 * DAY + 12_345;
    const preview = await stripe.invoices.createPreview({
      subscription: subscription.id,
      subscription_details: {
        items: [{ id: itemOf(subscription).id, quantity: 3 }],
        proration_behavior: 'always_invoice',
        proration_date: at,
      },
    });
    // 1,802,055 of 2,678,400 seconds are left: 8.00 of them is 5.3825, 12.00 is 8.0737.
    expect(linesOf(preview)).toEqual([
      [-538, 2, at],
      [807, 3, at],
    ]);
    await bed.advance(3 * DAY);
    const changed = await change(subscription, 3, { payment_behavior: 'pending_if_incomplete', proration_date: at });
    expect(linesOf(invoiceOf(changed))).toEqual(linesOf(preview));
    expect(invoiceOf(changed)).toMatchObject({ total: 269, status: 'paid', billing_reason: 'subscription_update' });
    expect(await charged(customer)).toEqual([269, 800]);
  });

  it('refuse a proration date outside the period', async () => {
    const { subscription } = await bed.subscriber();
    await expect(change(subscription, 2, { proration_date: START - 1 })).rejects.toMatchObject({
      statusCode: 400,
      param: 'proration_date',
    });
  });

  it('without proration cost nothing until the period ends, and then the new quantity is charged', async () => {
    const { customer, subscription } = await bed.subscriber('pm_card_visa', 3);
    await change(subscription, 1, { proration_behavior: 'none' });
    const raised = await change(subscription, 2, { proration_behavior: 'none' });
    expect(itemOf(raised).quantity).toBe(2);
    expect(await charged(customer)).toEqual([1200]);
    await bed.advance(31 * DAY + HOUR);
    expect(await charged(customer)).toEqual([800, 1200]);
  });

  it('as pending items wait for the next invoice', async () => {
    const { customer, subscription } = await bed.subscriber('pm_card_visa', 2);
    await bed.advance(15.5 * DAY);
    await change(subscription, 1, { proration_behavior: 'create_prorations' });
    await change(subscription, 3, { proration_behavior: 'create_prorations' });
    expect(await charged(customer)).toEqual([800]);
    const next = await stripe.invoices.createPreview({ customer: customer.id });
    // Half a period: -4.00 +2.00 -2.00 +6.00, and 12.00 for the next.
    expect(next.lines.data.map(({ amount }) => amount)).toEqual([-400, 200, -200, 600, 1200]);
    await bed.advance(15.5 * DAY + HOUR);
    expect(await charged(customer)).toEqual([1400, 800]);
  });

  it('with credit left over use it for the next invoice', async () => {
    const { customer, subscription } = await bed.subscriber('pm_card_visa', 3);
    const lowered = await change(subscription, 1);
    expect(invoiceOf(lowered)).toMatchObject({ total: -800, amount_due: 0, status: 'paid', ending_balance: -800 });
    expect((await stripe.customers.retrieve(customer.id)) as Stripe.Customer).toMatchObject({ balance: -800 });
    await bed.advance(31 * DAY + HOUR);
    const [renewal] = (await stripe.invoices.list({ customer: customer.id })).data;
    expect(renewal).toMatchObject({
      total: 400,
      amount_due: 0,
      status: 'paid',
      starting_balance: -800,
      ending_balance: -400,
    });
    expect(await charged(customer)).toEqual([1200]);
  });

  it.each(['pm_card_chargeDeclined', 'pm_card_authenticationRequired'])(
    'that are not paid for with %s stay pending: the old quantity goes on, and paying applies them',
    async (card) => {
      const { customer, subscription } = await bed.subscriber();
      await useCard(customer, card);
      const pending = await change(subscription, 2, { payment_behavior: 'pending_if_incomplete' });
      expect(pending).toMatchObject({ status: 'active', pending_update: { expires_at: START + 23 * HOUR } });
      expect(pending.pending_update?.subscription_items?.map(({ quantity }) => quantity)).toEqual([2]);
      expect(itemOf(pending).quantity).toBe(1);
      expect(invoiceOf(pending)).toMatchObject({ status: 'open', amount_due: 400, next_payment_attempt: null });
      await useCard(customer, 'pm_card_visa');
      await stripe.invoices.pay(invoiceOf(pending).id);
      const applied = await stripe.subscriptions.retrieve(subscription.id);
      expect([itemOf(applied).quantity, applied.pending_update]).toEqual([2, null]);
    },
  );

  it('that are never paid for are dropped after 23 hours, and nobody owes them', async () => {
    const { customer, subscription } = await bed.subscriber();
    await useCard(customer, 'pm_card_chargeDeclined');
    const pending = await change(subscription, 2, { payment_behavior: 'pending_if_incomplete' });
    await bed.advance(23 * HOUR - 1);
    expect((await stripe.subscriptions.retrieve(subscription.id)).pending_update).not.toBeNull();
    await bed.advance(1);
    const dropped = await stripe.subscriptions.retrieve(subscription.id);
    expect([dropped.status, itemOf(dropped).quantity, dropped.pending_update]).toEqual(['active', 1, null]);
    expect((await stripe.invoices.retrieve(invoiceOf(pending).id)).status).toBe('void');
  });

  it('replace what was pending: its invoice is void', async () => {
    const { customer, subscription } = await bed.subscriber();
    await useCard(customer, 'pm_card_chargeDeclined');
    const first = await change(subscription, 2, { payment_behavior: 'pending_if_incomplete' });
    await useCard(customer, 'pm_card_visa');
    const second = await change(subscription, 3, { payment_behavior: 'pending_if_incomplete' });
    expect([itemOf(second).quantity, second.pending_update]).toEqual([3, null]);
    expect((await stripe.invoices.retrieve(invoiceOf(first).id)).status).toBe('void');
  });

  it('while pending take nothing else along', async () => {
    const { subscription } = await bed.subscriber();
    await expect(
      change(subscription, 2, { payment_behavior: 'pending_if_incomplete', metadata: { a: 'b' } }),
    ).rejects.toMatchObject({ param: 'metadata' });
  });

  it('that must be paid or not be at all are undone when the card is declined', async () => {
    const { customer, subscription } = await bed.subscriber();
    await useCard(customer, 'pm_card_chargeDeclined');
    await expect(change(subscription, 2, { payment_behavior: 'error_if_incomplete' })).rejects.toMatchObject({
      ...{ type: 'StripeCardError', statusCode: 402, code: 'card_declined', decline_code: 'generic_decline' },
    });
    const same = await stripe.subscriptions.retrieve(subscription.id);
    expect([same.status, itemOf(same).quantity, same.latest_invoice]).toEqual([
      'active',
      1,
      subscription.latest_invoice,
    ]);
  });

  it('that may be incomplete go on unpaid: the subscription is past due', async () => {
    const { customer, subscription } = await bed.subscriber();
    await useCard(customer, 'pm_card_chargeDeclined');
    const changed = await change(subscription, 2);
    expect([changed.status, itemOf(changed).quantity]).toEqual(['past_due', 2]);
  });

  it('a card that works now and fails later pays at Checkout, and no renewal', async () => {
    const { customer, subscription } = await bed.subscriber('pm_card_chargeCustomerFail');
    await bed.advance(31 * DAY + HOUR);
    expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('past_due');
    expect(await charged(customer)).toEqual([400]);
  });

  it('an ended subscription takes only metadata, and cannot be cancelled again', async () => {
    const { subscription } = await bed.subscriber();
    await stripe.subscriptions.cancel(subscription.id);
    await expect(change(subscription, 2)).rejects.toMatchObject({ statusCode: 400, param: 'items' });
    await expect(stripe.subscriptions.cancel(subscription.id)).rejects.toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
    });
    expect(await stripe.subscriptions.update(subscription.id, { metadata: { a: 'b' } })).toMatchObject({
      metadata: { a: 'b', account: '7' },
    });
  });

  it('a payment is refunded once, and a credit note of a paid invoice refunds as much as it says', async () => {
    const { subscription } = await bed.subscriber('pm_card_visa', 2);
    const invoice = subscription.latest_invoice as string;
    const [payment] = (await stripe.invoicePayments.list({ invoice })).data;
    const intent = payment?.payment.payment_intent as string;
    await expect(stripe.creditNotes.create({ invoice, amount: 300 })).rejects.toMatchObject({ statusCode: 400 });
    const note = await stripe.creditNotes.create({ invoice, amount: 300, refund_amount: 300, reason: 'duplicate' });
    expect(note).toMatchObject({ post_payment_amount: 300, refunds: [{ amount_refunded: 300 }] });
    expect(await stripe.refunds.create({ payment_intent: intent })).toMatchObject({ amount: 500, status: 'succeeded' });
    await expect(stripe.refunds.create({ payment_intent: intent })).rejects.toMatchObject({
      code: 'charge_already_refunded',
    });
  });
});
