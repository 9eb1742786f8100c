/**
 * A second subscription of one account: it must not be, and what was paid for it is refunded.
 *
 * What it guarantees: the older one stays; the newer is cancelled at once, without proration, and every payment of it is
 * refunded, each under its own stored idempotency key, so that a crash in between neither forgets a refund nor makes two. Operators
 * get a mail, stored before anything is done, once for a subscription.
 */
import type { Logger } from '@dormouse/bootstrap';
import type { Queryable } from '@dormouse/database';
import { enqueueMail } from '@dormouse/mail-outbox';
import type { Stripe } from 'stripe';
import type { IntentRequest, Intents } from '../stripe/intents.js';
import { atStripe, StripeRefusedError } from '../stripe/stripe-client.js';
import { idOf } from './subscription-facts.js';

export class Duplicates {
  readonly acts = {
    refund: (request: IntentRequest, key: string) => this.#refund(request, key),
    cancel: (request: IntentRequest, key: string) => this.#cancel(request, key),
  };

  constructor(
    private readonly stripe: Stripe,
    private readonly intents: Intents,
    private readonly on: Queryable,
    private readonly log: Logger,
  ) {}

  /**
   * Refunds and cancels a subscription. The refunds come first: after a crash it still runs, and is found again.
   * @throws {StripeAwayError}
   */
  async remove(accountId: string, subscription: string): Promise<void> {
    await enqueueMail(this.on, {
      kind: 'second-subscription',
      to: { audience: 'operators' },
      reason: `second-subscription:${subscription}`,
      data: { accountId, subscription },
    });
    for (const payment of await this.#paymentsOf(subscription)) {
      await this.#carryOut(accountId, `refund:${payment}`, { payment }, this.acts.refund);
    }
    await this.cancel(accountId, subscription);
    this.log.error(
      { accountId, subscription, audit: true },
      'an account had two subscriptions: the newer was cancelled and refunded',
    );
  }

  /** Cancels a subscription at once, without proration and without a refund; one that has ended is left alone. */
  async cancel(accountId: string, subscription: string): Promise<void> {
    await this.#carryOut(accountId, `cancel:${subscription}`, { subscription }, this.acts.cancel);
  }

  /** Whatever was refunded or cancelled already is as it shall be. */
  async #carryOut(
    accountId: string,
    kind: string,
    request: IntentRequest,
    act: (request: IntentRequest, key: string) => Promise<void>,
  ): Promise<void> {
    try {
      await this.intents.carryOut(accountId, kind, request, act);
    } catch (error) {
      if (!(error instanceof StripeRefusedError)) throw error;
      const isDone = error.isMissing || error.code === 'charge_already_refunded';
      this.log[isDone ? 'info' : 'error']({ err: error, accountId, kind }, 'a refund or cancellation was refused');
    }
  }

  /** Ids of the payment intents that paid invoices of a subscription. */
  async #paymentsOf(subscription: string): Promise<string[]> {
    const invoices = await atStripe(() => this.stripe.invoices.list({ subscription, status: 'paid', limit: 100 }));
    const payments: string[] = [];
    for (const { id: invoice } of invoices.data) {
      const paid = await atStripe(() => this.stripe.invoicePayments.list({ invoice, status: 'paid', limit: 100 }));
      payments.push(...paid.data.map(({ payment }) => idOf(payment.payment_intent)).filter((id) => id !== null));
    }
    return payments;
  }

  async #refund({ payment }: IntentRequest, idempotencyKey: string): Promise<void> {
    await atStripe(() => this.stripe.refunds.create({ payment_intent: String(payment) }, { idempotencyKey }));
  }

  async #cancel({ subscription }: IntentRequest, idempotencyKey: string): Promise<void> {
    await atStripe(() =>
      this.stripe.subscriptions.cancel(
        String(subscription),
        { prorate: false, invoice_now: false },
        { idempotencyKey },
      ),
    );
  }
}
