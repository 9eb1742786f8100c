/** Everything that is stored here of a channel goes, after its deletion. */
import { defineStatement, type RegionalDatabase } from '@dormouse/database';

/** Tables that may be long, by a part of their key that no two rows of a batch share with others. */
const LONG = { messages: 'id', receipts: 'key_id', chats: 'id', contacts: 'id', number_names: 'typed' } as const;
/** `row_counts` is last: the triggers of the others write it. */
const SHORT = ['groups', 'group_syncs', 'chat_removals', 'stored_numbers', 'row_counts'] as const;

const PURGES = Object.entries(LONG).map(([table, column]) =>
  defineStatement({
    name: `purge-${table}`,
    text: `DELETE FROM ${table} WHERE channel_id = $1
             AND ${column} IN (SELECT ${column} FROM ${table} WHERE channel_id = $1 ORDER BY ${column} LIMIT $2)`,
    parameters: ['text', 'int8'],
  }),
);

const ENDS = SHORT.map((table) =>
  defineStatement({
    name: `purge-${table}`,
    text: `DELETE FROM ${table} WHERE channel_id = $1`,
    parameters: ['text'],
  }),
);

/**
 * Deletes all messages, chats, contacts, groups and receipts of a deleted channel, in batches. May be repeated, and ended anywhere.
 * @param pause awaited after every batch
 * @returns how many rows went
 */
export async function purgeStored(
  { pool }: Pick<RegionalDatabase, 'pool'>,
  channelId: string,
  { batch, pause }: { batch: number; pause: () => Promise<void> },
): Promise<number> {
  let purged = 0;
  for (const statement of PURGES) {
    for (let step = batch; step >= batch;) {
      step = await statement.count(pool, channelId, batch);
      purged += step;
      if (step >= batch) await pause();
    }
  }
  for (const statement of ENDS) purged += await statement.count(pool, channelId);
  return purged;
}
