/**
 * A channel's chats, contacts, groups and messages belong to the number it is linked to. They outlive an unlinking, so
 * that the same number finds them again; another number begins with nothing, and what the earlier one had is removed,
 * files that came with messages included.
 * Events are kept: what happened did happen, and webhooks that are behind still hear of it. Uploaded files are the
 * customer's, not the number's.
 */
import type { Fence, RegionalDatabase } from '@dormouse/database';
import { channelTransaction } from './channel-events.js';
import { endFilesOf, REMOVED_COLUMNS, type EndFiles, type RemovedMessage } from './chat-removals.js';

/** So many rows are removed in one transaction; the channel's other writes pass between two. */
const REMOVED_AT_ONCE = 5_000;

/** What is shown first goes first. */
const TABLES = ['chats', 'groups', 'group_syncs', 'contacts', 'messages', 'receipts', 'chat_removals'] as const;

/** What a removed row says: messages say which file came with them. */
const RETURNED: Partial<Record<(typeof TABLES)[number], string>> = { messages: `RETURNING ${REMOVED_COLUMNS}` };

/**
 * The channel was linked to this number. Does nothing when it is the one it was linked to last; after a failure it is
 * called again and goes on where it was.
 * @param phone digits
 * @returns whether there was another number before
 */
export async function beginNumber(
  database: Pick<RegionalDatabase, 'pool'>,
  fence: Fence,
  channelId: string,
  phone: string,
  endFiles?: EndFiles,
): Promise<boolean> {
  const { rows } = await database.pool.query<{ phone: string }>({
    name: 'stored-number',
    text: 'SELECT phone FROM stored_numbers WHERE channel_id = $1',
    values: [channelId],
  });
  const [before] = rows;
  if (before?.phone === phone) return false;
  if (before) {
    for (const table of TABLES) {
      while ((await removeSome(database, fence, channelId, { table, endFiles })) === REMOVED_AT_ONCE);
    }
  }
  await channelTransaction(database, fence, channelId, ({ connection }) =>
    connection.query({
      name: 'store-number',
      text: `INSERT INTO stored_numbers (channel_id, phone) VALUES ($1, $2)
             ON CONFLICT (channel_id) DO UPDATE SET phone = excluded.phone`,
      values: [channelId, phone],
    }),
  );
  return before !== undefined;
}

function removeSome(
  database: Pick<RegionalDatabase, 'pool'>,
  fence: Fence,
  channelId: string,
  { table, endFiles }: { table: (typeof TABLES)[number]; endFiles: EndFiles | undefined },
): Promise<number | null> {
  return channelTransaction(database, fence, channelId, async (transaction) => {
    const { rows, rowCount } = await transaction.connection.query<RemovedMessage>({
      name: `remove-some-${table}`,
      text: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE channel_id = $1 LIMIT $2))
             ${RETURNED[table] ?? ''}`,
      values: [channelId, REMOVED_AT_ONCE],
    });
    if (table === 'messages') await endFilesOf(transaction, endFiles, rows);
    return rowCount;
  });
}
