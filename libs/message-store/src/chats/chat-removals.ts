/**
 * Removing the messages of a chat, however long it is.
 *
 * Guarantees: what a chat shows, the event of it, the removal of its first messages and a line of `chat_removals`
 * about the others are one transaction. The others go in steps, between which the channel's other writes pass, and the
 * last step takes the line along. A worker that dies in between leaves the line: the channel's next socket goes on from
 * it, in any worker. A line names what it is about by when it was stored or sent, so what comes later stays.
 * With PostgreSQL away nothing is removed, and the line stays.
 */
import { defineStatement, type Connection, type Fence, type RegionalDatabase } from '@dormouse/database';
import { messageIdOfMedia } from '@dormouse/gateway-contract';
import { channelTransaction, type ChannelTransaction } from '../events/channel-transaction.js';

/** How many messages are removed in one transaction at most. */
const REMOVED_AT_ONCE = 2_000;

/**
 * Ends the files that came with messages, in the transaction that removes those.
 * @param ids media ids; there need not be a file of each
 */
export type EndFiles = (connection: Connection, channelId: string, ids: readonly string[]) => Promise<void>;

/** Which messages of a chat go. */
interface Removal {
  chatId: string;
  /** Only what was not sent after this (epoch seconds). */
  sentUntilS: number | null;
  /** Only what was stored by then. */
  storedUntil: Date | null;
}

/** A message that was removed, and the id of the file in its content. */
export interface RemovedMessage {
  id: string;
  file: string | null;
}

/** The columns of {@link RemovedMessage}. */
export const REMOVED_COLUMNS = "messages.id, messages.content -> messages.type ->> 'id' AS file";
export const REMOVED_ROW = { id: 'text', file: 'text?' } as const;

const REMOVE_MESSAGES = defineStatement({
  name: 'remove-messages-of-chat',
  text: `
WITH doomed AS (
  SELECT id, key_id FROM messages
  WHERE channel_id = $1 AND chat_id = $2 AND timestamp <= coalesce($4::bigint, timestamp)
    AND created_at <= coalesce($5::timestamptz, created_at) LIMIT $3
), receipts_gone AS (
  DELETE FROM receipts USING doomed WHERE receipts.channel_id = $1 AND receipts.key_id = doomed.key_id
)
DELETE FROM messages USING doomed WHERE messages.channel_id = $1 AND messages.id = doomed.id
RETURNING ${REMOVED_COLUMNS}`,
  parameters: ['text', 'text', 'int8', 'int8?', 'timestamptz?'],
  row: REMOVED_ROW,
});

const BEGIN = defineStatement({
  name: 'begin-chat-removal',
  text: `INSERT INTO chat_removals (channel_id, chat_id, said_until_s, stored_until)
         SELECT $1, $2, $3, max(created_at) FROM messages WHERE channel_id = $1 AND chat_id = $2
         HAVING count(*) > 0`,
  parameters: ['text', 'text', 'int8?'],
});

const BEGUN = defineStatement({
  name: 'chat-removals',
  text: 'SELECT id, chat_id, said_until_s, stored_until FROM chat_removals WHERE channel_id = $1 ORDER BY id',
  parameters: ['text'],
  row: { id: 'int8', chat_id: 'text', said_until_s: 'int8?', stored_until: 'timestamptz?' },
});

const END = defineStatement({
  name: 'end-chat-removal',
  text: 'DELETE FROM chat_removals WHERE channel_id = $1 AND id = $2',
  parameters: ['text', 'int8'],
});

/**
 * Removes the first messages of a chat, and stores that the others are to go.
 * @param sentUntilS only those that were not sent after this (epoch seconds)
 * @returns how many are gone; what is left is for {@link finishRemovals}
 */
export async function beginRemoval(
  transaction: ChannelTransaction,
  endFiles: EndFiles | undefined,
  { chatId, sentUntilS = null }: { chatId: string; sentUntilS?: number | null | undefined },
): Promise<number> {
  const { connection, channelId } = transaction;
  const removed = await removeSome(transaction, endFiles, { chatId, sentUntilS, storedUntil: null });
  if (removed < REMOVED_AT_ONCE) return removed;
  await BEGIN.count(connection, channelId, chatId, sentUntilS);
  return removed;
}

/**
 * Goes on with every removal of the channel that was begun, to its end.
 * @throws {FencedError} when the shard has a newer owner, which does it then
 */
export async function finishRemovals(
  database: Pick<RegionalDatabase, 'pool'>,
  endFiles: EndFiles | undefined,
  { fence, channelId }: { fence: Fence; channelId: string },
): Promise<void> {
  const rows = await BEGUN.all(database.pool, channelId);
  for (const row of rows) {
    const removal: Removal = {
      chatId: row.chat_id,
      sentUntilS: row.said_until_s === null ? null : Number(row.said_until_s),
      storedUntil: row.stored_until,
    };
    for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE;) {
      removed = await channelTransaction(database, fence, channelId, async (transaction) => {
        const some = await removeSome(transaction, endFiles, removal);
        if (some < REMOVED_AT_ONCE) await END.count(transaction.connection, channelId, row.id);
        return some;
      });
    }
  }
}

/** @returns how many were removed */
async function removeSome(
  transaction: ChannelTransaction,
  endFiles: EndFiles | undefined,
  { chatId, sentUntilS, storedUntil }: Removal,
): Promise<number> {
  const { connection, channelId } = transaction;
  const rows = await REMOVE_MESSAGES.all(connection, channelId, chatId, REMOVED_AT_ONCE, sentUntilS, storedUntil);
  await endFilesOf(transaction, endFiles, rows);
  return rows.length;
}

/** Ends the files that came with removed messages. One that was only sent on with them came with another message. */
export async function endFilesOf(
  { connection, channelId }: Pick<ChannelTransaction, 'connection' | 'channelId'>,
  endFiles: EndFiles | undefined,
  removed: readonly RemovedMessage[],
): Promise<void> {
  const files = removed.flatMap(({ id, file }) => (file !== null && messageIdOfMedia(file) === id ? [file] : []));
  if (files.length > 0) await endFiles?.(connection, channelId, files);
}
