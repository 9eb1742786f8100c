/**
 * A channel's chats, contacts, groups and messages belong to the number it is linked to. They outlive an unlinking, so
 * that the same number finds them again; another number begins with nothing, and what the earlier one had is removed,
 * files that came with messages included.
 * Events are kept: what happened did happen, and webhooks that are behind still deliver it. Uploaded files are the
 * customer's, not the number's.
 */
import { defineStatement, type Fence, type RegionalDatabase } from '@dormouse/database';
import { channelTransaction, type ChannelTransaction } from '../events/channel-transaction.js';
import { endFilesOf, REMOVED_COLUMNS, REMOVED_ROW, type EndFiles } from '../chats/chat-removals.js';

/** How many rows are removed in one transaction at most; the channel's other writes pass between two. */
const REMOVED_AT_ONCE = 5_000;

const STORED_NUMBER = defineStatement({
  name: 'stored-number',
  text: 'SELECT phone FROM stored_numbers WHERE channel_id = $1',
  parameters: ['text'],
  row: { phone: 'text' },
});

const STORE_NUMBER = defineStatement({
  name: 'store-number',
  text: `INSERT INTO stored_numbers (channel_id, phone) VALUES ($1, $2)
         ON CONFLICT (channel_id) DO UPDATE SET phone = excluded.phone`,
  parameters: ['text', 'text'],
});

const some = (table: string): string =>
  `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE channel_id = $1 LIMIT $2))`;

const removeSome = (table: string) =>
  defineStatement({ name: `remove-some-${table}`, text: some(table), parameters: ['text', 'int8'] });

const REMOVE_MESSAGES = defineStatement({
  name: 'remove-some-messages',
  text: `${some('messages')} RETURNING ${REMOVED_COLUMNS}`,
  parameters: ['text', 'int8'],
  row: REMOVED_ROW,
});

type Removal = (transaction: ChannelTransaction, endFiles: EndFiles | undefined) => Promise<number>;

const removalFrom = (table: string): Removal => {
  const statement = removeSome(table);
  return ({ connection, channelId }) => statement.count(connection, channelId, REMOVED_AT_ONCE);
};

const removeMessages: Removal = async (transaction, endFiles) => {
  const rows = await REMOVE_MESSAGES.all(transaction.connection, transaction.channelId, REMOVED_AT_ONCE);
  await endFilesOf(transaction, endFiles, rows);
  return rows.length;
};

/** What is shown first goes first. */
const REMOVALS: readonly Removal[] = [
  removalFrom('chats'),
  removalFrom('groups'),
  removalFrom('group_syncs'),
  removalFrom('contacts'),
  removeMessages,
  removalFrom('receipts'),
  removalFrom('chat_removals'),
];

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
  const before = await STORED_NUMBER.first(database.pool, channelId);
  if (before?.phone === phone) return false;
  if (before) {
    for (const remove of REMOVALS) {
      const step = () => channelTransaction(database, fence, channelId, (transaction) => remove(transaction, endFiles));
      while ((await step()) === REMOVED_AT_ONCE);
    }
  }
  await channelTransaction(database, fence, channelId, ({ connection }) =>
    STORE_NUMBER.count(connection, channelId, phone),
  );
  return before !== undefined;
}
