/**
 * Brings what is stored of a channel's secrets under the current key: what was stored in the clear before there were keys,
 * and what is sealed under a former one. The channel's row is locked meanwhile, so that no change of it is lost.
 */
import { defineStatement, transaction, type Connection, type RegionalDatabase } from '@dormouse/database';
import { settingsOf } from '@dormouse/gateway-contract';
import { openSettings, sealSettings } from './sealed-settings.js';
import type { ChannelSeals } from './sealed-values.js';
import { SECRET_PURPOSE } from './webhook-secrets.js';

/** Replaces the settings of a channel, and names the key that their secrets are sealed under. */
export const SET_SETTINGS = defineStatement({
  name: 'set-settings',
  text: 'UPDATE channels SET settings = $2, settings_key_id = $3 WHERE id = $1',
  parameters: ['text', 'jsonb', 'text?'],
});

const SETTINGS_TO_RESEAL = defineStatement({
  name: 'settings-to-reseal',
  text: `SELECT settings FROM channels WHERE id = $1 AND settings_key_id IS DISTINCT FROM $2 AND settings <> '{}'::jsonb
         FOR NO KEY UPDATE`,
  parameters: ['text', 'text'],
  row: { settings: 'jsonb' },
});

const SECRETS_TO_RESEAL = defineStatement({
  name: 'secrets-to-reseal',
  text: 'SELECT id, secret FROM webhook_secrets WHERE channel_id = $1 AND key_id IS DISTINCT FROM $2 FOR UPDATE',
  parameters: ['text', 'text'],
  row: { id: 'int8', secret: 'text' },
});

const SET_SECRET = defineStatement({
  name: 'set-secret',
  text: 'UPDATE webhook_secrets SET secret = $2, key_id = $3 WHERE id = $1',
  parameters: ['int8', 'text', 'text'],
});

/** Condition on a channel `c`: something of it is to be sealed anew, `$n` being the id of the current key. */
export function needsReseal(parameter: string): string {
  return `((c.settings_key_id IS DISTINCT FROM ${parameter} AND c.settings <> '{}'::jsonb) OR EXISTS (
    SELECT 1 FROM webhook_secrets w WHERE w.channel_id = c.id AND w.key_id IS DISTINCT FROM ${parameter}))`;
}

/** Doing it again is harmless. @throws {SealedValueError} when a key is missing; nothing is changed then */
export async function resealChannel(
  database: Pick<RegionalDatabase, 'pool'>,
  seals: ChannelSeals,
  channelId: string,
): Promise<void> {
  const { currentId } = seals;
  if (currentId === undefined) return;
  await transaction(database, async (connection) => {
    await resealSettings(connection, seals, channelId, currentId);
    await resealSecrets(connection, seals, channelId, currentId);
  });
}

async function resealSettings(
  connection: Connection,
  seals: ChannelSeals,
  channelId: string,
  currentId: string,
): Promise<void> {
  const row = await SETTINGS_TO_RESEAL.first(connection, channelId, currentId);
  if (!row) return;
  const settings = settingsOf(openSettings(seals, channelId, row.settings));
  await SET_SETTINGS.count(connection, channelId, JSON.stringify(sealSettings(seals, channelId, settings)), currentId);
}

async function resealSecrets(
  connection: Connection,
  seals: ChannelSeals,
  channelId: string,
  currentId: string,
): Promise<void> {
  const rows = await SECRETS_TO_RESEAL.all(connection, channelId, currentId);
  for (const { id, secret } of rows) {
    const plain = seals.open(channelId, SECRET_PURPOSE, secret);
    await SET_SECRET.count(connection, id, seals.seal(channelId, SECRET_PURPOSE, plain), currentId);
  }
}
