/**
 * For channels that store no content: what a message said goes, the message stays for a while.
 *
 * What stays is what later reports need to find it: ids, chat, author, type, times and status. What goes: the content, the author's
 * name, what answers a recipient's request to send it again, and the files that came with it. An edit that is received later stores
 * content again, and the next pass erases it.
 */
import { defineStatement, transaction, type RegionalDatabase } from '@dormouse/database';
import { lockEventLog } from '@dormouse/event-outbox';
import { endFilesOf, type EndFiles } from '../chats/chat-removals.js';

/** Where a pass through a channel's messages is: the last one that was looked at. */
export interface ErasePlace {
  /** Epoch seconds. */
  timestamp: number;
  id: string;
}

export const FIRST_PLACE: ErasePlace = { timestamp: 0, id: '' };

const ERASE = defineStatement({
  name: 'erase-contents',
  text: `
WITH looked AS (
  SELECT id, timestamp, created_at, content -> type ->> 'id' AS file,
    content <> '{}' OR proto IS NOT NULL OR author_name IS NOT NULL AS has_content
  FROM messages WHERE channel_id = $1 AND (timestamp, id) > ($2, $3) ORDER BY timestamp, id LIMIT $4
), erased AS (
  UPDATE messages SET content = '{}', proto = NULL, author_name = NULL FROM looked
  WHERE messages.channel_id = $1 AND messages.id = looked.id AND looked.has_content AND looked.created_at < $5
  RETURNING messages.id
)
SELECT looked.id, looked.timestamp, looked.file, erased.id IS NOT NULL AS erased
FROM looked LEFT JOIN erased USING (id) ORDER BY looked.timestamp, looked.id`,
  parameters: ['text', 'int8', 'text', 'int8', 'timestamptz'],
  row: { id: 'text', timestamp: 'int8', file: 'text?', erased: 'bool?' },
});

/**
 * Looks at up to `batch` messages of a channel after a place, and erases the content of those that were stored before a time.
 * @returns how many were erased, and where to go on; no place: these were the last
 */
export async function eraseContents(
  database: Pick<RegionalDatabase, 'pool'>,
  endFiles: EndFiles | undefined,
  { channelId, storedBefore, after }: { channelId: string; storedBefore: Date; after: ErasePlace },
  batch: number,
): Promise<{ erased: number; next: ErasePlace | undefined }> {
  return transaction(database, async (connection) => {
    await lockEventLog(connection, channelId);
    const rows = await ERASE.all(connection, channelId, after.timestamp, after.id, batch, storedBefore);
    const erased = rows.filter((row) => row.erased === true);
    await endFilesOf({ connection, channelId }, endFiles, erased);
    const last = rows.length < batch ? undefined : rows.at(-1);
    return { erased: erased.length, next: last && { timestamp: Number(last.timestamp), id: last.id } };
  });
}
