import { defineStatement, type Queryable } from '@dormouse/database';

const COUNT = defineStatement({
  name: 'count-never-linked-channels',
  text: `SELECT count(*)::int4 AS channels FROM channels
         WHERE account_id = $1 AND deleted_at IS NULL AND first_linked_at IS NULL`,
  parameters: ['text'],
  row: { channels: 'int4?' },
});

/** How many channels an account has in the region that were never linked. */
export async function countNeverLinked(on: Queryable, accountId: string): Promise<number> {
  return (await COUNT.first(on, accountId))?.channels ?? 0;
}
