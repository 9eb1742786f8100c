/**
 * What old messages leave behind that does not go with them: chats and contacts that never had a message here, and receipts of
 * messages that never arrived. Found by going through a channel page by page along primary keys; callers do that seldom.
 * What stays, and why, is at the top of `old-messages.ts`.
 */
import { defineStatement, transaction, type RegionalDatabase } from '@dormouse/database';
import { lockEventLog } from '@dormouse/event-outbox';
import { removeUnneeded } from './old-messages.js';

type Database = Pick<RegionalDatabase, 'pool'>;

/** What went. */
export interface RestRemoved {
  chats: number;
  contacts: number;
  receipts: number;
}

const pageOf = (table: string, column: string) =>
  defineStatement({
    name: `page-of-${table}`,
    text: `SELECT DISTINCT ${column} AS id FROM ${table} WHERE channel_id = $1 AND ${column} > $2 ORDER BY 1 LIMIT $3`,
    parameters: ['text', 'text', 'int8'],
    row: { id: 'text' },
  });

const CHATS = pageOf('chats', 'id');
const CONTACTS = pageOf('contacts', 'id');
const RECEIPTS = pageOf('receipts', 'key_id');

const REMOVE_RECEIPTS = defineStatement({
  name: 'remove-receipts-without-message',
  text: `
DELETE FROM receipts r USING unnest($2::text[]) AS given(key_id)
WHERE r.channel_id = $1 AND r.key_id = given.key_id AND r.timestamp < $3
  AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.channel_id = $1 AND m.key_id = given.key_id)`,
  parameters: ['text', 'text[]', 'int8'],
});

/**
 * Goes through a channel once.
 * @param sentBeforeS epoch seconds: what was active since then stays
 * @param pause awaited after every page
 */
export async function removeOldRest(
  database: Database,
  { channelId, sentBeforeS, batch }: { channelId: string; sentBeforeS: number; batch: number },
  pause: () => Promise<void>,
): Promise<RestRemoved> {
  const removed: RestRemoved = { chats: 0, contacts: 0, receipts: 0 };
  const unneeded = (chatIds: readonly string[], contactIds: readonly string[]) =>
    transaction(database, async (connection) => {
      await lockEventLog(connection, channelId);
      const gone = await removeUnneeded(connection, { channelId, sentBeforeS, chatIds, contactIds });
      removed.chats += gone.chats;
      removed.contacts += gone.contacts;
    });
  const go = { database, channelId, batch, pause };
  await eachPage(go, CHATS, (ids) => unneeded(ids, []));
  await eachPage(go, CONTACTS, (ids) => unneeded([], ids));
  await eachPage(go, RECEIPTS, async (ids) => {
    removed.receipts += await REMOVE_RECEIPTS.count(database.pool, channelId, ids, sentBeforeS);
  });
  return removed;
}

async function eachPage(
  {
    database,
    channelId,
    batch,
    pause,
  }: { database: Database; channelId: string; batch: number; pause: () => Promise<void> },
  statement: typeof CHATS,
  work: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  for (let after = '', isLast = false; !isLast;) {
    const ids = (await statement.all(database.pool, channelId, after, batch)).map(({ id }) => id);
    if (ids.length > 0) await work(ids);
    after = ids.at(-1) ?? after;
    isLast = ids.length < batch;
    if (!isLast) await pause();
  }
}
