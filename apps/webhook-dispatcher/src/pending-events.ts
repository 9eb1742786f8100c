import type { RegionalDatabase } from '@dormouse/database';
import { webhookIds } from '@dormouse/channel-directory';
import {
  canonicalEventType,
  settingsOf,
  WEBHOOK_EVENT_METHODS,
  type ChannelSettings,
  type WebhookEntry,
  type WebhookEventMethod,
  type WebhookEventType,
} from '@dormouse/gateway-contract';
import type { Claim } from './cursors.js';

/** A webhook as its customer has set it at this moment. */
export interface Webhook {
  entry: WebhookEntry;
  settings: ChannelSettings;
}

/** One event as it lies in the outbox. */
export interface PendingEvent {
  seq: bigint;
  /** Stays the same however often the event is posted. */
  id: string;
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: Record<string, unknown>;
  /** Age when it was read, by the database's clock. */
  ageMs: number;
}

/** What a webhook has to be told next. */
export interface Batch {
  events: PendingEvent[];
  /** Everything up to here is either in `events` or not for this webhook. */
  upTo: bigint;
  /** No more was written when this was read. */
  isAll: boolean;
}

interface EventRow {
  last_seq: string;
  seq: string | null;
  id: string;
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: Record<string, unknown>;
  age_ms: number;
}

/** The webhook of a claim, or undefined when its channel is deleted or its settings no longer name it. */
export async function readWebhook(
  database: Pick<RegionalDatabase, 'pool'>,
  claim: Pick<Claim, 'channelId' | 'webhookId'>,
): Promise<Webhook | undefined> {
  const { rows } = await database.pool.query<{ settings: unknown }>({
    name: 'webhook-settings',
    text: 'SELECT settings FROM channels WHERE id = $1 AND deleted_at IS NULL',
    values: [claim.channelId],
  });
  const [row] = rows;
  if (!row) return undefined;
  const settings = settingsOf(row.settings);
  const entry = settings.webhooks[webhookIds(settings).indexOf(claim.webhookId)];
  return entry && { entry, settings };
}

/**
 * Reads the next events the webhook has asked for, at most `limit`, in sequence. Events it has not asked for and events
 * older than its `webhook_max_age_seconds` stay in the database: only `upTo` tells that they are passed over. The head
 * of the sequence is read in the same snapshot as the events, and sequence order is commit order, so nothing that
 * commits later can lie below `upTo`.
 */
export async function readBatch(
  database: Pick<RegionalDatabase, 'pool'>,
  claim: Pick<Claim, 'channelId' | 'position'>,
  entry: WebhookEntry,
  limit: number,
): Promise<Batch> {
  const { rows } = await database.pool.query<EventRow>({
    name: 'pending-events',
    text: `SELECT s.last_seq, e.* FROM event_sequences s LEFT JOIN LATERAL (
             SELECT seq, id, type, method, payload,
                    extract(epoch FROM clock_timestamp() - created_at)::float8 * 1000 AS age_ms
             FROM events
             WHERE channel_id = $1 AND seq > $2 AND seq <= s.last_seq AND (type || '.' || method) = ANY ($3::text[])
               AND ($4::float8 IS NULL OR created_at > clock_timestamp() - $4 * interval '1 second')
             ORDER BY seq LIMIT $5) e ON true
           WHERE s.channel_id = $1 ORDER BY e.seq`,
    values: [claim.channelId, claim.position, wantedEvents(entry), entry.webhook_max_age_seconds ?? null, limit],
  });
  const events = rows.flatMap((row) => (row.seq === null ? [] : [toPendingEvent({ ...row, seq: row.seq })]));
  const isAll = events.length < limit;
  const head = BigInt(rows[0]?.last_seq ?? claim.position);
  return { events, isAll, upTo: isAll ? head : (events.at(-1)?.seq ?? claim.position) };
}

/** The `type.method` pairs a webhook asks for, present names only; an entry without method means all of its type. */
export function wantedEvents(entry: Pick<WebhookEntry, 'events'>): string[] {
  const pairs = entry.events.flatMap(({ type: subscribed, method }) => {
    const type = canonicalEventType(subscribed);
    const methods: readonly WebhookEventMethod[] = method ? [method] : WEBHOOK_EVENT_METHODS[type];
    return methods.map((each) => `${type}.${each}`);
  });
  return [...new Set(pairs)];
}

function toPendingEvent(row: EventRow & { seq: string }): PendingEvent {
  return {
    seq: BigInt(row.seq),
    id: row.id,
    type: row.type,
    method: row.method,
    payload: row.payload,
    ageMs: row.age_ms,
  };
}
