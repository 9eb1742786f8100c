import type { Stripe } from 'stripe';
import { atStripe } from '../stripe/stripe-client.js';
import { idOf } from '../customers/subscription-facts.js';
import { ACCOUNT_KEY } from '../stripe/catalogue.js';

/** What Stripe holds of all customers: read in pages of a hundred, not with a call for each account. */
export interface StripeState {
  /** Customers of this installation, by id, with the account that they were made for. */
  accounts: Map<string, string>;
  /** Subscriptions that have not ended, by customer. */
  subscriptions: Map<string, Stripe.Subscription[]>;
  /** Invoices that wait for payment, by customer. */
  openInvoices: Map<string, Stripe.Invoice[]>;
}

interface Page<T> {
  data: T[];
  has_more: boolean;
}

const PAGE = 100;

/** @throws {StripeAwayError} */
export async function readStripeState(stripe: Stripe): Promise<StripeState> {
  const state: StripeState = { accounts: new Map(), subscriptions: new Map(), openInvoices: new Map() };
  const customers = pagesOf((page) => stripe.customers.list({ limit: PAGE, ...page }));
  for await (const { id, metadata } of customers) {
    const accountId = metadata[ACCOUNT_KEY];
    if (accountId !== undefined) state.accounts.set(id, accountId);
  }
  const subscriptions = pagesOf((page) =>
    stripe.subscriptions.list({ limit: PAGE, expand: ['data.customer'], ...page }),
  );
  for await (const subscription of subscriptions) addTo(state.subscriptions, idOf(subscription.customer), subscription);
  const invoices = pagesOf((page) => stripe.invoices.list({ status: 'open', limit: PAGE, ...page }));
  for await (const invoice of invoices) addTo(state.openInvoices, idOf(invoice.customer), invoice);
  return state;
}

async function* pagesOf<T extends { id: string }>(
  list: (page: { starting_after?: string }) => Promise<Page<T>>,
): AsyncGenerator<T> {
  let after: string | undefined;
  do {
    const page: Page<T> = await atStripe(() => list(after === undefined ? {} : { starting_after: after }));
    yield* page.data;
    after = page.has_more ? page.data.at(-1)?.id : undefined;
  } while (after !== undefined);
}

function addTo<T>(map: Map<string, T[]>, customer: string | null, value: T): void {
  if (customer === null) return;
  const list = map.get(customer);
  if (list) list.push(value);
  else map.set(customer, [value]);
}
