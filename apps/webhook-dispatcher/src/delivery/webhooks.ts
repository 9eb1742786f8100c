import { readWebhookSettings, webhookIds, type ChannelSeals } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import type { Claim, PendingEvent } from '@dormouse/event-outbox/delivery';
import { wantedEvents, type ChannelSettings, type WebhookEntry } from '@dormouse/gateway-contract';

/** A webhook as its customer has set it at this moment. */
export interface Webhook {
  entry: WebhookEntry;
  settings: ChannelSettings;
  /** All that are valid; none while the channel has never had one. */
  secrets: string[];
}

/** The webhook of a claim, or undefined when its channel is deleted or its settings no longer name it. */
export async function readWebhook(
  database: Pick<RegionalDatabase, 'pool'>,
  claim: Pick<Claim, 'channelId' | 'webhookId'>,
  seals?: ChannelSeals,
): Promise<Webhook | undefined> {
  const found = await readWebhookSettings(database.pool, claim.channelId, seals);
  const entry = found?.settings.webhooks[webhookIds(found.settings).indexOf(claim.webhookId)];
  return found && entry && { entry, ...found };
}

/** Whether the event is older than the webhook wants events. @param sinceReadMs time since the event was read */
export function isTooOld(event: PendingEvent, { entry }: Webhook, sinceReadMs: number): boolean {
  const maxAgeS = entry.webhook_max_age_seconds;
  return maxAgeS !== undefined && event.ageMs + sinceReadMs > maxAgeS * 1_000;
}

/** Whether the webhook wants the event. @param onlyFor the one webhook it is for, if it is for one */
export function isWanted(
  event: Pick<PendingEvent, 'type' | 'method'>,
  { entry }: Webhook,
  { onlyFor, webhookId }: { onlyFor: string | null; webhookId: string },
): boolean {
  if (onlyFor !== null) return onlyFor === webhookId;
  return wantedEvents(entry).includes(`${event.type}.${event.method}`);
}
