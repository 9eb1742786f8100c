import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { startStripeSimulator, type StripeSimulatorOptions } from '../simulator.js';

export const DAY = 86_400;

/** A simulator with the real client, one price of 4 USD a month, and what specs do with both. */
export interface TestBed {
  url: string;
  stripe: Stripe;
  /** The control API; throws for all but 200. */
  control<T = Record<string, unknown>>(method: string, path: string, body?: object): Promise<T>;
  /** Moves the simulator's own time. */
  advance(seconds: number): Promise<void>;
  /** A customer whose card pays for so many numbers since now. */
  subscriber(
    card?: string,
    quantity?: number,
  ): Promise<{ customer: Stripe.Customer; subscription: Stripe.Subscription }>;
  price: Stripe.Price;
  close(): Promise<void>;
}

export function clientOf(
  url: string,
  secretKey: string,
  config: Partial<ConstructorParameters<typeof Stripe>[1]> = {},
): Stripe {
  const { hostname, port } = new URL(url);
  return new Stripe(secretKey, {
    host: hostname,
    port: Number(port),
    protocol: 'http',
    telemetry: false,
    maxNetworkRetries: 0,
    ...config,
  });
}

/** Starts all of it. The clock of the simulator stands still unless it is moved. */
export async function openTestBed(options: StripeSimulatorOptions = {}): Promise<TestBed> {
  const simulator = await startStripeSimulator(options);
  const stripe = clientOf(simulator.url, simulator.secretKey);
  const control = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${simulator.url}/_simulator${path}`, {
      method,
      ...(body && { headers, body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const [present] = (await stripe.prices.list({ lookup_keys: ['number'] })).data;
  const price = present ?? (await makePrice(stripe));
  return {
    ...{ url: simulator.url, stripe, control, price, close: () => simulator.close() },
    advance: async (seconds) => {
      await control('POST', '/clock', { advanceSeconds: seconds });
    },
    subscriber: async (card = 'pm_card_visa', quantity = 1) => {
      const customer = await stripe.customers.create({ email: 'owner@example.com', metadata: { account: '7' } });
      const session = await openSession(stripe, price.id, { customer: customer.id, quantity });
      await control('POST', `/checkout/${session.id}/pay`, { card });
      const [subscription] = (await stripe.subscriptions.list({ customer: customer.id })).data;
      if (!subscription) throw new Error('Nothing was bought.');
      return { customer, subscription };
    },
  };
}

async function makePrice(stripe: Stripe): Promise<Stripe.Price> {
  const product = await stripe.products.create({ name: 'Further number' });
  return stripe.prices.create({
    ...{ product: product.id, currency: 'usd', unit_amount: 400, lookup_key: 'number' },
    recurring: { interval: 'month' },
  });
}

/** A Checkout session as billing opens it. */
export function openSession(
  stripe: Stripe,
  price: string,
  { customer, quantity = 1 }: { customer: string; quantity?: number },
): Promise<Stripe.Checkout.Session> {
  return stripe.checkout.sessions.create({
    ...{ mode: 'subscription', ui_mode: 'hosted_page', customer, client_reference_id: '7' },
    line_items: [{ price, quantity }],
    subscription_data: { metadata: { account: '7' } },
    success_url: 'https://app.example.com/billing?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'https://app.example.com/billing',
  });
}

/** The item of a subscription: here each has one. */
export function itemOf(subscription: Stripe.Subscription): Stripe.SubscriptionItem {
  const [item] = subscription.items.data;
  if (!item) throw new Error(`${subscription.id} has no item.`);
  return item;
}

/** A delivery as an endpoint receives it. */
export interface Received {
  payload: string;
  signature: string;
  event: { id: string; type: string; livemode: boolean };
}

/** A webhook endpoint that answers what it is told to, and lets specs wait for what they expect. */
export async function openEndpoint() {
  const received: Received[] = [];
  const waiting: { isThere: () => boolean; resolve: () => void }[] = [];
  const state = { status: 200 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const payload = Buffer.concat(chunks).toString();
      const signature = String(request.headers['stripe-signature']);
      received.push({ payload, signature, event: JSON.parse(payload) as Received['event'] });
      response.writeHead(state.status).end();
      for (const one of waiting) if (one.isThere()) one.resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}/stripe`, received, state },
    /** Resolves once this is true of what was received. */
    until: (isThere: () => boolean): Promise<void> =>
      isThere() ? Promise.resolve() : new Promise((resolve) => waiting.push({ isThere, resolve })),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
