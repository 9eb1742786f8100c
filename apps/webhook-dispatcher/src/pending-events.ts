import type { RegionalDatabase } from '@dormouse/database';
import { openSecret, openSettings, webhookIds, type ChannelSeals } from '@dormouse/channel-directory';
import {
  conversationOf,
  settingsOf,
  wantedEvents,
  type ChannelSettings,
  type WebhookEntry,
  type WebhookEventMethod,
  type WebhookEventType,
} from '@dormouse/gateway-contract';
import type { Claim } from './cursors.js';
import type { PendingEvent } from './pending-event.js';

/** A webhook as its customer has set it at this moment. */
export interface Webhook {
  entry: WebhookEntry;
  settings: ChannelSettings;
  /** All that are valid; none while the channel has never had one. */
  secrets: string[];
}

/** What a webhook has to be told next. */
export interface Batch {
  events: PendingEvent[];
  /** Everything up to here is either in `events` or not for this webhook. */
  upTo: bigint;
  /** No more was written when this was read. */
  isAll: boolean;
}

/** Of events `e`: those of a kind in `$3`, and those that are for webhook `$6` alone. */
const IS_FOR_WEBHOOK =
  "(e.webhook_id = $6 OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY ($3::text[])))";

/** As much of a chat's id tells conversations apart: it goes into an index. */
const LONGEST_CONVERSATION = 250;

/** A row of `events` as the driver gives it. */
export interface EventRow {
  seq: string | null;
  id: string;
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: Record<string, unknown>;
  conversation: string | null;
  age_ms: number;
  waited_ms: number;
}

/** The webhook of a claim, or undefined when its channel is deleted or its settings no longer name it. */
export async function readWebhook(
  database: Pick<RegionalDatabase, 'pool'>,
  claim: Pick<Claim, 'channelId' | 'webhookId'>,
  seals?: ChannelSeals,
): Promise<Webhook | undefined> {
  const { rows } = await database.pool.query<{ settings: unknown; secrets: string[] }>({
    name: 'webhook-settings',
    text: `SELECT settings, ARRAY(
             SELECT secret FROM webhook_secrets
             WHERE channel_id = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY created_at DESC
           ) AS secrets
           FROM channels WHERE id = $1 AND deleted_at IS NULL`,
    values: [claim.channelId],
  });
  const [row] = rows;
  if (!row) return undefined;
  const settings = settingsOf(openSettings(seals, claim.channelId, row.settings));
  const entry = settings.webhooks[webhookIds(settings).indexOf(claim.webhookId)];
  return entry && { entry, settings, secrets: row.secrets.map((secret) => openSecret(seals, claim.channelId, secret)) };
}

/**
 * Reads the next events the webhook has asked for, at most `limit`, in sequence. Events it has not asked for and events
 * older than its `webhook_max_age_seconds` stay in the database: only `upTo` tells that they are passed over. The head
 * of the sequence is read in the same snapshot as the events, and sequence order is commit order, so nothing that
 * commits later can lie below `upTo`.
 */
export async function readBatch(
  database: Pick<RegionalDatabase, 'pool'>,
  claim: Pick<Claim, 'channelId' | 'webhookId' | 'position'>,
  entry: WebhookEntry,
  limit: number,
): Promise<Batch> {
  const { rows } = await database.pool.query<EventRow & { last_seq: string }>({
    name: 'pending-events',
    text: `SELECT s.last_seq, e.* FROM event_sequences s LEFT JOIN LATERAL (
             SELECT e.seq, e.id, e.type, e.method, e.payload, e.conversation,
                    extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms,
                    extract(epoch FROM clock_timestamp() - greatest(e.created_at, c.since))::float8 * 1000 AS waited_ms
             FROM events e LEFT JOIN webhook_cursors c ON c.channel_id = $1 AND c.webhook_id = $6
             WHERE e.channel_id = $1 AND e.seq > $2 AND e.seq <= s.last_seq AND ${IS_FOR_WEBHOOK}
               AND ($4::float8 IS NULL OR e.created_at > clock_timestamp() - $4 * interval '1 second')
             ORDER BY e.seq LIMIT $5) e ON true
           WHERE s.channel_id = $1 ORDER BY e.seq`,
    values: [
      claim.channelId,
      claim.position,
      wantedEvents(entry),
      entry.webhook_max_age_seconds ?? null,
      limit,
      claim.webhookId,
    ],
  });
  const events = rows.flatMap((row) => (row.seq === null ? [] : [toPendingEvent({ ...row, seq: row.seq })]));
  const isAll = events.length < limit;
  const head = BigInt(rows[0]?.last_seq ?? claim.position);
  return { events, isAll, upTo: isAll ? head : (events.at(-1)?.seq ?? claim.position) };
}

export function toPendingEvent(row: EventRow & { seq: string }): PendingEvent {
  return {
    seq: BigInt(row.seq),
    id: row.id,
    type: row.type,
    method: row.method,
    payload: row.payload,
    conversation: (conversationOf(row) ?? '').slice(0, LONGEST_CONVERSATION),
    ageMs: row.age_ms,
    waitedMs: row.waited_ms,
  };
}

/** Is the event older than the webhook wants events? @param sinceReadMs time since the event was read */
export function isTooOld(event: PendingEvent, { entry }: Webhook, sinceReadMs: number): boolean {
  const maxAgeS = entry.webhook_max_age_seconds;
  return maxAgeS !== undefined && event.ageMs + sinceReadMs > maxAgeS * 1_000;
}

/** Has the webhook asked for the event? @param onlyFor the one webhook it is for, if it is for one */
export function isWanted(
  event: Pick<PendingEvent, 'type' | 'method'>,
  { entry }: Webhook,
  { onlyFor, webhookId }: { onlyFor: string | null; webhookId: string },
): boolean {
  if (onlyFor !== null) return onlyFor === webhookId;
  return wantedEvents(entry).includes(`${event.type}.${event.method}`);
}
