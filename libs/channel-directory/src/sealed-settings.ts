/**
 * Which of a channel's settings are secret, and so sealed before they are stored: the addresses of webhooks (many carry a
 * token in their path or query) and the values of their headers, the proxies, the pager. The rest stays readable.
 */
import type { ChannelSettings } from '@dormouse/gateway-contract';
import { isSealed, type ChannelSeals } from './sealed-values.js';

type Change = (purpose: string, text: string) => string;

const SECRET_FIELDS = ['proxy', 'mobile_proxy', 'on_call_pager'] as const;

/** The record as it is stored. */
export function sealSettings(seals: ChannelSeals, channelId: string, settings: ChannelSettings): object {
  return eachSecretOf({ ...settings }, (purpose, text) => seals.seal(channelId, purpose, text));
}

/**
 * A stored record with its secrets in the clear.
 * @throws {SealedValueError} if one secret cannot be opened: with an incomplete record the dispatcher would drop a webhook
 */
export function openSettings(seals: ChannelSeals | undefined, channelId: string, stored: unknown): unknown {
  return eachSecret(stored, (purpose, text) => {
    if (seals) return seals.open(channelId, purpose, text);
    if (isSealed(text)) throw new Error(`the ${purpose} of channel ${channelId} is sealed, and there are no keys here`);
    return text;
  });
}

/** A copy whose secrets are replaced; of whatever shape the record is. */
function eachSecret(record: unknown, change: Change): unknown {
  return isRecord(record) ? eachSecretOf(record, change) : record;
}

function eachSecretOf(record: Record<string, unknown>, change: Change): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...record };
  for (const name of SECRET_FIELDS) if (name in record) copy[name] = changed(record[name], name, change);
  if (Array.isArray(record['webhooks'])) {
    copy['webhooks'] = record['webhooks'].map((entry: unknown) =>
      isRecord(entry) ? eachOfWebhook(entry, change) : entry,
    );
  }
  return copy;
}

function eachOfWebhook(entry: Record<string, unknown>, change: Change): Record<string, unknown> {
  const { headers } = entry;
  return {
    ...entry,
    url: changed(entry['url'], 'webhooks.url', change),
    ...(isRecord(headers) && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, changed(value, `webhooks.headers.${name}`, change)]),
      ),
    }),
  };
}

function changed(value: unknown, purpose: string, change: Change): unknown {
  return typeof value === 'string' && value !== '' ? change(purpose, value) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
