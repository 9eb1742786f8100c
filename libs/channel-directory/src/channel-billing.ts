/**
 * What billing has not seen yet of a region's channels.
 *
 * A channel is due from the statement that stores its first link, or its deletion, until billing has stored that: the region needs
 * nobody for it, and a billing that is away finds everything when it is back. PostgreSQL away: the driver's error.
 */
import { defineStatement, type Queryable } from '@dormouse/database';

/** A number that was linked for the first time, or whose channel was deleted after it. */
export interface ChannelDueForBilling {
  id: string;
  accountId: string;
  firstLinkedAt: Date;
  /** Null: it exists. */
  deletedAt: Date | null;
}

const DUE = defineStatement({
  name: 'channels-due-for-billing',
  text: `SELECT id, account_id, first_linked_at, deleted_at FROM channels
         WHERE billing_due AND first_linked_at IS NOT NULL ORDER BY first_linked_at, id LIMIT $1`,
  parameters: ['int8'],
  row: { id: 'text', account_id: 'text', first_linked_at: 'timestamptz?', deleted_at: 'timestamptz?' },
});

const CLEAR = defineStatement({
  name: 'clear-billing-due',
  text: `UPDATE channels c SET billing_due = false FROM unnest($1::text[], $2::bool[]) AS seen(id, deleted)
         WHERE c.id = seen.id AND c.billing_due AND (c.deleted_at IS NOT NULL) = seen.deleted`,
  parameters: ['text[]', 'bool[]'],
});

/** The channels that are due, in the order of their first links, at most `limit`. */
export async function channelsDueForBilling(on: Queryable, limit: number): Promise<ChannelDueForBilling[]> {
  const rows = await DUE.all(on, limit);
  return rows.flatMap(({ id, account_id: accountId, first_linked_at: firstLinkedAt, deleted_at: deletedAt }) =>
    firstLinkedAt === null ? [] : [{ id, accountId, firstLinkedAt, deletedAt }],
  );
}

/**
 * Marks channels as seen, as they were read. One that was deleted meanwhile stays due.
 * @returns how many are no longer due
 */
export async function clearBillingDue(on: Queryable, seen: readonly ChannelDueForBilling[]): Promise<number> {
  return CLEAR.count(
    on,
    seen.map(({ id }) => id),
    seen.map(({ deletedAt }) => deletedAt !== null),
  );
}
