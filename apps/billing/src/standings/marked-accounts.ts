import { defineStatement, type Queryable } from '@dormouse/database';

const MARK = defineStatement({
  name: 'mark-accounts-dirty',
  scope: 'global',
  text: `INSERT INTO billing_accounts (account_id, dirty_since)
         SELECT DISTINCT given.id, now() FROM unnest($1::text[]) AS given(id) ORDER BY given.id
         ON CONFLICT (account_id) DO UPDATE SET dirty_since = coalesce(billing_accounts.dirty_since, now())`,
  parameters: ['text[]'],
});

/**
 * Marks accounts whose facts have changed: their standings are computed anew soon. In the transaction of the change; it holds the
 * accounts' rows until its end, so nobody computes from half of it.
 */
export async function markAccountsDirty(on: Queryable, accountIds: readonly string[]): Promise<void> {
  if (accountIds.length > 0) await MARK.count(on, accountIds);
}
