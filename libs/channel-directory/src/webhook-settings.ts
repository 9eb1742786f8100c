import { defineStatement, type RegionalDatabase } from '@dormouse/database';
import { settingsOf, type ChannelSettings } from '@dormouse/gateway-contract';
import { openSettings } from './sealed-settings.js';
import type { ChannelSeals } from './sealed-values.js';
import { openSecret, VALID_SECRETS } from './webhook-secrets.js';

const WEBHOOK_SETTINGS = defineStatement({
  name: 'webhook-settings',
  text: `SELECT settings, ARRAY(SELECT secret ${VALID_SECRETS}) AS secrets
         FROM channels WHERE id = $1 AND deleted_at IS NULL`,
  parameters: ['text'],
  row: { settings: 'jsonb', secrets: 'text[]' },
});

/**
 * What the webhooks of a channel are posted with, in one query: its settings, and the secrets that are valid now, newest
 * first; none while the channel has never had one. Undefined when there is no such live channel.
 * @throws {SealedValueError}
 */
export async function readWebhookSettings(
  pool: RegionalDatabase['pool'],
  channelId: string,
  seals?: ChannelSeals,
): Promise<{ settings: ChannelSettings; secrets: string[] } | undefined> {
  const row = await WEBHOOK_SETTINGS.first(pool, channelId);
  return (
    row && {
      settings: settingsOf(openSettings(seals, channelId, row.settings)),
      secrets: row.secrets.map((secret) => openSecret(seals, channelId, secret)),
    }
  );
}
