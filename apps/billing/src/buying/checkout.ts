/**
 * The first purchase, on Stripe's hosted page.
 *
 * What it guarantees: an account has one open page at a time. Two clicks, two tabs, two processes get the same one, and a page for
 * another number of places replaces it; so one subscription comes of it. With Stripe away: 503, and nothing was begun.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import type { Stripe } from 'stripe';
import { ACCOUNT_KEY, type Catalogue } from '../stripe/catalogue.js';
import type { IntentRequest, Intents } from '../stripe/intents.js';
import { atStripe, StripeRefusedError } from '../stripe/stripe-client.js';

/** In the metadata of a session: for how many places it is. */
const PLACES_KEY = 'places';
/** Pages for different numbers of places, requested at the same time, replace each other. */
const MAX_TRIES = 4;

export interface CheckoutPages {
  /** Where people come back to after they paid, and after they did not. */
  successUrl: string;
  cancelUrl: string;
}

export class Checkout {
  constructor(
    private readonly stripe: Stripe,
    private readonly intents: Intents,
    private readonly catalogue: Catalogue,
    private readonly pages: CheckoutPages,
  ) {}

  /**
   * The page on which an account buys its first places.
   * @throws {StripeAwayError} @throws {GatewayError} 409 when the page was just paid
   */
  async pageFor(accountId: string, customer: string, places: number): Promise<string> {
    const { priceId } = await this.catalogue.price();
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const open = await this.#openSessions(customer);
      // The oldest that fits: Stripe lists the newest first. A request of the same time takes it, too.
      const fitting = open.filter((session) => fits(session, places)).at(-1);
      for (const session of open) if (session !== fitting) await this.#expire(session.id);
      if (fitting) return urlOf(fitting);
      await this.#create(accountId, { customer, accountId, priceId, places });
    }
    throw new GatewayError(409, {
      message: 'another checkout is being opened',
      details: 'pages for other numbers of places are opened at the same time; repeat the request',
    });
  }

  /** Ends every open page of a customer, so that nothing can be bought there any more. @throws {StripeAwayError} */
  async close(customer: string): Promise<void> {
    for (const session of await this.#openSessions(customer)) await this.#expire(session.id);
  }

  async #openSessions(customer: string): Promise<Stripe.Checkout.Session[]> {
    const found = await atStripe(() => this.stripe.checkout.sessions.list({ customer, status: 'open', limit: 100 }));
    return found.data;
  }

  #create(accountId: string, request: IntentRequest): Promise<Stripe.Checkout.Session> {
    return this.intents.carryOut(accountId, 'checkout', request, (stored, key) => this.#session(stored, key));
  }

  #session(request: IntentRequest, idempotencyKey: string): Promise<Stripe.Checkout.Session> {
    const { customer, accountId, priceId, places } = request;
    return atStripe(() =>
      this.stripe.checkout.sessions.create(
        {
          mode: 'subscription',
          ui_mode: 'hosted_page',
          customer: String(customer),
          client_reference_id: String(accountId),
          line_items: [{ price: String(priceId), quantity: Number(places) }],
          metadata: { [PLACES_KEY]: String(places) },
          subscription_data: { metadata: { [ACCOUNT_KEY]: String(accountId) } },
          success_url: this.pages.successUrl,
          cancel_url: this.pages.cancelUrl,
        },
        { idempotencyKey },
      ),
    );
  }

  async #expire(session: string): Promise<void> {
    try {
      await atStripe(() => this.stripe.checkout.sessions.expire(session));
    } catch (error) {
      // Not open any more: it was paid, or it expired by itself.
      if (!(error instanceof StripeRefusedError)) throw error;
      const { status } = await atStripe(() => this.stripe.checkout.sessions.retrieve(session));
      if (status === 'complete') throw alreadyBought();
    }
  }
}

function fits({ metadata, status, url }: Stripe.Checkout.Session, places: number): boolean {
  return status === 'open' && url !== null && metadata?.[PLACES_KEY] === String(places);
}

function urlOf({ url }: Stripe.Checkout.Session): string {
  if (url === null) throw new Error('an open session of Checkout has no address');
  return url;
}

/** The account has a subscription: later purchases need no page. */
export function alreadyBought(): GatewayError {
  return new GatewayError(409, {
    message: 'already subscribed',
    details:
      'the account has a subscription; raise the limit with PATCH /billing, after POST /billing/preview, to buy more',
  });
}
