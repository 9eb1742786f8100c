import { defineStatement, narrowed, type Queryable, type RowOf } from '@dormouse/database';
import type { Declined } from '../buying/quantity-plan.js';
import type { CustomerFacts } from './subscription-facts.js';

/** Facts of Stripe that are shown and compared, beside the columns that standings depend on. */
export type StoredFacts = CustomerFacts;

const COLUMNS = `account_id, stripe_customer_id, subscription_id, subscription_status, bought, current_period_end,
  cancel_at_period_end, oldest_unpaid_at, buy_limit, facts, fingerprint, declined, stopped_for, refreshed_at,
  coalesce(watched_until > now(), false) AS is_watched`;
const ROW = {
  account_id: 'text',
  stripe_customer_id: 'text?',
  subscription_id: 'text?',
  subscription_status: 'text?',
  bought: 'int4',
  current_period_end: 'timestamptz?',
  cancel_at_period_end: 'bool',
  oldest_unpaid_at: 'timestamptz?',
  buy_limit: 'int4',
  facts: narrowed<StoredFacts | null>('jsonb?'),
  fingerprint: 'text?',
  declined: narrowed<Declined | null>('jsonb?'),
  stopped_for: 'text?',
  refreshed_at: 'timestamptz?',
  is_watched: 'bool?',
} as const;

const FIND = defineStatement({
  name: 'find-billing-account',
  scope: 'global',
  text: `SELECT ${COLUMNS} FROM billing_accounts WHERE account_id = $1`,
  parameters: ['text'],
  row: ROW,
});

const LOCK = defineStatement({
  name: 'lock-billing-account',
  scope: 'global',
  text: `SELECT ${COLUMNS} FROM billing_accounts WHERE account_id = $1 FOR UPDATE`,
  parameters: ['text'],
  row: ROW,
});

const ADD = defineStatement({
  name: 'add-billing-account',
  scope: 'global',
  text: 'INSERT INTO billing_accounts (account_id) VALUES ($1) ON CONFLICT (account_id) DO NOTHING',
  parameters: ['text'],
});

const SET_CUSTOMER = defineStatement({
  name: 'set-billing-customer',
  scope: 'global',
  text: `INSERT INTO billing_accounts (account_id, stripe_customer_id) VALUES ($1, $2)
         ON CONFLICT (account_id) DO UPDATE SET stripe_customer_id = $2
         WHERE billing_accounts.stripe_customer_id IS NULL`,
  parameters: ['text', 'text'],
});

const ACCOUNT_OF = defineStatement({
  name: 'account-of-billing-customer',
  scope: 'global',
  text: 'SELECT account_id FROM billing_accounts WHERE stripe_customer_id = $1',
  parameters: ['text'],
  row: { account_id: 'text' },
});

const SET_FACTS = defineStatement({
  name: 'set-billing-facts',
  scope: 'global',
  text: `UPDATE billing_accounts SET
           subscription_id = $2, subscription_status = $3, paused_kind = $4, bought = $5, current_period_start = $6,
           current_period_end = $7, cancel_at_period_end = $8, oldest_unpaid_at = $9, open_invoice_url = $10,
           facts = $11, fingerprint = $12, declined = $13, stopped_for = $14, refreshed_at = now(),
           facts_as_of = $16,
           dirty_since = CASE WHEN $15::bool THEN coalesce(dirty_since, now()) ELSE dirty_since END
         WHERE account_id = $1`,
  parameters: [
    ...(['text', 'text?', 'text?', 'text?', 'int4', 'timestamptz?', 'timestamptz?', 'bool'] as const),
    ...(['timestamptz?', 'text?', 'jsonb', 'text', 'jsonb?', 'text?', 'bool', 'timestamptz'] as const),
  ],
});

const SET_LIMIT = defineStatement({
  name: 'set-buy-limit',
  scope: 'global',
  text: `INSERT INTO billing_accounts (account_id, buy_limit) VALUES ($1, $2)
         ON CONFLICT (account_id) DO UPDATE SET buy_limit = $2, declined = NULL`,
  parameters: ['text', 'int4'],
});

const SET_DECLINED = defineStatement({
  name: 'set-declined-purchase',
  scope: 'global',
  text: 'UPDATE billing_accounts SET declined = $2 WHERE account_id = $1',
  parameters: ['text', 'jsonb'],
});

const WATCH = defineStatement({
  name: 'watch-billing-account',
  scope: 'global',
  text: `UPDATE billing_accounts SET watched_until = now() + interval '2 hours' WHERE account_id = $1`,
  parameters: ['text'],
});

export type BillingAccountRow = RowOf<typeof FIND>;

/** What is written of an account's facts. */
export interface NewFacts {
  accountId: string;
  facts: CustomerFacts;
  fingerprint: string;
  declined: Declined | null;
  stoppedFor: string | null;
  /** Standings may differ by it. */
  changed: boolean;
  /** When they were read, by billing's clock. */
  asOfMs: number;
}

export function findBillingAccount(on: Queryable, accountId: string): Promise<BillingAccountRow | undefined> {
  return FIND.first(on, accountId);
}

/** The row, locked until the end of the transaction. */
export function lockBillingAccount(on: Queryable, accountId: string): Promise<BillingAccountRow | undefined> {
  return LOCK.first(on, accountId);
}

export async function addBillingAccount(on: Queryable, accountId: string): Promise<void> {
  await ADD.count(on, accountId);
}

/** Sets the customer of an account that has none. @returns whether it was set */
export async function setBillingCustomer(on: Queryable, accountId: string, customerId: string): Promise<boolean> {
  return (await SET_CUSTOMER.count(on, accountId, customerId)) === 1;
}

export async function accountOfCustomer(on: Queryable, customerId: string): Promise<string | undefined> {
  return (await ACCOUNT_OF.first(on, customerId))?.account_id;
}

/** Sets the limit of purchases without asking; what the card refused before may be tried again. */
export async function setBuyLimit(on: Queryable, accountId: string, limit: number): Promise<void> {
  await SET_LIMIT.count(on, accountId, limit);
}

/** Reads the account's facts often from now on: a page of Stripe was opened, and something may be paid there. */
export async function watchBillingAccount(on: Queryable, accountId: string): Promise<void> {
  await WATCH.count(on, accountId);
}

/** Remembers a purchase that was refused at once. */
export async function setDeclined(on: Queryable, accountId: string, declined: Declined): Promise<void> {
  await SET_DECLINED.count(on, accountId, JSON.stringify(declined));
}

/** Stores the facts of an account's customer, and that standings are to be computed anew. */
export async function setFacts(on: Queryable, { accountId, facts, changed, ...rest }: NewFacts): Promise<void> {
  const { subscription, overdue, pendingInvoice } = facts;
  const [oldest] = overdue;
  await SET_FACTS.count(
    on,
    accountId,
    subscription?.id ?? null,
    subscription?.status ?? null,
    subscription?.pausedKind ?? null,
    subscription?.bought ?? 0,
    subscription ? dateOf(subscription.periodStart) : null,
    subscription ? dateOf(subscription.periodEnd) : null,
    subscription?.cancelAtPeriodEnd ?? false,
    oldest ? dateOf(oldest.finalizedAt) : null,
    (oldest ?? pendingInvoice)?.url ?? null,
    JSON.stringify(facts),
    rest.fingerprint,
    rest.declined && JSON.stringify(rest.declined),
    rest.stoppedFor,
    changed,
    new Date(rest.asOfMs),
  );
}

/** A time of Stripe: epoch seconds. */
export function dateOf(epochS: number): Date {
  return new Date(epochS * 1_000);
}
