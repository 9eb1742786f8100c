import type { Stripe } from 'stripe';
import { atStripe } from './stripe-client.js';

/** Id of the one product that is sold: a further number. */
export const PRODUCT_ID = 'dormouse_number';
/** By which its present price is found. */
export const PRICE_LOOKUP_KEY = 'dormouse_number_monthly';
/** Key in the metadata of objects that setup makes, by which it finds them again. */
export const MADE_BY_SETUP = 'dormouse';
/** Key in the metadata of customers and subscriptions: whose they are. */
export const ACCOUNT_KEY = 'account_id';

/** The price of one further number for a month. */
export interface NumberPrice {
  priceId: string;
  /** In the smallest unit of the currency. */
  unitAmount: number;
  currency: string;
}

const KNOWN_FOR_MS = 300_000;

/** The catalogue that `billing:setup` makes at Stripe, read at first use and again after five minutes. */
export class Catalogue {
  #price: { value: Promise<NumberPrice>; until: number } | undefined;
  #portal: { value: Promise<string>; until: number } | undefined;

  constructor(
    private readonly stripe: Stripe,
    private readonly nowMs: () => number = Date.now,
  ) {}

  /** @throws {StripeAwayError} @throws {Error} when there is no such price: setup was not run */
  async price(): Promise<NumberPrice> {
    if (this.#price && this.#price.until > this.nowMs()) return this.#price.value;
    const value = this.#readPrice();
    this.#price = { value, until: this.nowMs() + KNOWN_FOR_MS };
    value.catch(() => (this.#price = undefined));
    return value;
  }

  /** Id of the portal configuration. @throws {StripeAwayError} @throws {Error} when setup was not run */
  async portalConfiguration(): Promise<string> {
    if (this.#portal && this.#portal.until > this.nowMs()) return this.#portal.value;
    const value = this.#readPortal();
    this.#portal = { value, until: this.nowMs() + KNOWN_FOR_MS };
    value.catch(() => (this.#portal = undefined));
    return value;
  }

  async #readPrice(): Promise<NumberPrice> {
    const found = await atStripe(() =>
      this.stripe.prices.list({ lookup_keys: [PRICE_LOOKUP_KEY], active: true, limit: 1 }),
    );
    const [price] = found.data;
    if (!price || price.unit_amount === null) {
      throw new Error(`Stripe has no price with the lookup key ${PRICE_LOOKUP_KEY}: run npm run billing:setup`);
    }
    return { priceId: price.id, unitAmount: price.unit_amount, currency: price.currency };
  }

  async #readPortal(): Promise<string> {
    const configurations = this.stripe.billingPortal.configurations.list({ active: true, limit: 100 });
    const found = await atStripe(() => configurations);
    const made = found.data.find(({ metadata }) => metadata?.[MADE_BY_SETUP] !== undefined);
    if (!made) throw new Error('Stripe has no portal configuration of this installation: run npm run billing:setup');
    return made.id;
  }
}
