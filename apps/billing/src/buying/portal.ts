import type { Stripe } from 'stripe';
import type { Catalogue } from '../stripe/catalogue.js';
import { atStripe } from '../stripe/stripe-client.js';

/** Stripe's own pages for card, tax id, invoices and cancellation. */
export class Portal {
  constructor(
    private readonly stripe: Stripe,
    private readonly catalogue: Catalogue,
    private readonly returnUrl: string,
  ) {}

  /** A page for one visit of a customer. @throws {StripeAwayError} */
  async pageFor(customer: string): Promise<string> {
    const configuration = await this.catalogue.portalConfiguration();
    const session = await atStripe(() =>
      this.stripe.billingPortal.sessions.create({ customer, configuration, return_url: this.returnUrl }),
    );
    return session.url;
  }
}
