/**
 * Makes or corrects what an installation needs at Stripe: product, price, portal configuration, webhook endpoint.
 *
 * What it guarantees: run twice it changes nothing the second time; what is there is found again by id, lookup key, metadata or
 * address, and only what differs is changed. A price cannot be changed at Stripe: a new one takes over the lookup key, and
 * subscriptions keep the one that they were bought at.
 */
import type { Stripe } from 'stripe';
import { MADE_BY_SETUP, PRICE_LOOKUP_KEY, PRODUCT_ID } from '../stripe/catalogue.js';
import { atStripe, StripeRefusedError } from '../stripe/stripe-client.js';

export interface SetupTerms {
  /** Of a further number for a month, in the smallest unit of the currency. */
  unitAmount: number;
  /** ISO 4217, small letters. */
  currency: string;
  /** Where Stripe posts events to; absent: no webhook endpoint is made. */
  webhookUrl?: string;
}

export interface SetupResult {
  product: string;
  price: string;
  portalConfiguration: string;
  webhookEndpoint: string | null;
  /** Only of an endpoint that was just made: Stripe shows it once. */
  webhookSecret: string | null;
  /** What was made or corrected. */
  changed: string[];
}

const PRODUCT_NAME = 'Further number';

/** The events that change what is stored of a customer. */
export const WEBHOOK_EVENTS = [
  'checkout.session.completed',
  'checkout.session.expired',
  'customer.deleted',
  'customer.updated',
  'customer.subscription.created',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'customer.subscription.resumed',
  'customer.subscription.updated',
  'invoice.finalized',
  'invoice.marked_uncollectible',
  'invoice.paid',
  'invoice.payment_action_required',
  'invoice.payment_failed',
  'invoice.voided',
] as const satisfies readonly Stripe.WebhookEndpointCreateParams.EnabledEvent[];

const FEATURES = {
  customer_update: { enabled: true, allowed_updates: ['email', 'address', 'name', 'tax_id'] },
  invoice_history: { enabled: true },
  payment_method_update: { enabled: true },
  subscription_cancel: { enabled: true, mode: 'at_period_end', proration_behavior: 'none' },
  subscription_update: { enabled: false },
  subscription_pause: { enabled: false },
} as const;

/** @throws {StripeAwayError} @throws {StripeRefusedError} */
export async function setUpStripe(stripe: Stripe, terms: SetupTerms): Promise<SetupResult> {
  const changed: string[] = [];
  const product = await setUpProduct(stripe, changed);
  const price = await setUpPrice(stripe, product, terms, changed);
  const portalConfiguration = await setUpPortal(stripe, changed);
  const endpoint = terms.webhookUrl === undefined ? undefined : await setUpWebhook(stripe, terms.webhookUrl, changed);
  return {
    product,
    price,
    portalConfiguration,
    webhookEndpoint: endpoint?.id ?? null,
    webhookSecret: endpoint?.secret ?? null,
    changed,
  };
}

async function setUpProduct(stripe: Stripe, changed: string[]): Promise<string> {
  const found = await existing(() => stripe.products.retrieve(PRODUCT_ID));
  if (!found) {
    changed.push('product');
    return (await atStripe(() => stripe.products.create({ id: PRODUCT_ID, name: PRODUCT_NAME }))).id;
  }
  if (!found.active || found.name !== PRODUCT_NAME) {
    changed.push('product');
    await atStripe(() => stripe.products.update(PRODUCT_ID, { active: true, name: PRODUCT_NAME }));
  }
  return found.id;
}

async function setUpPrice(
  stripe: Stripe,
  product: string,
  { unitAmount, currency }: SetupTerms,
  changed: string[],
): Promise<string> {
  const { data } = await atStripe(() =>
    stripe.prices.list({ lookup_keys: [PRICE_LOOKUP_KEY], active: true, limit: 1 }),
  );
  const [found] = data;
  const isRight =
    found?.unit_amount === unitAmount && found.currency === currency && found.recurring?.interval === 'month';
  if (found && isRight) return found.id;
  changed.push('price');
  const made = await atStripe(() =>
    stripe.prices.create({
      product,
      currency,
      unit_amount: unitAmount,
      recurring: { interval: 'month' },
      lookup_key: PRICE_LOOKUP_KEY,
      transfer_lookup_key: true,
    }),
  );
  return made.id;
}

async function setUpPortal(stripe: Stripe, changed: string[]): Promise<string> {
  const { data } = await atStripe(() => stripe.billingPortal.configurations.list({ limit: 100 }));
  const found = data.find(({ metadata }) => metadata?.[MADE_BY_SETUP] !== undefined);
  const features = {
    ...FEATURES,
    customer_update: { ...FEATURES.customer_update, allowed_updates: [...FEATURES.customer_update.allowed_updates] },
  };
  if (!found) {
    changed.push('portal configuration');
    const made = await atStripe(() =>
      stripe.billingPortal.configurations.create({ features, metadata: { [MADE_BY_SETUP]: 'portal' } }),
    );
    return made.id;
  }
  if (!found.active || !hasFeatures(found)) {
    changed.push('portal configuration');
    await atStripe(() => stripe.billingPortal.configurations.update(found.id, { active: true, features }));
  }
  return found.id;
}

function hasFeatures({ features }: Stripe.BillingPortal.Configuration): boolean {
  const { customer_update: customer, subscription_cancel: cancel } = features;
  return (
    customer.enabled &&
    FEATURES.customer_update.allowed_updates.every((one) => customer.allowed_updates.includes(one)) &&
    features.invoice_history.enabled &&
    features.payment_method_update.enabled &&
    cancel.enabled &&
    cancel.mode === FEATURES.subscription_cancel.mode &&
    cancel.proration_behavior === FEATURES.subscription_cancel.proration_behavior &&
    !features.subscription_update.enabled &&
    !isEnabled(Reflect.get(features, 'subscription_pause'))
  );
}

function isEnabled(feature: unknown): boolean {
  return typeof feature === 'object' && feature !== null && Reflect.get(feature, 'enabled') === true;
}

async function setUpWebhook(stripe: Stripe, url: string, changed: string[]): Promise<{ id: string; secret?: string }> {
  const { data } = await atStripe(() => stripe.webhookEndpoints.list({ limit: 100 }));
  const found = data.find((endpoint) => endpoint.url === url) ?? data.find(({ metadata }) => metadata[MADE_BY_SETUP]);
  if (!found) {
    changed.push('webhook endpoint');
    return atStripe(() =>
      stripe.webhookEndpoints.create({
        url,
        enabled_events: [...WEBHOOK_EVENTS],
        metadata: { [MADE_BY_SETUP]: 'webhook' },
      }),
    );
  }
  const isRight =
    found.url === url &&
    found.status === 'enabled' &&
    found.enabled_events.length === WEBHOOK_EVENTS.length &&
    WEBHOOK_EVENTS.every((event) => found.enabled_events.includes(event));
  if (!isRight) {
    changed.push('webhook endpoint');
    await atStripe(() =>
      stripe.webhookEndpoints.update(found.id, { url, enabled_events: [...WEBHOOK_EVENTS], disabled: false }),
    );
  }
  return { id: found.id };
}

async function existing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await atStripe(call);
  } catch (error) {
    if (error instanceof StripeRefusedError && error.isMissing) return undefined;
    throw error;
  }
}
