import { openLog } from '@dormouse/bootstrap';
import { openGlobalDatabase, type GlobalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { startStripeSimulator, type StripeSimulator } from '@dormouse/stripe-simulator';
import type { Stripe } from 'stripe';
import { dueTurns } from './customers/turns.js';
import type { Requester } from './internal/account-billing.js';
import { setUpStripe } from './setup/setup.js';
import { openStripe } from './stripe/stripe-client.js';
import { StripeSide } from './stripe/stripe-side.js';
import type { StripeSettings } from './stripe/stripe-settings.js';

export const REQUESTER: Requester = { actor: { kind: 'user', id: 'usr_spec' }, requestId: 'request-spec' };
const DAY_MS = 86_400_000;

/** A request as the simulated Stripe logged it. */
export interface LoggedRequest {
  method: string;
  path: string;
  status: number;
  idempotencyKey: string | null;
}

/** Everything towards Stripe on a database of its own and a simulated Stripe; no job runs, specs run turns themselves. */
export class RunningStripeSide {
  /** How far the simulated time is ahead of the wall clock. */
  #aheadMs = 0;
  #accounts = 0;
  #numbers = 0;

  private constructor(
    readonly simulator: StripeSimulator,
    readonly settings: StripeSettings,
    readonly database: GlobalDatabase,
    readonly side: StripeSide,
    /** A client of the spec's own. */
    readonly stripe: Stripe,
    readonly logged: Record<string, unknown>[],
    private readonly store: TestStore,
  ) {}

  static async open(): Promise<RunningStripeSide> {
    const [store, simulator] = await Promise.all([createTestDatabase('global'), startStripeSimulator()]);
    const settings: StripeSettings = {
      secretKey: simulator.secretKey,
      apiUrl: simulator.url,
      timeoutMs: 5_000,
      requestsPerSecond: 1_000,
      webhookSecrets: ['whsec_spec'],
      sweepEveryMs: 3_600_000,
      price: { amount: 400, currency: 'usd' },
      pages: { successUrl: 'https://app.test/ok', cancelUrl: 'https://app.test/no', returnUrl: 'https://app.test/' },
    };
    const logged: Record<string, unknown>[] = [];
    const log = openLog({
      name: 'billing-spec',
      destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
    });
    const database = openGlobalDatabase({ url: store.url, applicationName: 'billing-spec' });
    const stripe = openStripe(settings);
    await setUpStripe(stripe, { unitAmount: 400, currency: 'usd' });
    const clock = { nowMs: (): number => Date.now() };
    const side = new StripeSide({
      ...{ settings, database, log },
      rules: { isOn: true, freeNumbers: 1, graceMs: 3 * DAY_MS },
      nowMs: () => clock.nowMs(),
      kick: () => undefined,
      onFacts: () => undefined,
    });
    const running = new RunningStripeSide(simulator, settings, database, side, stripe, logged, store);
    clock.nowMs = () => Date.now() + running.#aheadMs;
    return running;
  }

  async close(): Promise<void> {
    await this.simulator.close();
    await this.database.close();
    await this.store.drop();
  }

  newAccount(): string {
    return `acc_${(this.#accounts += 1)}`;
  }

  /** Adds numbers that were linked. @returns their channels */
  async link(accountId: string, count = 1): Promise<string[]> {
    const channels = Array.from({ length: count }, () => `SPEC-${(this.#numbers += 1)}`);
    for (const channel of channels) {
      await this.database.pool.query(
        `INSERT INTO billed_numbers (channel_id, account_id, region, first_linked_at) VALUES ($1, $2, 'sg', now())`,
        [channel, accountId],
      );
    }
    await this.wantTurn(accountId);
    return channels;
  }

  /** Ends a number, as the deletion of its channel does. */
  async unlink(accountId: string, channel: string): Promise<void> {
    await this.database.pool.query('UPDATE billed_numbers SET ended_at = now() WHERE channel_id = $1', [channel]);
    await this.wantTurn(accountId);
  }

  async wantTurn(accountId: string): Promise<void> {
    await this.database.pool.query(
      `INSERT INTO billing_turns (account_id, wanted, due_at) VALUES ($1, 1, now())
       ON CONFLICT (account_id) DO UPDATE SET wanted = billing_turns.wanted + 1, due_at = now()`,
      [accountId],
    );
  }

  /** Runs every turn that is due. Those that failed are due again at once. */
  async settle(): Promise<void> {
    for (let rounds = 0; rounds < 50; rounds += 1) {
      await this.database.pool.query('UPDATE billing_turns SET due_at = now() WHERE failures > 0');
      const due = await dueTurns(this.database.pool, 1_000);
      if (due.length === 0) return;
      for (const accountId of due) await this.side.turns.run(accountId);
    }
    throw new Error('turns do not come to rest');
  }

  /** Goes to Checkout with an account and pays there. */
  async buyFirst(accountId: string, card = 'pm_card_visa', numbers?: number): Promise<void> {
    const { url } = await this.checkOut(accountId, numbers);
    await this.pay(url, card);
    await this.wantTurn(accountId);
    await this.settle();
  }

  checkOut(accountId: string, numbers?: number): Promise<{ url: string }> {
    return this.side.accounts.checkOut(
      { accountId, accountName: 'Spec', email: 'spec@example.com' },
      numbers,
      REQUESTER,
    );
  }

  /** Pays on a page of Checkout. @returns the status of the answer */
  async pay(url: string, card = 'pm_card_visa'): Promise<void> {
    const session = /cs_[A-Za-z0-9_]+/.exec(url)?.[0] ?? '';
    await this.control('POST', `/checkout/${session}/pay`, { card });
  }

  /** Raises the limit after having been shown the amount. @returns the amount shown */
  async raiseLimit(accountId: string, limit: number): Promise<number> {
    const { preview, amount } = await this.side.accounts.preview(accountId, limit);
    await this.side.accounts.change(accountId, { limit, preview }, REQUESTER);
    await this.settle();
    return amount;
  }

  /** Moves the simulated time, and this side's clock with it. */
  async advance(days: number): Promise<void> {
    await this.control('POST', '/clock', { advanceSeconds: days * 86_400 });
    this.#aheadMs += days * DAY_MS;
  }

  async control(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.simulator.url}/_simulator${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }

  /** What was requested of Stripe so far. */
  async requests(): Promise<LoggedRequest[]> {
    return (await this.control('GET', '/requests'))['requests'] as LoggedRequest[];
  }

  async customerOf(accountId: string): Promise<string> {
    const { rows } = await this.database.pool.query<{ stripe_customer_id: string | null }>(
      'SELECT stripe_customer_id FROM billing_accounts WHERE account_id = $1',
      [accountId],
    );
    return rows[0]?.stripe_customer_id ?? '';
  }

  /** Amounts of the paid invoices of an account, the first one first. */
  async paid(accountId: string): Promise<number[]> {
    const customer = await this.customerOf(accountId);
    const invoices = await this.stripe.invoices.list({ customer, status: 'paid', limit: 100 });
    return invoices.data.map(({ amount_paid: amount }) => amount).reverse();
  }

  async subscriptionOf(accountId: string): Promise<Stripe.Subscription | undefined> {
    const customer = await this.customerOf(accountId);
    return (await this.stripe.subscriptions.list({ customer, limit: 100 })).data[0];
  }

  /** Reasons of the mails that were stored about an account. */
  async mailsOf(accountId: string): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ kind: string }>(
      'SELECT kind FROM mail_outbox WHERE to_account_id = $1 ORDER BY created_at, kind',
      [accountId],
    );
    return rows.map(({ kind }) => kind);
  }
}
