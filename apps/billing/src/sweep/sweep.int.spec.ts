import { idOf } from '../customers/subscription-facts.js';
import { RunningStripeSide } from '../test-stripe-side.js';

jest.setTimeout(60_000);

describe('the sweep', () => {
  let running: RunningStripeSide;
  const read = (accountId: string) => running.side.accounts.read(accountId);

  beforeEach(async () => {
    running = await RunningStripeSide.open();
  });
  afterEach(() => running.close());

  async function subscribed(): Promise<string> {
    const accountId = running.newAccount();
    await running.link(accountId, 2);
    await running.buyFirst(accountId);
    return accountId;
  }

  /** What a sweep found, and then nothing: everything it found is repaired. */
  async function sweepTwice(): Promise<{ accountId: string; difference: string }[]> {
    const { differing } = await running.side.sweep.run();
    await running.settle();
    expect((await running.side.sweep.run()).differing).toEqual([]);
    return differing;
  }

  async function mailsToOperators(): Promise<unknown[]> {
    const { rows } = await running.database.pool.query<{ data: unknown }>(
      `SELECT data FROM mail_outbox WHERE to_audience = 'operators' AND to_account_id IS NULL`,
    );
    return rows.map(({ data }) => data);
  }

  it('touches nothing where everything agrees, and reads pages of a hundred accounts instead of each', async () => {
    for (let accounts = 0; accounts < 5; accounts += 1) await subscribed();
    const before = (await running.requests()).length;
    expect(await running.side.sweep.run()).toEqual({ accounts: 5, differing: [] });
    const made = (await running.requests()).slice(before);
    expect(made.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/customers',
      'GET /v1/subscriptions',
      'GET /v1/invoices',
    ]);
  });

  it('finds what no webhook reported: a cancellation, a payment, a quantity changed by hand', async () => {
    const [cancelled, changed, quiet] = [await subscribed(), await subscribed(), await subscribed()];
    const subscriptionOf = async (accountId: string) => {
      const found = await running.subscriptionOf(accountId);
      if (!found) throw new Error('no subscription');
      return found;
    };
    await running.stripe.subscriptions.cancel((await subscriptionOf(cancelled)).id);
    const { id, items } = await subscriptionOf(changed);
    const item = items.data[0]?.id ?? '';
    await running.stripe.subscriptions.update(id, { items: [{ id: item, quantity: 7 }], proration_behavior: 'none' });
    expect(await sweepTwice()).toEqual([
      { accountId: cancelled, difference: 'facts' },
      { accountId: changed, difference: 'facts' },
    ]);
    expect(await read(cancelled)).toMatchObject({ plan: 'free', status: 'canceled' });
    expect((await subscriptionOf(changed)).items.data[0]?.quantity).toBe(1);
    expect(await read(quiet)).toMatchObject({ plan: 'paid', bought: 1 });
  });

  it('finds numbers that no turn was requested for', async () => {
    const accountId = await subscribed();
    await running.database.pool.query('UPDATE billed_numbers SET ended_at = now() WHERE account_id = $1', [accountId]);
    expect(await sweepTwice()).toEqual([{ accountId, difference: 'quantity' }]);
    expect((await running.subscriptionOf(accountId))?.items.data[0]?.quantity).toBe(0);
  });

  it('cancels and refunds the newer of two subscriptions, and reports it to operators', async () => {
    const accountId = await subscribed();
    const customer = await running.customerOf(accountId);
    const first = await running.subscriptionOf(accountId);
    const price = first?.items.data[0]?.price.id ?? '';
    const newer = await running.stripe.subscriptions.create({
      customer,
      items: [{ price, quantity: 1 }],
      metadata: { account_id: accountId },
      default_payment_method: idOf(first?.default_payment_method) ?? '',
    });
    expect(newer.status).toBe('active');
    expect(await sweepTwice()).toEqual([{ accountId, difference: 'facts' }]);
    expect((await running.stripe.subscriptions.retrieve(newer.id)).status).toBe('canceled');
    expect((await running.subscriptionOf(accountId))?.id).toBe(first?.id);
    const refunds = await running.stripe.refunds.list({ limit: 10 });
    expect(refunds.data.map(({ amount }) => amount)).toEqual([400]);
    expect(running.logged.filter(({ level, accountId: of }) => level === 'error' && of === accountId)).toHaveLength(1);
    expect(await mailsToOperators()).toEqual([{ accountId, subscription: newer.id }]);
  });

  it('cancels and refunds what a second customer of an account pays, once, and reports it to operators', async () => {
    const accountId = await subscribed();
    const first = await running.subscriptionOf(accountId);
    const { id: customer } = await running.stripe.customers.create({ metadata: { account_id: accountId } });
    const card = await running.stripe.paymentMethods.attach('pm_card_visa', { customer });
    const second = await running.stripe.subscriptions.create({
      ...{ customer, default_payment_method: card.id, metadata: { account_id: accountId } },
      items: [{ price: first?.items.data[0]?.price.id ?? '', quantity: 2 }],
    });
    expect(second.status).toBe('active');
    expect(await sweepTwice()).toEqual([{ accountId, difference: 'second customer' }]);
    expect((await running.stripe.subscriptions.retrieve(second.id)).status).toBe('canceled');
    expect(await running.subscriptionOf(accountId)).toMatchObject({ id: first?.id, status: 'active' });
    const refunds = await running.stripe.refunds.list({ limit: 10 });
    expect(refunds.data.map(({ amount }) => amount)).toEqual([800]);
    expect(await mailsToOperators()).toEqual([{ accountId, subscription: second.id }]);
    expect(await read(accountId)).toMatchObject({ plan: 'paid', bought: 1 });
  });

  it('adopts a customer that its account does not know', async () => {
    const accountId = await subscribed();
    const customer = await running.customerOf(accountId);
    await running.database.pool.query(
      'UPDATE billing_accounts SET stripe_customer_id = NULL, facts = NULL, fingerprint = NULL WHERE account_id = $1',
      [accountId],
    );
    expect(await sweepTwice()).toEqual([{ accountId, difference: 'customer adopted' }]);
    expect(await running.customerOf(accountId)).toBe(customer);
    expect(await read(accountId)).toMatchObject({ plan: 'paid' });
  });

  it('takes a customer that was deleted at Stripe for one without a subscription, and another Stripe account for a fault', async () => {
    const accountId = await subscribed();
    await running.stripe.customers.del(await running.customerOf(accountId));
    expect(await sweepTwice()).toEqual([{ accountId, difference: 'customer gone' }]);
    expect(await read(accountId)).toMatchObject({ plan: 'free', bought: 0 });
    const lost = await subscribed();
    await running.database.pool.query(
      `UPDATE billing_accounts SET stripe_customer_id = 'cus_elsewhere' WHERE account_id = $1`,
      [lost],
    );
    await running.wantTurn(lost);
    await running.side.turns.run(lost);
    expect(await read(lost)).toMatchObject({ plan: 'paid', bought: 1 });
  });
});
