/**
 * Compares every account with Stripe, and repairs what no webhook reported.
 *
 * What it guarantees: Stripe is read in pages, by a client of a bounded rate; an account that agrees causes no call and no write. Whatever
 * differs (status, quantity, period, what is open, a second subscription, a customer that is gone) gets a turn, which reads the
 * truth of that one customer and acts on it. A customer that Stripe has and we do not is adopted by its account; if that
 * account has another one, what runs there is a second subscription: it is cancelled and refunded. With Stripe or PostgreSQL
 * away the sweep ends, and the next one begins anew.
 */
import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import type { Stripe } from 'stripe';
import { nextQuantityStep } from '../buying/quantity-plan.js';
import { findBillingAccount, setBillingCustomer } from '../customers/billing-accounts.js';
import type { Duplicates } from '../customers/duplicates.js';
import { customerFacts, fingerprintOf } from '../customers/subscription-facts.js';
import { requestTurn } from '../customers/turns.js';
import { readStripeState, type StripeState } from './stripe-pages.js';
import { databaseTime, sweptAccounts, type SweptRow } from './sweep-rows.js';

export type Difference = 'facts' | 'quantity' | 'customer gone' | 'customer adopted' | 'second customer' | 'no account';

export interface SweepReport {
  accounts: number;
  differing: { accountId: string; difference: Difference }[];
}

export interface SweepParts {
  database: Pick<GlobalDatabase, 'pool'>;
  /** At a bounded rate. */
  stripe: Stripe;
  duplicates: Duplicates;
  /** Runs the turn of an account soon. */
  kick: (accountId: string) => void;
  freeNumbers: number;
  nowMs: () => number;
  log: Logger;
}

export class Sweep {
  constructor(private readonly parts: SweepParts) {}

  /** @throws {StripeAwayError} */
  async run(): Promise<SweepReport> {
    const { database, stripe, nowMs, log } = this.parts;
    const startedAt = await databaseTime(database.pool);
    const state = await readStripeState(stripe);
    const report: SweepReport = { accounts: 0, differing: [] };
    const known = new Set<string>();
    for await (const row of sweptAccounts(database.pool, startedAt, new Date(nowMs()))) {
      report.accounts += 1;
      if (row.stripe_customer_id !== null) known.add(row.stripe_customer_id);
      const difference = row.is_fresh === true ? undefined : this.#differenceOf(row, state);
      if (difference) await this.#repair(report, row.account_id, difference);
    }
    for (const [customer, accountId] of state.accounts) {
      if (!known.has(customer)) await this.#adopt(report, customer, accountId, state);
    }
    log.info({ accounts: report.accounts, differing: report.differing.length }, 'accounts compared with Stripe');
    return report;
  }

  #differenceOf(row: SweptRow, { accounts, subscriptions, openInvoices }: StripeState): Difference | undefined {
    const customer = row.stripe_customer_id ?? '';
    const facts = customerFacts(subscriptions.get(customer) ?? [], openInvoices.get(customer) ?? []);
    if (!accounts.has(customer) && row.fingerprint !== fingerprintOf(customerFacts([], []))) return 'customer gone';
    if (row.fingerprint !== fingerprintOf(facts)) return 'facts';
    const furtherNumbers = Math.max(0, (row.numbers ?? 0) - this.parts.freeNumbers - (row.given ?? 0));
    const { buy_limit: buyLimit, declined } = row;
    const step = nextQuantityStep({ subscription: facts.subscription, furtherNumbers, buyLimit, declined });
    return step ? 'quantity' : undefined;
  }

  async #repair(report: SweepReport, accountId: string, difference: Difference): Promise<void> {
    report.differing.push({ accountId, difference });
    this.parts.log.warn({ accountId, difference }, 'an account differs from Stripe');
    await requestTurn(this.parts.database.pool, accountId);
    this.parts.kick(accountId);
  }

  /** A customer that no account knows. */
  async #adopt(report: SweepReport, customer: string, accountId: string, state: StripeState): Promise<void> {
    const { database, duplicates, log } = this.parts;
    const row = await findBillingAccount(database.pool, accountId);
    const { subscription, duplicates: further } = customerFacts(state.subscriptions.get(customer) ?? [], []);
    if (!row) {
      if (!subscription) return;
      report.differing.push({ accountId, difference: 'no account' });
      log.error({ accountId, customer }, 'a customer at Stripe pays for an account that does not exist');
    } else if (row.stripe_customer_id === null) {
      await setBillingCustomer(database.pool, accountId, customer);
      await this.#repair(report, accountId, 'customer adopted');
    } else if (subscription && row.stripe_customer_id !== customer) {
      report.differing.push({ accountId, difference: 'second customer' });
      for (const id of [subscription.id, ...further]) await duplicates.remove(accountId, id);
    }
  }
}
