/** Which webhooks a channel has, as far as its events go: the places of those it has, and what ends with those it had. */
import { defineStatement, type Connection } from '@dormouse/database';

const DELETE_OTHER_CURSORS = defineStatement({
  name: 'delete-other-cursors',
  text: 'DELETE FROM webhook_cursors WHERE channel_id = $1 AND webhook_id <> ALL ($2::text[])',
  parameters: ['text', 'text[]'],
});

const DELETE_OTHER_HELD = defineStatement({
  name: 'delete-other-held-events',
  text: 'DELETE FROM webhook_held_events WHERE channel_id = $1 AND webhook_id <> ALL ($2::text[])',
  parameters: ['text', 'text[]'],
});

const ADD_CURSORS = defineStatement({
  name: 'add-cursors',
  text: `INSERT INTO webhook_cursors (channel_id, webhook_id, account_id, position)
         SELECT $1, id, $3, coalesce((SELECT last_seq FROM event_sequences WHERE channel_id = $1), 0)
         FROM unnest($2::text[]) AS id
         ON CONFLICT (channel_id, webhook_id) DO NOTHING`,
  parameters: ['text', 'text[]', 'text'],
});

/** What is stored of a channel's webhooks; it ends with the channel. */
const OF_CHANNEL = ['webhook_cursors', 'webhook_held_events', 'dead_letters', 'webhook_attempts'].map((table) =>
  defineStatement({
    name: `delete-${table}-of-channel`,
    text: `DELETE FROM ${table} WHERE channel_id = $1`,
    parameters: ['text'],
  }),
);

/**
 * Makes these the webhooks of a channel, in the transaction of its settings. A new webhook begins after the newest
 * committed event; an event that is being written meanwhile has a later number and is delivered to it.
 */
export async function setWebhooks(
  connection: Connection,
  { channelId, accountId, webhookIds }: { channelId: string; accountId: string; webhookIds: readonly string[] },
): Promise<void> {
  await DELETE_OTHER_CURSORS.count(connection, channelId, webhookIds);
  await DELETE_OTHER_HELD.count(connection, channelId, webhookIds);
  await ADD_CURSORS.count(connection, channelId, webhookIds, accountId);
}

/**
 * Ends all webhooks of a channel, in the transaction that deletes it. Its events go in the next round
 * that deletes what is left of deleted channels (`purgeEvents`), however old they are.
 */
export async function endWebhooks(connection: Connection, channelId: string): Promise<void> {
  for (const statement of OF_CHANNEL) await statement.count(connection, channelId);
}
