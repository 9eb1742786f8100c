import type { Stripe } from 'stripe';
import { PAID_PLACES_KEY, PAID_UNTIL_KEY, type SubscriptionFacts } from '../customers/subscription-facts.js';
import type { IntentRequest, Intents } from '../stripe/intents.js';
import { atStripe, StripeRefusedError } from '../stripe/stripe-client.js';
import type { QuantityStep } from './quantity-plan.js';

/** What a step came to. Declined: nothing was changed, the card or its bank refused at once. */
export type StepOutcome = 'made' | 'declined';

/** Carries out steps of the quantity plan. */
export class QuantityChanges {
  /** The calls that make changes, by kind of intent: also for those that a crash left open. */
  readonly acts = {
    free: (request: IntentRequest, key: string) => this.#changeFree(request, key),
    purchase: (request: IntentRequest, key: string) => this.#purchase(request, key),
  };

  constructor(
    private readonly stripe: Stripe,
    private readonly intents: Intents,
  ) {}

  /**
   * Makes one step.
   * @param prorationDate epoch seconds of the preview that the owner was shown; absent: now, by Stripe's clock
   * @throws {StripeAwayError}
   */
  async make(
    accountId: string,
    { id, itemId, periodEnd }: SubscriptionFacts,
    step: QuantityStep,
    prorationDate?: number,
  ): Promise<StepOutcome> {
    const target = { subscription: id, item: itemId, quantity: step.quantity };
    if (step.kind === 'free') {
      const request = { ...target, paidPlaces: step.paidPlaces, periodEnd };
      await this.intents.carryOut(accountId, 'free', request, this.acts.free);
      return 'made';
    }
    try {
      const request = { ...target, prorationDate: prorationDate ?? null };
      await this.intents.carryOut(accountId, 'purchase', request, this.acts.purchase);
      return 'made';
    } catch (error) {
      if (error instanceof StripeRefusedError && error.status === 402) return 'declined';
      throw error;
    }
  }

  /** Changes what the next period is charged for, and nothing else. */
  async #changeFree(request: IntentRequest, idempotencyKey: string): Promise<void> {
    const { subscription, item, quantity, paidPlaces, periodEnd } = request;
    await atStripe(() =>
      this.stripe.subscriptions.update(
        String(subscription),
        {
          items: [{ id: String(item), quantity: Number(quantity) }],
          proration_behavior: 'none',
          metadata: { [PAID_PLACES_KEY]: String(paidPlaces), [PAID_UNTIL_KEY]: String(periodEnd) },
        },
        { idempotencyKey },
      ),
    );
  }

  /** Buys more places, charged at once. When the payment does not come through, the quantity stays until it does. */
  async #purchase(request: IntentRequest, idempotencyKey: string): Promise<void> {
    const { subscription, item, quantity, prorationDate } = request;
    await atStripe(() =>
      this.stripe.subscriptions.update(
        String(subscription),
        {
          items: [{ id: String(item), quantity: Number(quantity) }],
          proration_behavior: 'always_invoice',
          payment_behavior: 'pending_if_incomplete',
          ...(prorationDate === null || prorationDate === undefined ? {} : { proration_date: Number(prorationDate) }),
        },
        { idempotencyKey },
      ),
    );
  }
}
