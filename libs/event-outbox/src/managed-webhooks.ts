/** What customers see and change of their webhooks and events. */
import { defineStatement, narrowed, transaction, type RegionalDatabase, type RowOf } from '@dormouse/database';
import type { WebhookEventMethod, WebhookEventType } from '@dormouse/gateway-contract';
import type { AttemptRecord } from './claim.js';
import { lockCursor } from './dead-letters.js';
import { isForWebhook } from './event-rows.js';

type Pool = RegionalDatabase['pool'];

/** A webhook, and what it wants. */
export interface WebhookPlace {
  channelId: string;
  webhookId: string;
}

const EVENT = {
  id: 'uuid',
  seq: 'int8',
  type: narrowed<WebhookEventType>('text'),
  method: narrowed<WebhookEventMethod>('text'),
  payload: narrowed<Record<string, unknown>>('jsonb'),
  created_at: 'timestamptz',
  age_ms: 'float8',
} as const;

const EVENTS_AFTER = defineStatement({
  name: 'pull-events',
  text: `SELECT id, seq, type, method, payload, created_at,
           extract(epoch FROM clock_timestamp() - created_at)::float8 * 1000 AS age_ms
         FROM events
         WHERE channel_id = $1 AND seq > $2 AND webhook_id IS NULL ORDER BY seq LIMIT $3`,
  parameters: ['text', 'int8', 'int8'],
  row: EVENT,
});

const NEWEST = defineStatement({
  name: 'newest-event',
  text: 'SELECT last_seq FROM event_sequences WHERE channel_id = $1',
  parameters: ['text'],
  row: { last_seq: 'int8' },
});

const STATE = defineStatement({
  name: 'webhook-state',
  text: `SELECT least(c.position, h.first_held - 1) AS position, c.attempts, c.last_status, c.last_error,
           c.next_attempt_at, c.redirects_to, b.backlog, coalesce(b.oldest_age_s, 0)::float8 AS oldest_age_s,
           h.held, h.set_aside,
           (SELECT count(*) FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2) AS dead
         FROM webhook_cursors c, LATERAL (
           SELECT count(*) FILTER (WHERE set_aside_at IS NULL) AS held, count(set_aside_at) AS set_aside,
             min(seq) FILTER (WHERE set_aside_at IS NULL) AS first_held
           FROM webhook_held_events WHERE channel_id = $1 AND webhook_id = $2) h, LATERAL (
           SELECT count(*) AS backlog, extract(epoch FROM clock_timestamp() - min(e.created_at)) AS oldest_age_s
           FROM events e WHERE e.channel_id = $1 AND ${isForWebhook('$2', '$3')}
             AND (e.seq > c.position OR (h.held + h.set_aside > 0 AND e.seq IN (
               SELECT seq FROM webhook_held_events WHERE channel_id = $1 AND webhook_id = $2)))
             AND ($4::float8 IS NULL OR e.created_at > clock_timestamp() - $4 * interval '1 s')) b
         WHERE c.channel_id = $1 AND c.webhook_id = $2`,
  parameters: ['text', 'text', 'text[]', 'float8?'],
  row: {
    position: 'int8',
    attempts: 'int4',
    last_status: 'int4?',
    last_error: 'text?',
    next_attempt_at: 'timestamptz?',
    redirects_to: 'text?',
    backlog: 'int8',
    oldest_age_s: 'float8',
    held: 'int8',
    set_aside: 'int8',
    dead: 'int8',
  },
});

const ATTEMPTS = defineStatement({
  name: 'webhook-deliveries',
  text: `SELECT id, event_id, seq, type, method, attempt, outcome, status, error, took_ms, answer, at
         FROM webhook_attempts
         WHERE channel_id = $1 AND webhook_id = $2 AND ($3::bigint IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
  parameters: ['text', 'text', 'int8?', 'int8'],
  row: {
    id: 'int8',
    event_id: 'uuid',
    seq: 'int8',
    type: 'text',
    method: 'text',
    attempt: 'int4',
    outcome: narrowed<AttemptRecord['outcome']>('text'),
    status: 'int4?',
    error: 'text?',
    took_ms: 'int4',
    answer: 'text?',
    at: 'timestamptz',
  },
});

const DEAD_LETTERS = defineStatement({
  name: 'dead-letters',
  text: `SELECT e.id, e.seq, e.type, e.method, e.payload, e.created_at,
           extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms,
           d.died_at, d.attempts, d.last_status, d.last_error, d.redrive_at
         FROM dead_letters d JOIN events e ON e.channel_id = d.channel_id AND e.seq = d.seq
         WHERE d.channel_id = $1 AND d.webhook_id = $2 ORDER BY d.seq LIMIT $3 OFFSET $4`,
  parameters: ['text', 'text', 'int8', 'int8'],
  row: {
    ...EVENT,
    died_at: 'timestamptz',
    attempts: 'int4',
    last_status: 'int4?',
    last_error: 'text?',
    redrive_at: 'timestamptz?',
  },
});

const COUNT_DEAD = defineStatement({
  name: 'count-dead-letters',
  text: 'SELECT count(*) AS total FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2',
  parameters: ['text', 'text'],
  row: { total: 'int8' },
});

const REQUEST_REDRIVE = defineStatement({
  name: 'request-redrive',
  text: `UPDATE dead_letters SET redrive_at = coalesce(redrive_at, now())
         WHERE channel_id = $1 AND webhook_id = $2 AND ($3::bigint[] IS NULL OR seq = ANY ($3::bigint[]))`,
  parameters: ['text', 'text', 'int8[]?'],
});

const MARK_REDRIVING = defineStatement({
  name: 'mark-redriving',
  text: `UPDATE webhook_cursors SET redriving = true, next_attempt_at = now()
         WHERE channel_id = $1 AND webhook_id = $2`,
  parameters: ['text', 'text'],
});

const FIRST_SINCE = defineStatement({
  name: 'first-event-since',
  text: `SELECT min(e.seq) AS first, count(*) AS events FROM events e
         WHERE e.channel_id = $1 AND ${isForWebhook('$2', '$3')} AND e.created_at >= to_timestamp($4::float8)`,
  parameters: ['text', 'text', 'text[]', 'float8'],
  row: { first: 'int8?', events: 'int8' },
});

const MOVE_BACK = defineStatement({
  name: 'move-cursor-back',
  text: `UPDATE webhook_cursors SET position = $3, attempts = 0, refusals = 0, paused = false, last_status = NULL,
           last_error = NULL, since = now(), leased_by = NULL, leased_until = NULL, next_attempt_at = now()
         WHERE channel_id = $1 AND webhook_id = $2`,
  parameters: ['text', 'text', 'int8'],
});

const DELETE_HELD_FROM = defineStatement({
  name: 'delete-held-events-from',
  text: 'DELETE FROM webhook_held_events WHERE channel_id = $1 AND webhook_id = $2 AND seq >= $3',
  parameters: ['text', 'text', 'int8'],
});

const DELETE_DEAD_FROM = defineStatement({
  name: 'delete-dead-letters-from',
  text: 'DELETE FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2 AND seq >= $3',
  parameters: ['text', 'text', 'int8'],
});

export type PulledEvent = RowOf<typeof EVENTS_AFTER>;
export type WebhookStateRow = RowOf<typeof STATE>;
export type AttemptRow = RowOf<typeof ATTEMPTS>;
export type DeadLetterRow = RowOf<typeof DEAD_LETTERS>;

/** Events of a channel after a sequence number, those for one webhook alone left out. */
export async function eventsAfter(pool: Pool, channelId: string, seq: string, limit: number): Promise<PulledEvent[]> {
  return EVENTS_AFTER.all(pool, channelId, seq, limit);
}

/** The sequence number of a channel's newest event; '0' when it never had one. */
export async function newestEvent(pool: Pool, channelId: string): Promise<string> {
  return (await NEWEST.first(pool, channelId))?.last_seq ?? '0';
}

/**
 * How far a webhook has got; undefined when it is not there yet.
 * @param wanted kinds of events that it wants
 * @param maxAgeS events that are older are not for it; null: any
 */
export async function webhookState(
  pool: Pool,
  { channelId, webhookId }: WebhookPlace,
  wanted: readonly string[],
  maxAgeS: number | null,
): Promise<WebhookStateRow | undefined> {
  return STATE.first(pool, channelId, webhookId, wanted, maxAgeS);
}

/** Lines of the delivery log, newest first. @param before id of the one they are older than; null: from the newest */
export async function attemptRows(
  pool: Pool,
  { channelId, webhookId }: WebhookPlace,
  before: string | null,
  limit: number,
): Promise<AttemptRow[]> {
  return ATTEMPTS.all(pool, channelId, webhookId, before, limit);
}

/** A page of the dead letters of a webhook, in sequence, and how many there are. */
export async function deadLetterRows(
  pool: Pool,
  { channelId, webhookId }: WebhookPlace,
  { count, offset }: { count: number; offset: number },
): Promise<{ rows: DeadLetterRow[]; total: number }> {
  const [rows, counted] = await Promise.all([
    DEAD_LETTERS.all(pool, channelId, webhookId, count, offset),
    COUNT_DEAD.first(pool, channelId, webhookId),
  ]);
  return { rows, total: Number(counted?.total ?? 0) };
}

/**
 * Has dead letters delivered once more, now. The cursor is locked first, as the dispatcher does when it clears the flag.
 * @param seqs which; undefined: all
 * @returns how many wait to be delivered again
 */
export async function redrive(
  database: Pick<RegionalDatabase, 'pool'>,
  place: WebhookPlace,
  seqs: readonly number[] | undefined,
): Promise<number> {
  return transaction(database, async (connection) => {
    const { channelId, webhookId } = place;
    if ((await lockCursor(connection, place)) === undefined) return 0;
    const requested = await REQUEST_REDRIVE.count(connection, channelId, webhookId, seqs ?? null);
    if (requested > 0) await MARK_REDRIVING.count(connection, channelId, webhookId);
    return requested;
  });
}

/**
 * Moves the webhook back to what happened since `fromS`, in epoch seconds; dead letters from there on are part of it. The
 * dispatcher that holds the webhook loses it.
 * @param wanted kinds of events that it wants
 * @returns how many events that are, and the sequence number it goes on from
 */
export async function replay(
  database: Pick<RegionalDatabase, 'pool'>,
  place: WebhookPlace,
  wanted: readonly string[],
  fromS: number,
): Promise<{ events: number; from_sequence: number }> {
  return transaction(database, async (connection) => {
    const { channelId, webhookId } = place;
    const position = await lockCursor(connection, place);
    if (position === undefined) return { events: 0, from_sequence: 0 };
    const found = await FIRST_SINCE.first(connection, channelId, webhookId, wanted, fromS);
    // A replay goes back only: what is still to be delivered is delivered all the same.
    const first = Math.min(Number(found?.first ?? position + 1), position + 1);
    await MOVE_BACK.count(connection, channelId, webhookId, first - 1);
    await DELETE_HELD_FROM.count(connection, channelId, webhookId, first);
    await DELETE_DEAD_FROM.count(connection, channelId, webhookId, first);
    return { events: Number(found?.events ?? 0), from_sequence: first };
  });
}
