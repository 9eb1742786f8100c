/**
 * What a purchase would cost, shown before it is made.
 *
 * What it guarantees: the amount is Stripe's own, to the cent, with the time of proration that the purchase is given when it is
 * made because of this preview; a preview is kept, so that a limit is raised only by somebody who was shown the amount.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import { defineStatement, type Queryable } from '@dormouse/database';
import { randomBytes } from 'node:crypto';
import type { Stripe } from 'stripe';
import type { SubscriptionFacts } from '../customers/subscription-facts.js';
import type { Catalogue } from '../stripe/catalogue.js';
import { atStripe } from '../stripe/stripe-client.js';

const ADD = defineStatement({
  name: 'add-billing-preview',
  scope: 'global',
  text: `INSERT INTO billing_previews (id, account_id, quantity, amount, currency, proration_date)
         VALUES ($1, $2, $3, $4, $5, $6)`,
  parameters: ['text', 'text', 'int4', 'int4', 'text', 'int8?'],
});

const FIND = defineStatement({
  name: 'find-billing-preview',
  scope: 'global',
  text: `SELECT quantity, amount, currency FROM billing_previews
         WHERE id = $1 AND account_id = $2 AND created_at > now() - interval '30 minutes'`,
  parameters: ['text', 'text'],
  row: { quantity: 'int4', amount: 'int4', currency: 'text' },
});

const ACCEPT = defineStatement({
  name: 'accept-billing-preview',
  scope: 'global',
  text: 'UPDATE billing_previews SET accepted_at = now() WHERE id = $1 AND account_id = $2',
  parameters: ['text', 'text'],
});

const ACCEPTED = defineStatement({
  name: 'accepted-billing-preview',
  scope: 'global',
  text: `SELECT proration_date FROM billing_previews
         WHERE account_id = $1 AND quantity = $2 AND accepted_at > now() - interval '1 hour'
           AND proration_date IS NOT NULL AND proration_date >= $3 AND proration_date < $4
         ORDER BY accepted_at DESC LIMIT 1`,
  parameters: ['text', 'int4', 'int8', 'int8'],
  row: { proration_date: 'int8?' },
});

const DELETE_OLD = defineStatement({
  name: 'delete-old-billing-previews',
  scope: 'global',
  text: `DELETE FROM billing_previews WHERE created_at < now() - interval '2 days'`,
  parameters: [],
});

/** What so many places would cost. */
export interface Preview {
  id: string;
  /** Places beyond the free numbers that the account would have. */
  quantity: number;
  /** Charged at once, in the smallest unit of the currency, taxes included. */
  amount: number;
  /** Of each place for a month. */
  unitAmount: number;
  currency: string;
}

export class Previews {
  constructor(
    private readonly stripe: Stripe,
    private readonly catalogue: Catalogue,
    private readonly on: Queryable,
    private readonly nowMs: () => number,
  ) {}

  /**
   * Computes and keeps a preview.
   * @param subscription absent: the first purchase, for a whole month
   * @throws {StripeAwayError}
   */
  async make(accountId: string, quantity: number, subscription: SubscriptionFacts | undefined): Promise<Preview> {
    const { unitAmount, currency } = await this.catalogue.price();
    const prorationDate = subscription ? this.#nowWithin(subscription) : null;
    const amount =
      subscription && prorationDate !== null
        ? await this.#amountOf(subscription, quantity, prorationDate)
        : quantity * unitAmount;
    const id = `pre_${randomBytes(12).toString('base64url')}`;
    await ADD.count(this.on, id, accountId, quantity, amount, currency, prorationDate);
    return { id, quantity, amount, unitAmount, currency };
  }

  /**
   * The account's preview, shown in the last half hour.
   * @throws {GatewayError} 400 naming the field
   */
  async require(accountId: string, id: string): Promise<{ quantity: number; amount: number; currency: string }> {
    const found = await FIND.first(this.on, id, accountId);
    if (found) return found;
    throw new GatewayError(400, {
      details: 'preview: unknown or older than 30 minutes; make a new one with POST /billing/preview',
    });
  }

  /** Marks that the owner raised the limit because of it. @param on the transaction that raises it */
  async accept(on: Queryable, accountId: string, id: string): Promise<void> {
    await ACCEPT.count(on, id, accountId);
  }

  /** The time of proration (epoch seconds) that was shown for just this purchase in this period, if any was accepted lately. */
  async accepted(
    accountId: string,
    { periodStart, periodEnd }: SubscriptionFacts,
    quantity: number,
  ): Promise<number | undefined> {
    const found = await ACCEPTED.first(this.on, accountId, quantity, periodStart, periodEnd);
    return found?.proration_date ? Number(found.proration_date) : undefined;
  }

  async deleteOld(): Promise<number> {
    return DELETE_OLD.count(this.on);
  }

  #nowWithin({ periodStart, periodEnd }: SubscriptionFacts): number {
    return Math.min(Math.max(Math.floor(this.nowMs() / 1_000), periodStart), periodEnd - 1);
  }

  /** Places that are paid for and lie idle cost nothing, so what they would be prorated to is taken off. */
  async #amountOf(subscription: SubscriptionFacts, quantity: number, prorationDate: number): Promise<number> {
    const { bought } = subscription;
    if (quantity <= bought) return 0;
    const whole = await this.#proration(subscription, quantity, prorationDate);
    if (subscription.quantity === bought) return whole;
    return whole - (await this.#proration(subscription, bought, prorationDate));
  }

  async #proration({ id, itemId }: SubscriptionFacts, quantity: number, prorationDate: number): Promise<number> {
    const preview = await atStripe(() =>
      this.stripe.invoices.createPreview({
        subscription: id,
        subscription_details: {
          items: [{ id: itemId, quantity }],
          proration_behavior: 'always_invoice',
          proration_date: prorationDate,
        },
      }),
    );
    return preview.amount_due;
  }
}
