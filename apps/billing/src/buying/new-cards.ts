/**
 * A new card, wherever it was given: what is open is paid with it, and the subscription uses it from then on.
 *
 * Stripe collects with the subscription's own payment method, which Checkout sets; a new default of the customer, as the portal sets
 * it, changes nothing for a subscription by itself, and nothing that failed is tried again before the next retry.
 *
 * What it guarantees: each change has an idempotency key that was stored before; invoices are paid before the card becomes the
 * subscription's, and both before the facts are stored by which a change is recognised. So a crash in between repeats what is left,
 * and an invoice that is paid already is left alone. A card that is refused pays nothing and is kept: it is what the owner wants used.
 * With Stripe away the turn is repeated.
 */
import type { LogOf } from '@dormouse/bootstrap';
import type { Stripe } from 'stripe';
import type { CustomerFacts, SubscriptionFacts } from '../customers/subscription-facts.js';
import type { IntentRequest, Intents } from '../stripe/intents.js';
import { atStripe, StripeRefusedError } from '../stripe/stripe-client.js';

/** The card that was given since the facts of before were stored; undefined: none. */
export function newCardOf(
  before: SubscriptionFacts | null | undefined,
  now: SubscriptionFacts | null,
): string | undefined {
  // Facts that were stored before the customer's card was read show nothing about it.
  if (!before || !now || before.id !== now.id || !('customerPaymentMethod' in before)) return undefined;
  const { customerPaymentMethod, paymentMethod } = now;
  if (customerPaymentMethod !== before.customerPaymentMethod && customerPaymentMethod !== null)
    return customerPaymentMethod;
  return paymentMethod !== before.paymentMethod && paymentMethod !== null ? paymentMethod : undefined;
}

export class NewCards {
  /** The calls that make changes, by kind of intent: also for those that a crash left open. */
  readonly acts = {
    pay: (request: IntentRequest, key: string) => this.#pay(request, key),
    card: (request: IntentRequest, key: string) => this.#use(request, key),
  };

  constructor(
    private readonly stripe: Stripe,
    private readonly intents: Intents,
    private readonly log: LogOf<'info'>,
  ) {}

  /**
   * Pays what is open with a card, and has the subscription use it.
   * @param wantedPlaces up to how many places a purchase that waits for payment is still wanted
   * @throws {StripeAwayError}
   */
  async use(accountId: string, card: string, facts: CustomerFacts, wantedPlaces: number): Promise<void> {
    const { subscription, overdue, pendingInvoice } = facts;
    if (!subscription) return;
    const isWanted = subscription.pending !== null && subscription.pending.quantity <= wantedPlaces;
    for (const { id: invoice } of [...overdue, ...(pendingInvoice && isWanted ? [pendingInvoice] : [])]) {
      await this.#carryOut(accountId, `pay:${invoice}`, { invoice, card }, this.acts.pay);
    }
    if (subscription.paymentMethod === card) return;
    await this.#carryOut(accountId, 'card', { subscription: subscription.id, card }, this.acts.card);
  }

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
      this.log.info({ err: error, accountId, kind }, 'a new card was refused, or what it was for is paid already');
    }
  }

  async #pay({ invoice, card }: IntentRequest, idempotencyKey: string): Promise<void> {
    await atStripe(() =>
      this.stripe.invoices.pay(String(invoice), { payment_method: String(card) }, { idempotencyKey }),
    );
  }

  async #use({ subscription, card }: IntentRequest, idempotencyKey: string): Promise<void> {
    await atStripe(() =>
      this.stripe.subscriptions.update(
        String(subscription),
        { default_payment_method: String(card) },
        { idempotencyKey },
      ),
    );
  }
}
