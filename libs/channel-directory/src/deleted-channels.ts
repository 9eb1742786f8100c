import { defineStatement, type Queryable } from '@dormouse/database';

/**
 * Declares the statement that finds channels that were deleted and have something left, as its caller alone knows.
 * @param hasRest condition of the caller on a channel `c`
 */
export function defineDeletedChannelSearch(name: string, hasRest: string) {
  return defineStatement({
    name,
    text: `SELECT c.id FROM channels c WHERE c.deleted_at IS NOT NULL AND ${hasRest}`,
    parameters: [],
    row: { id: 'text' },
  });
}

const ERASE = defineStatement({
  name: 'erase-deleted-channels',
  text: `UPDATE channels SET name = '', settings = '{}', settings_key_id = NULL, phone = NULL, lid = NULL, device_id = NULL,
           push_name = NULL
         WHERE account_id = $1 AND deleted_at IS NOT NULL`,
  parameters: ['text'],
});

/**
 * Erases what the deleted channels of an account still show of people: names, settings, numbers. What is left is that they existed.
 * @param on a regional database
 * @returns how many channels of the account are deleted in the region
 */
export function eraseDeletedChannels(on: Queryable, accountId: string): Promise<number> {
  return ERASE.count(on, accountId);
}
