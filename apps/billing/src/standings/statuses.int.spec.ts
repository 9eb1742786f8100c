import type { Standing } from '@dormouse/channel-directory';
import type { Stripe } from 'stripe';
import { TestRegion } from '../test-billing.js';
import { unending } from '../test-mortal.js';
import { REQUESTER, RunningStripeSide } from '../test-stripe-side.js';
import { WholeBilling } from '../test-whole-billing.js';

jest.setTimeout(60_000);

const DAY_MS = 86_400_000;
const RULES = { isOn: true, freeNumbers: 1, graceMs: 3 * DAY_MS };
/** Of the free number, the one that is covered by what was bought, and the one beyond. */
type Standings = [Standing, Standing, Standing];
const FREE_ONLY: Standings = ['good', 'over_free_allowance', 'over_free_allowance'];
const COVERED: Standings = ['good', 'good', 'over_free_allowance'];
const PAST_DUE: Standings = ['good', 'past_due', 'over_free_allowance'];

/** Every status of a subscription, reached at the simulated Stripe, read by a turn, and brought to the database of a region. */
describe('what the numbers of an account have in their region when its subscription', () => {
  let running: RunningStripeSide;
  let sg: TestRegion;
  let billing: WholeBilling;
  let off: WholeBilling;
  let aheadMs = 0;
  let accountId: string;
  let numbers: string[];

  beforeAll(async () => {
    [running, sg] = await Promise.all([RunningStripeSide.open(), TestRegion.open('sg')]);
    const terms = { running, regions: [sg], nowMs: () => Date.now() + aheadMs };
    billing = new WholeBilling({ ...terms, rules: RULES });
    off = new WholeBilling({ ...terms, rules: { ...RULES, isOn: false } });
  });
  afterAll(async () => {
    await Promise.all([billing.close(), off.close(), sg.close(), running.close()]);
  });
  beforeEach(async () => {
    await running.control('PATCH', '/settings', { collection: { retryAfterSeconds: [86_400, 86_400] } });
    accountId = running.newAccount();
    numbers = [await sg.link(accountId), await sg.link(accountId), await sg.link(accountId)];
    await pass();
    expect(await standings()).toEqual(FREE_ONLY);
  });

  const standings = () => Promise.all(numbers.map(async (id) => (await sg.directory.byId(id))?.standing));

  /** Billing reads the account at Stripe, and brings what follows to the region. */
  const pass = async (of = billing): Promise<void> => {
    await running.wantTurn(accountId);
    await of.live(unending());
  };

  const advance = async (days: number): Promise<void> => {
    await running.advance(days);
    aheadMs += days * DAY_MS;
  };

  /** What a subscription of one place that was not bought at Checkout is made with. */
  const subscribe = async (given: Partial<Stripe.SubscriptionCreateParams>): Promise<Stripe.Subscription> => {
    await running.checkOut(accountId, 1);
    const { data: prices } = await running.stripe.prices.list({ active: true, limit: 1 });
    return running.stripe.subscriptions.create({
      ...{ customer: await running.customerOf(accountId), metadata: { account_id: accountId } },
      items: [{ price: prices[0]?.id ?? '', quantity: 1 }],
      ...given,
    });
  };

  const subscription = async (): Promise<Stripe.Subscription> => {
    const customer = await running.customerOf(accountId);
    const { data } = await running.stripe.subscriptions.list({ customer, status: 'all' });
    if (!data[0]) throw new Error('there is no subscription');
    return data[0];
  };

  const statusAtStripe = async (): Promise<string> => (await subscription()).status;

  /** One place, bought at Checkout. */
  const bought = async (): Promise<Stripe.Subscription> => {
    await running.pay((await running.checkOut(accountId, 1)).url);
    await pass();
    expect(await standings()).toEqual(COVERED);
    return subscription();
  };

  const replaceCard = async (card: string): Promise<void> => {
    await running.control('POST', `/customers/${await running.customerOf(accountId)}/card`, { card });
  };

  /** The renewal of a month fails; Stripe tries it twice more, and then does this. */
  const failed = async (afterLastRetry: 'past_due' | 'unpaid' | 'pause' | 'cancel'): Promise<void> => {
    await running.control('PATCH', '/settings', { collection: { afterLastRetry } });
    await bought();
    await replaceCard('pm_card_chargeDeclined');
    const { items } = await subscription();
    const periodEndMs = (items.data[0]?.current_period_end ?? 0) * 1_000;
    const daysLeft = Math.ceil((periodEndMs - Date.now() - aheadMs) / DAY_MS);
    // An hour into its period the invoice is finalised, and declined.
    await advance(daysLeft + 1);
    await pass();
  };

  it('is none', async () => {
    expect(await running.customerOf(accountId)).toBe('');
    expect(await standings()).toEqual(FREE_ONLY);
  });

  it('is incomplete, and then incomplete_expired', async () => {
    await subscribe({ payment_behavior: 'default_incomplete' });
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['incomplete', FREE_ONLY]);
    await advance(1);
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['incomplete_expired', FREE_ONLY]);
  });

  it('is active, is ending at the end of its period, and is canceled', async () => {
    const { id } = await bought();
    expect(await statusAtStripe()).toBe('active');
    await running.stripe.subscriptions.update(id, { cancel_at_period_end: true });
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['active', COVERED]);
    expect((await running.side.accounts.read(accountId)).cancel_at_period_end).toBe(true);
    await advance(32);
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['canceled', FREE_ONLY]);
  });

  it('is trialing', async () => {
    await subscribe({ trial_period_days: 7 });
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['trialing', COVERED]);
  });

  it('is paused on request', async () => {
    const { id } = await bought();
    await running.stripe.subscriptions.pause(id);
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['paused', FREE_ONLY]);
  });

  it('is past_due within grace, past_due after it, and paid', async () => {
    await failed('past_due');
    expect([await statusAtStripe(), await standings()]).toEqual(['past_due', COVERED]);
    await advance(3);
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['past_due', PAST_DUE]);
    await payAtPortal('pm_card_visa');
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['active', COVERED]);
  });

  it('is unpaid, and paid', async () => {
    await failed('unpaid');
    await advance(3);
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['unpaid', PAST_DUE]);
    await payAtPortal('pm_card_visa');
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['active', COVERED]);
  });

  it('is canceled because payment failed', async () => {
    await failed('cancel');
    await advance(3);
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['canceled', FREE_ONLY]);
  });

  it('is paused because payment failed: resumed in its period without a charge once the invoice is paid', async () => {
    await failed('pause');
    await advance(3);
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['paused', PAST_DUE]);
    const { items } = await subscription();
    await payAtPortal('pm_card_visa');
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['active', COVERED]);
    expect((await subscription()).items.data[0]?.current_period_end).toBe(items.data[0]?.current_period_end);
    expect(await running.paid(accountId)).toEqual([400, 400]);
  });

  it('was paused because payment failed for months, and is paid: what is left of the present period is charged, once', async () => {
    await failed('pause');
    await advance(75);
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['paused', PAST_DUE]);
    await payAtPortal('pm_card_visa');
    await pass();
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['active', COVERED]);
    const [, , rest, ...more] = await running.paid(accountId);
    expect(more).toEqual([]);
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(400);
  });

  it('is paid by a card that declines again: nothing is resumed, and the card is tried once', async () => {
    await failed('pause');
    await advance(3);
    await pass();
    const refused = async (): Promise<number> =>
      (await running.requests()).filter(({ path, status }) => path.endsWith('/pay') && status === 402).length;
    const before = await refused();
    await payAtPortal('pm_card_chargeDeclinedInsufficientFunds');
    await pass();
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['paused', PAST_DUE]);
    const { id } = await subscription();
    expect((await refused()) - before).toBe(1);
    expect((await running.side.accounts.read(accountId)).open).toHaveLength(1);
    await payAtPortal('pm_card_visa');
    await pass();
    expect([await statusAtStripe(), await standings(), (await subscription()).id]).toEqual(['active', COVERED, id]);
  });

  it('has a status that this version does not know: each number keeps what it had', async () => {
    const { id } = await bought();
    await running.control('POST', `/subscriptions/${id}/status`, { status: 'frozen' });
    await pass();
    expect([await statusAtStripe(), await standings()]).toEqual(['frozen', COVERED]);
  });

  it('is paused for a reason that is not given: each number keeps what it had', async () => {
    const { id } = await bought();
    await running.control('POST', `/subscriptions/${id}/status`, { status: 'paused' });
    await pass();
    expect([(await subscription()).status_details, await standings()]).toEqual([undefined, COVERED]);
  });

  it('cannot be read, because Stripe is away: each number keeps what it had', async () => {
    await failed('past_due');
    expect(await statusAtStripe()).toBe('past_due');
    await advance(3);
    await running.control('POST', '/away', { isAway: true });
    try {
      await pass();
    } finally {
      await running.control('POST', '/away', { isAway: false });
    }
    // Past its grace by the clock: the invoice may have been paid meanwhile.
    expect(await standings()).toEqual(COVERED);
    await pass();
    expect(await standings()).toEqual(PAST_DUE);
  });

  it('is canceled unseen, because Stripe is away: each number keeps what it had', async () => {
    const { id } = await bought();
    await running.stripe.subscriptions.cancel(id);
    await running.control('POST', '/away', { isAway: true });
    try {
      await pass();
    } finally {
      await running.control('POST', '/away', { isAway: false });
    }
    expect(await standings()).toEqual(COVERED);
    await pass();
    expect(await standings()).toEqual(FREE_ONLY);
  });

  it('does not matter, because billing is off: all are good', async () => {
    await failed('unpaid');
    await running.database.pool.query('UPDATE billing_accounts SET dirty_since = now() WHERE account_id = $1', [
      accountId,
    ]);
    await off.live(unending());
    expect(await standings()).toEqual(['good', 'good', 'good']);
  });

  it('is replaced in the portal by another card before anything failed: the next renewal is paid with it', async () => {
    await bought();
    await payAtPortal('pm_card_mastercard');
    await pass();
    const customer = await running.stripe.customers.retrieve(await running.customerOf(accountId));
    if (customer.deleted) throw new Error('the customer is gone');
    expect((await subscription()).default_payment_method).toBe(customer.invoice_settings.default_payment_method);
    expect(await running.paid(accountId)).toEqual([400]);
  });

  /** Picks a card in the portal, as a person does: it becomes the customer's default, and nothing else happens by itself. */
  async function payAtPortal(card: string): Promise<void> {
    const { url } = await running.side.accounts.openPortal(accountId, REQUESTER);
    const answer = await fetch(`${url}/card`, { method: 'POST', body: new URLSearchParams({ card }) });
    expect(answer.status).toBe(200);
  }
});
