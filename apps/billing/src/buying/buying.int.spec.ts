import { setUpStripe } from '../setup/setup.js';
import { REQUESTER, RunningStripeSide } from '../test-stripe-side.js';

jest.setTimeout(60_000);

describe('buying numbers', () => {
  let running: RunningStripeSide;
  const read = (accountId: string) => running.side.accounts.read(accountId);

  beforeAll(async () => {
    running = await RunningStripeSide.open();
  });
  afterAll(() => running.close());
  afterEach(() => running.control('DELETE', '/faults'));

  it('is set up at Stripe once: a second setup changes nothing, a new price takes over the lookup key', async () => {
    const terms = { unitAmount: 400, currency: 'usd', webhookUrl: 'http://127.0.0.1:9/stripe/webhook' };
    const first = await setUpStripe(running.stripe, terms);
    expect(first.changed).toEqual(['webhook endpoint']);
    expect(first.webhookSecret).toMatch(/^whsec_/);
    expect(await setUpStripe(running.stripe, terms)).toEqual({ ...first, changed: [], webhookSecret: null });
    const dearer = await setUpStripe(running.stripe, { ...terms, unitAmount: 500 });
    expect(dearer.changed).toEqual(['price']);
    expect((await setUpStripe(running.stripe, terms)).changed).toEqual(['price']);
    await running.stripe.billingPortal.configurations.update(first.portalConfiguration, {
      features: { subscription_update: { enabled: false }, subscription_cancel: { enabled: false } },
    });
    expect((await setUpStripe(running.stripe, terms)).changed).toEqual(['portal configuration']);
  });

  it('makes nothing at Stripe for an account that does not buy', async () => {
    const accountId = running.newAccount();
    await running.link(accountId, 3);
    const before = (await running.requests()).length;
    await running.settle();
    expect((await running.requests()).length).toBe(before);
    expect(await read(accountId)).toMatchObject({ plan: 'free', numbers: 3, free: 1, bought: 0, open: [] });
  });

  it('sells one subscription, however often and from however many tabs Checkout is opened', async () => {
    const accountId = running.newAccount();
    await running.link(accountId, 2);
    const pages = await Promise.all(Array.from({ length: 4 }, () => running.checkOut(accountId)));
    expect(new Set(pages.map(({ url }) => url)).size).toBe(1);
    expect((await running.checkOut(accountId)).url).toBe(pages[0]?.url);
    const other = await running.checkOut(accountId, 3);
    expect(other.url).not.toBe(pages[0]?.url);
    await expect(running.pay(pages[0]?.url ?? '')).rejects.toThrow('400');
    await running.pay(other.url);
    await expect(running.checkOut(accountId)).rejects.toMatchObject({ status: 409 });
    await running.settle();
    expect(await read(accountId)).toMatchObject({ plan: 'paid', status: 'active', bought: 3 });
    expect(await running.paid(accountId)).toEqual([1_200]);
    const customers = await running.stripe.customers.list({ limit: 100 });
    expect(customers.data.filter(({ metadata }) => metadata['account_id'] === accountId)).toHaveLength(1);
  });

  it('keeps an account without a subscription when the card is declined at Checkout, and takes another card there', async () => {
    const accountId = running.newAccount();
    await running.link(accountId, 2);
    const { url } = await running.checkOut(accountId);
    await running.pay(url, 'pm_card_chargeDeclined').catch(() => undefined);
    await running.settle();
    expect(await read(accountId)).toMatchObject({ plan: 'free', bought: 0 });
    await running.pay(url);
    await running.wantTurn(accountId);
    await running.settle();
    expect(await read(accountId)).toMatchObject({ plan: 'paid', bought: 1 });
  });

  it('buys the next number by itself up to the limit, for exactly the amount that was shown', async () => {
    const accountId = running.newAccount();
    await running.link(accountId, 2);
    await running.buyFirst(accountId);
    await running.link(accountId, 1);
    await running.settle();
    expect(await read(accountId)).toMatchObject({ bought: 1, limit: 0 });
    await expect(running.side.accounts.change(accountId, { limit: 2 }, REQUESTER)).rejects.toMatchObject({
      status: 400,
      details: expect.stringContaining('preview') as string,
    });
    await running.advance(10);
    const shown = await running.raiseLimit(accountId, 2);
    expect(shown).toBeGreaterThan(0);
    expect(shown).toBeLessThan(400);
    expect(await read(accountId)).toMatchObject({ bought: 2, limit: 2 });
    expect(await running.paid(accountId)).toEqual([400, shown]);
    await running.link(accountId, 1);
    await running.settle();
    expect(await read(accountId)).toMatchObject({ numbers: 4, bought: 2 });
    await running.raiseLimit(accountId, 9);
    expect(await read(accountId)).toMatchObject({ bought: 3 });
  });

  it('lists number by number which are free, covered by what was bought, or beyond it, in the order of first links', async () => {
    const accountId = running.newAccount();
    const channels = await running.link(accountId, 3);
    await running.buyFirst(accountId, 'pm_card_visa', 1);
    await running.database.pool.query(
      `INSERT INTO channel_standings (channel_id, account_id, region, standing, version)
       VALUES ($1, $2, 'sg', 'over_free_allowance', 1)`,
      [channels[2], accountId],
    );
    const page = (offset: number) => running.side.accounts.numbers(accountId, { count: 2, offset });
    const [first, last] = [await page(0), await page(2)];
    expect([first.total, last.total]).toEqual([3, 3]);
    const shown = [...first.numbers, ...last.numbers];
    expect(shown.map(({ channel, place, standing }) => [channel, place, standing])).toEqual([
      [channels[0], 'free', 'good'],
      [channels[1], 'covered', 'good'],
      [channels[2], 'beyond', 'over_free_allowance'],
    ]);
    expect((await running.side.accounts.numbers(running.newAccount(), { count: 2, offset: 0 })).numbers).toEqual([]);
  });

  it('takes a preview for its account, for no more numbers than it showed, and no stranger one', async () => {
    const [accountId, other] = [running.newAccount(), running.newAccount()];
    const { preview, amount } = await running.side.accounts.preview(accountId, 2);
    expect(amount).toBe(800);
    const change = (id: string, limit: number) => running.side.accounts.change(id, { limit, preview }, REQUESTER);
    await expect(change(accountId, 3)).rejects.toMatchObject({ status: 400 });
    await expect(change(other, 2)).rejects.toMatchObject({ status: 400 });
    expect(await change(accountId, 2)).toMatchObject({ limit: 2 });
    expect(await running.side.accounts.change(accountId, { limit: 0 }, REQUESTER)).toMatchObject({ limit: 0 });
  });

  it('charges not a cent for deleting and creating numbers within a period, and less in the next one', async () => {
    const accountId = running.newAccount();
    const [, , third = ''] = await running.link(accountId, 3);
    await running.buyFirst(accountId);
    expect(await running.paid(accountId)).toEqual([800]);
    for (let times = 0; times < 3; times += 1) {
      await running.unlink(accountId, third);
      await running.settle();
      expect((await running.subscriptionOf(accountId))?.items.data[0]?.quantity).toBe(1);
      expect(await read(accountId)).toMatchObject({ bought: 2 });
      const [channel = ''] = await running.link(accountId, 1);
      await running.settle();
      expect((await running.subscriptionOf(accountId))?.items.data[0]?.quantity).toBe(2);
      await running.unlink(accountId, channel);
    }
    await running.settle();
    await running.advance(32);
    await running.wantTurn(accountId);
    await running.settle();
    expect(await read(accountId)).toMatchObject({ bought: 1 });
    expect(await running.paid(accountId)).toEqual([800, 400]);
  });

  it.each(['pm_card_chargeDeclined', 'pm_card_authenticationRequired'])(
    'leaves only the new number unpaid when the card is %s, shows where to pay, and does not try again by itself',
    async (card) => {
      const accountId = running.newAccount();
      await running.link(accountId, 2);
      await running.buyFirst(accountId);
      await running.control('POST', `/customers/${await running.customerOf(accountId)}/card`, { card });
      await running.link(accountId, 1);
      await running.raiseLimit(accountId, 5);
      const unpaid = await read(accountId);
      expect(unpaid).toMatchObject({ status: 'active', bought: 1, open: [{ kind: 'numbers' }] });
      expect(unpaid.open[0]?.url).toMatch(/^http/);
      const before = (await running.requests()).filter(({ method }) => method === 'POST').length;
      await running.wantTurn(accountId);
      await running.settle();
      await running.advance(1);
      await running.wantTurn(accountId);
      await running.settle();
      expect(await read(accountId)).toMatchObject({ status: 'active', bought: 1, open: [] });
      expect((await running.requests()).filter(({ method }) => method === 'POST')).toHaveLength(before);
      await running.control('POST', `/customers/${await running.customerOf(accountId)}/card`, { card: 'pm_card_visa' });
      await running.wantTurn(accountId);
      await running.settle();
      expect(await read(accountId)).toMatchObject({ bought: 2, open: [] });
    },
  );

  it('opens the portal for who bought, lists invoices, and gives 404 for an invoice of another account', async () => {
    const [accountId, other] = [running.newAccount(), running.newAccount()];
    await running.link(accountId, 2);
    await expect(running.side.accounts.openPortal(accountId, REQUESTER)).rejects.toMatchObject({ status: 409 });
    expect(await running.side.accounts.invoices(accountId, { count: 5 })).toEqual({ invoices: [], next: null });
    await running.buyFirst(accountId);
    await running.link(other, 2);
    await running.buyFirst(other);
    expect((await running.side.accounts.openPortal(accountId, REQUESTER)).url).toMatch(/^http/);
    const { invoices } = await running.side.accounts.invoices(accountId, { count: 5 });
    expect(invoices).toMatchObject([{ status: 'paid', amount: 400, amount_due: 0, currency: 'usd' }]);
    const after = 'in_of_nobody';
    await expect(running.side.accounts.invoices(other, { count: 5, after })).rejects.toMatchObject({ status: 404 });
  });

  it('ends with the account: cancelled, erased at Stripe, and the same when it is repeated', async () => {
    const accountId = running.newAccount();
    await running.link(accountId, 2);
    await running.buyFirst(accountId);
    await running.side.accountEnd.end(accountId, REQUESTER);
    await running.side.accountEnd.end(accountId, REQUESTER);
    await running.settle();
    expect(await read(accountId)).toMatchObject({ plan: 'free', status: 'canceled', bought: 0 });
    const customer = await running.stripe.customers.retrieve(await running.customerOf(accountId));
    expect(customer).toMatchObject({ email: null });
    await running.side.accountEnd.end(running.newAccount(), REQUESTER);
  });
});
