/** Accounts that pay, at the simulated Stripe and in the database, as billing would have stored them: for the sweep. */
import { customerFacts, fingerprintOf } from '@dormouse/billing/subscription-facts';
import type { Stack } from '@dormouse/stack';
import pg from 'pg';
import { progress } from './bench-stack.js';
import { time } from './latencies.js';
import type { SimulatedStripe } from './simulated-stripe.js';

type StripeSubscription = Parameters<typeof customerFacts>[0][number];

const MAKING_AT_ONCE = 16;
const ROWS_AT_ONCE = 1_000;
const PRICE_LOOKUP_KEY = 'dormouse_number_monthly';
const A_YEAR_DAYS = '365';

/** Makes customers with a subscription of one number each, and their rows. @returns subscriptions, the oldest first */
export async function makePayingAccounts(
  { databases }: Stack,
  stripe: SimulatedStripe,
  count: number,
): Promise<StripeSubscription[]> {
  const prices = await stripe.api<{ data: { id: string }[] }>('GET', '/v1/prices', {
    'lookup_keys[0]': PRICE_LOOKUP_KEY,
  });
  const price = prices.data[0]?.id;
  if (price === undefined) throw new Error('Stripe has no price: it was not set up');
  progress(`making ${count} subscriptions`);
  await time((index) => makeSubscription(stripe, accountOf(index), price), { total: count, inFlight: MAKING_AT_ONCE });
  const subscriptions: StripeSubscription[] = [];
  for await (const subscription of stripe.all<StripeSubscription>('/v1/subscriptions')) {
    subscriptions.unshift(subscription);
  }
  progress('writing what billing knows of them');
  const connection = new pg.Client({ connectionString: databases.global });
  await connection.connect();
  try {
    for (let from = 0; from < subscriptions.length; from += ROWS_AT_ONCE) {
      await writeRows(connection, subscriptions.slice(from, from + ROWS_AT_ONCE));
    }
    await connection.query('ANALYZE');
  } finally {
    await connection.end();
  }
  return subscriptions;
}

/** How many accounts were read from Stripe one by one since then. */
export async function readSince({ databases }: Stack, since: Date): Promise<number> {
  const connection = new pg.Client({ connectionString: databases.global });
  await connection.connect();
  try {
    const text = 'SELECT count(*)::int AS count FROM billing_accounts WHERE refreshed_at > $1';
    const { rows } = await connection.query<{ count: number }>(text, [since]);
    return rows[0]?.count ?? 0;
  } finally {
    await connection.end();
  }
}

function accountOf(index: number): string {
  return `acc_swept_${String(index).padStart(6, '0')}`;
}

/** With a trial there is nothing to pay for: the shortest way to a subscription that counts. */
async function makeSubscription(stripe: SimulatedStripe, accountId: string, price: string): Promise<void> {
  const metadata = { 'metadata[account_id]': accountId };
  const { id } = await stripe.api<{ id: string }>('POST', '/v1/customers', { name: accountId, ...metadata });
  await stripe.api('POST', '/v1/subscriptions', {
    customer: id,
    'items[0][price]': price,
    'items[0][quantity]': '1',
    trial_period_days: A_YEAR_DAYS,
    ...metadata,
  });
}

/** One free number and one that is paid for, of each account. */
async function writeRows(connection: pg.Client, subscriptions: readonly StripeSubscription[]): Promise<void> {
  const rows = subscriptions.map((one) => {
    const facts = customerFacts([one], []);
    const { periodStart = 0, periodEnd = 0, bought = 0 } = facts.subscription ?? {};
    return {
      account_id: one.metadata['account_id'],
      customer: one.customer,
      subscription: one.id,
      status: one.status,
      fingerprint: fingerprintOf(facts),
      facts,
      bought,
      period_start: periodStart,
      period_end: periodEnd,
    };
  });
  const given = JSON.stringify(rows);
  const read = `FROM jsonb_to_recordset($1::jsonb) AS r(account_id text, customer text, subscription text, status text,
    fingerprint text, facts jsonb, bought int, period_start float8, period_end float8)`;
  await connection.query(`INSERT INTO accounts (id, name) SELECT account_id, account_id ${read}`, [given]);
  await connection.query(
    `INSERT INTO billing_accounts (account_id, stripe_customer_id, subscription_id, subscription_status, bought,
       current_period_start, current_period_end, facts, fingerprint, refreshed_at)
     SELECT account_id, customer, subscription, status, bought, to_timestamp(period_start), to_timestamp(period_end),
       facts, fingerprint, now() ${read}`,
    [given],
  );
  await connection.query(
    `INSERT INTO billed_numbers (channel_id, account_id, region, first_linked_at)
     SELECT account_id || '-' || n, account_id, 'sg', now() FROM (SELECT account_id ${read}) a, generate_series(1, 2) n`,
    [given],
  );
}
