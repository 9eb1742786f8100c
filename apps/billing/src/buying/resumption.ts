/**
 * A subscription that Stripe paused because payment failed for good, and whose invoices have been paid since.
 *
 * Stripe does not resume it by itself when they are paid. What it guarantees: it goes on in the periods that it had; the rest of
 * a period that was just paid costs nothing more, and of a later period only what is left of it is charged. That charge is collected
 * like a renewal: if it fails, grace begins anew, and after it the pause; so each payment leads to one resumption.
 * A pause on request is never ended here. With Stripe away the turn is repeated.
 */
import type { LogOf } from '@dormouse/bootstrap';
import type { Stripe } from 'stripe';
import type { CustomerFacts, SubscriptionFacts } from '../customers/subscription-facts.js';
import type { IntentRequest, Intents } from '../stripe/intents.js';
import { atStripe, StripeRefusedError } from '../stripe/stripe-client.js';

/** Whether a subscription waits for being resumed: payment had failed, and nothing is open any more. */
export function waitsForResumption({ subscription, overdue }: CustomerFacts): boolean {
  return subscription?.status === 'paused' && subscription.pausedKind === 'payment_failed' && overdue.length === 0;
}

export class Resumption {
  /** The calls that make changes, by kind of intent: also for those that a crash left open. */
  readonly acts = { resume: (request: IntentRequest, key: string) => this.#resume(request, key) };

  constructor(
    private readonly stripe: Stripe,
    private readonly intents: Intents,
    private readonly log: LogOf<'error'>,
  ) {}

  /**
   * Resumes a subscription.
   * @returns false when Stripe refused it
   * @throws {StripeAwayError}
   */
  async resume(accountId: string, { id, periodEnd }: SubscriptionFacts, nowMs: number): Promise<boolean> {
    const request = { subscription: id, isPaidFor: nowMs < periodEnd * 1_000 };
    try {
      await this.intents.carryOut(accountId, 'resume', request, this.acts.resume);
      return true;
    } catch (error) {
      if (!(error instanceof StripeRefusedError)) throw error;
      this.log.error({ err: error, accountId }, 'a subscription whose invoices are paid could not be resumed');
      return false;
    }
  }

  async #resume({ subscription, isPaidFor }: IntentRequest, idempotencyKey: string): Promise<void> {
    await atStripe(() =>
      this.stripe.subscriptions.resume(
        String(subscription),
        {
          billing_cycle_anchor: { type: 'unchanged' },
          proration_behavior: isPaidFor === true ? 'none' : 'always_invoice',
          payment_behavior: 'resume_on_payment_attempt',
        },
        { idempotencyKey },
      ),
    );
  }
}
