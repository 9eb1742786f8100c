/**
 * The end of an account's payments.
 *
 * What it guarantees: no page is left on which something could be bought, every subscription of the customer is cancelled at once
 * and without proration, name and address are erased at Stripe; invoices stay there, because the law keeps them. Repeated after a
 * crash, it goes on where it was. With Stripe away: 503, and it is to be repeated.
 */
import { appendAudit } from '@dormouse/audit-log';
import { transaction, type GlobalDatabase } from '@dormouse/database';
import type { Stripe } from 'stripe';
import { findBillingAccount } from '../customers/billing-accounts.js';
import type { Duplicates } from '../customers/duplicates.js';
import { readCustomer } from '../customers/customer-reader.js';
import { requestTurn } from '../customers/turns.js';
import type { Requester } from '../internal/account-billing.js';
import type { Intents } from '../stripe/intents.js';
import { atStripe, StripeRefusedError } from '../stripe/stripe-client.js';
import type { Checkout } from './checkout.js';

export interface AccountEndParts {
  database: Pick<GlobalDatabase, 'pool'>;
  stripe: Stripe;
  intents: Intents;
  checkout: Checkout;
  duplicates: Duplicates;
  kick: (accountId: string) => void;
}

export class AccountEnd {
  constructor(private readonly parts: AccountEndParts) {}

  /** @throws {StripeAwayError} */
  async end(accountId: string, requester: Requester): Promise<void> {
    const { database, stripe, checkout, duplicates, kick } = this.parts;
    const row = await findBillingAccount(database.pool, accountId);
    if (!row || row.stripe_customer_id === null) return;
    const customer = row.stripe_customer_id;
    await checkout.close(customer);
    const { subscription, duplicates: further } = await readCustomer(stripe, customer);
    for (const id of further) await duplicates.remove(accountId, id);
    if (subscription) await duplicates.cancel(accountId, subscription.id);
    await this.#erase(accountId, customer);
    await transaction(database, async (connection) => {
      await requestTurn(connection, accountId);
      await appendAudit(connection, { accountId, ...requester, action: 'billing.end' });
    });
    kick(accountId);
  }

  async #erase(accountId: string, customer: string): Promise<void> {
    try {
      await this.parts.intents.carryOut(accountId, 'erase', { customer }, (_, idempotencyKey) =>
        atStripe(() => this.parts.stripe.customers.update(customer, { name: '', email: '' }, { idempotencyKey })),
      );
    } catch (error) {
      // Deleted at Stripe: nothing is left to erase.
      if (!(error instanceof StripeRefusedError) || !error.isMissing) throw error;
    }
  }
}
