import { defineStatement, type RowOf } from '@dormouse/database';

export const ADD_GIFT = defineStatement({
  name: 'add-free-number-gift',
  scope: 'global',
  text: `INSERT INTO free_number_gifts (id, account_id, numbers, reason, granted_by, created_at, ends_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
  parameters: ['text', 'text', 'int4', 'text', 'text', 'timestamptz', 'timestamptz?'],
});

/** Ends what is in effect; what would have begun later does not exist. */
export const END_GIFTS = defineStatement({
  name: 'end-free-number-gifts',
  scope: 'global',
  text: `UPDATE free_number_gifts SET ends_at = $2 WHERE account_id = $1 AND (ends_at IS NULL OR ends_at > $2)`,
  parameters: ['text', 'timestamptz'],
});

/** The newest first; of the same time, the one that replaced the other. */
export const LIST_GIFTS = defineStatement({
  name: 'list-free-number-gifts',
  scope: 'global',
  text: `SELECT id, numbers, reason, granted_by, created_at, ends_at FROM free_number_gifts
         WHERE account_id = $1 ORDER BY created_at DESC, ends_at DESC, id DESC LIMIT 100`,
  parameters: ['text'],
  row: {
    id: 'text',
    numbers: 'int4',
    reason: 'text',
    granted_by: 'text',
    created_at: 'timestamptz',
    ends_at: 'timestamptz?',
  },
});

export type GiftRow = RowOf<typeof LIST_GIFTS>;
