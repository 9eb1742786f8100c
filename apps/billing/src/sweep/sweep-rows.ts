import { defineStatement, narrowed, type Queryable, type RowOf } from '@dormouse/database';
import type { Declined } from '../buying/quantity-plan.js';

const ACCOUNTS = defineStatement({
  name: 'swept-billing-accounts',
  scope: 'global',
  text: `SELECT a.account_id, a.stripe_customer_id, a.fingerprint, a.buy_limit, a.declined,
           coalesce(a.refreshed_at > $3, false) AS is_fresh,
           (SELECT count(*) FROM billed_numbers n WHERE n.account_id = a.account_id AND n.ended_at IS NULL)::int4 AS numbers,
           (SELECT coalesce(sum(g.numbers), 0) FROM free_number_gifts g
            WHERE g.account_id = a.account_id AND (g.ends_at IS NULL OR g.ends_at > $4))::int4 AS given
         FROM billing_accounts a
         WHERE a.stripe_customer_id IS NOT NULL AND a.account_id > $1 ORDER BY a.account_id LIMIT $2`,
  parameters: ['text', 'int8', 'timestamptz', 'timestamptz'],
  row: {
    account_id: 'text',
    stripe_customer_id: 'text?',
    fingerprint: 'text?',
    buy_limit: 'int4',
    declined: narrowed<Declined | null>('jsonb?'),
    is_fresh: 'bool?',
    numbers: 'int4?',
    given: 'int4?',
  },
});

const NOW = defineStatement({
  name: 'time-of-billing-sweep',
  scope: 'global',
  text: 'SELECT now() AS now',
  parameters: [],
  row: { now: 'timestamptz?' },
});

export type SweptRow = RowOf<typeof ACCOUNTS>;

const PAGE = 1_000;

/**
 * Every account that has a customer.
 * @param startedAt facts that were read later are newer than what the sweep compares them with
 */
export async function* sweptAccounts(on: Queryable, startedAt: Date, now: Date): AsyncGenerator<SweptRow> {
  let after = '';
  for (;;) {
    const rows = await ACCOUNTS.all(on, after, PAGE, startedAt, now);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.account_id;
  }
}

/** The time of the database, which rows are stamped with. */
export async function databaseTime(on: Queryable): Promise<Date> {
  return (await NOW.first(on))?.now ?? new Date();
}
