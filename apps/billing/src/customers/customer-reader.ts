import type { Stripe } from 'stripe';
import { atStripe, StripeRefusedError } from '../stripe/stripe-client.js';
import { customerFacts, type CustomerFacts } from './subscription-facts.js';

/** The facts of a customer, and when they held: the time is taken before the request to Stripe. */
export interface Reading {
  facts: CustomerFacts;
  asOfMs: number;
}

/** More subscriptions or open invoices than this no customer of ours has. */
const PAGE = 100;

/**
 * Reads the truth of one customer. One that was deleted at Stripe has no subscription; one that Stripe does not know at all is
 * a fault of the installation (another Stripe account), which must not stop anybody's numbers.
 * @throws {StripeAwayError} @throws {StripeRefusedError}
 */
export async function readCustomer(stripe: Stripe, customer: string): Promise<CustomerFacts> {
  const [subscriptions, invoices] = await Promise.all([
    atStripe(() =>
      stripe.subscriptions.list({ customer, status: 'all', limit: PAGE, expand: ['data.customer'] }),
    ).catch(noneIfMissing),
    atStripe(() => stripe.invoices.list({ customer, status: 'open', limit: PAGE })).catch(noneIfMissing),
  ]);
  // Nothing at all: it never bought, it was deleted, or it is unknown, which is refused here.
  if (subscriptions.data.length === 0) await atStripe(() => stripe.customers.retrieve(customer));
  return customerFacts(subscriptions.data, invoices.data);
}

function noneIfMissing(error: unknown): { data: [] } {
  if (error instanceof StripeRefusedError && error.isMissing) return { data: [] };
  throw error;
}
