import { createHash } from 'node:crypto';

/**
 * The stable name of each webhook entry, in the order of the settings: 16 hex digits made of its URL and of how many
 * entries with the same URL come before it. Reordering different URLs keeps every name, so a webhook keeps its place in
 * the events when another one is added or removed.
 */
export function webhookIds(settings: { webhooks: readonly { url: string }[] }): string[] {
  const seen = new Map<string, number>();
  return settings.webhooks.map(({ url }) => {
    const occurrence = seen.get(url) ?? 0;
    seen.set(url, occurrence + 1);
    return createHash('sha256').update(`${url}#${occurrence}`).digest('hex').slice(0, 16);
  });
}
