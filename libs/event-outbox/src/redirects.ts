import { defineStatement, transaction, type RegionalDatabase } from '@dormouse/database';
import { lockEventLog, type NewEvent } from './append-events.js';
import type { Claim } from './claim.js';

const RECORD_REDIRECT = defineStatement({
  name: 'record-redirect',
  text: `UPDATE webhook_cursors SET redirects_to = $4
         WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 AND redirects_to IS NULL`,
  parameters: ['text', 'text', 'text', 'text'],
});

/**
 * Stores where a receiver redirects to, with the event that notifies the customer: of the first redirect only, and only
 * under the lease of the claim.
 * @returns whether it was stored
 */
export async function recordRedirect(
  database: Pick<RegionalDatabase, 'pool'>,
  { channelId, webhookId, lease }: Pick<Claim, 'channelId' | 'webhookId' | 'lease'>,
  to: string,
  notice: NewEvent,
): Promise<boolean> {
  return transaction(database, async (connection) => {
    const events = await lockEventLog(connection, channelId);
    if ((await RECORD_REDIRECT.count(connection, channelId, webhookId, lease, to)) !== 1) return false;
    await events.append([notice]);
    return true;
  });
}
