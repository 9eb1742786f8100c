import type { Connection } from '@dormouse/database';
import type { ChannelSettings } from '@dormouse/gateway-contract';
import { webhookIds } from './webhook-ids.js';

/**
 * Makes the channel's cursors those of the webhooks in `settings`. A new webhook begins after the newest committed
 * event; an event that is being written meanwhile has a later sequence number and is told to it.
 */
export async function keepCursorsOf(
  connection: Connection,
  channelId: string,
  settings: ChannelSettings,
): Promise<void> {
  const ids = webhookIds(settings);
  await connection.query({
    text: 'DELETE FROM webhook_cursors WHERE channel_id = $1 AND webhook_id <> ALL ($2::text[])',
    values: [channelId, ids],
  });
  await connection.query({
    text: 'DELETE FROM webhook_held_events WHERE channel_id = $1 AND webhook_id <> ALL ($2::text[])',
    values: [channelId, ids],
  });
  await connection.query({
    text: `INSERT INTO webhook_cursors (channel_id, webhook_id, account_id, position)
           SELECT $1, id, coalesce((SELECT account_id FROM channels WHERE id = $1), ''),
             coalesce((SELECT last_seq FROM event_sequences WHERE channel_id = $1), 0)
           FROM unnest($2::text[]) AS id
           ON CONFLICT (channel_id, webhook_id) DO NOTHING`,
    values: [channelId, ids],
  });
}
