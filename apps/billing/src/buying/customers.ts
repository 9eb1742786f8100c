import type { GlobalDatabase } from '@dormouse/database';
import type { Stripe } from 'stripe';
import { addBillingAccount, findBillingAccount, setBillingCustomer } from '../customers/billing-accounts.js';
import { ACCOUNT_KEY } from '../stripe/catalogue.js';
import type { IntentRequest, Intents } from '../stripe/intents.js';
import { atStripe } from '../stripe/stripe-client.js';

/** Who buys: as Stripe's pages and invoices show it. */
export interface Buyer {
  accountId: string;
  accountName: string;
  email: string | null;
}

/** The customer of an account at Stripe. It is made when the account goes to Checkout for the first time, not earlier. */
export class Customers {
  constructor(
    private readonly stripe: Stripe,
    private readonly intents: Intents,
    private readonly database: Pick<GlobalDatabase, 'pool'>,
  ) {}

  /** Id of the account's customer; it is made if there is none. @throws {StripeAwayError} */
  async of(buyer: Buyer): Promise<string> {
    const { accountId, accountName, email } = buyer;
    const { pool } = this.database;
    await addBillingAccount(pool, accountId);
    const known = await findBillingAccount(pool, accountId);
    if (known?.stripe_customer_id) return known.stripe_customer_id;
    const request = { accountId, name: accountName, email };
    await this.intents.carryOut(accountId, 'customer', request, async (stored, key) => {
      // Another click may have made it before this one could begin.
      if ((await findBillingAccount(pool, accountId))?.stripe_customer_id) return;
      await setBillingCustomer(pool, accountId, await this.#create(stored, key));
    });
    const made = await findBillingAccount(pool, accountId);
    if (!made?.stripe_customer_id) throw new Error(`${accountId} has no customer although one was made`);
    return made.stripe_customer_id;
  }

  async #create({ accountId, name, email }: IntentRequest, idempotencyKey: string): Promise<string> {
    const customer = await atStripe(() =>
      this.stripe.customers.create(
        {
          name: String(name),
          ...(email === null || email === undefined ? {} : { email: String(email) }),
          metadata: { [ACCOUNT_KEY]: String(accountId) },
        },
        { idempotencyKey },
      ),
    );
    return customer.id;
  }
}
