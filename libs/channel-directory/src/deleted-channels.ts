import { defineStatement } from '@dormouse/database';

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
