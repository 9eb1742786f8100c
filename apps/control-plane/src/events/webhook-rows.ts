import { randomBytes } from 'node:crypto';
import { transaction, type Connection, type RegionalDatabase } from '@dormouse/database';
import {
  wantedEvents,
  asTold,
  webhookBody,
  type EventPayloads,
  type WebhookEntry,
  type WebhookEventMethod,
  type WebhookEventType,
} from '@dormouse/gateway-contract';
import type {
  DeadLetterList,
  DeadLettersQuery,
  DeliveriesQuery,
  DeliveryList,
  DeliveryRecord,
  ReplayResult,
  TestEventResult,
  WebhookState,
} from '@dormouse/management-contract';
import type { EventSource } from './event-pages.js';

/** One webhook of a channel. */
export interface ManagedWebhook {
  channelId: string;
  id: string;
  entry: WebhookEntry;
}

interface StateRow {
  position: string;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  next_attempt_at: Date | null;
  redirects_to: string | null;
  backlog: string;
  oldest_age_s: number;
  dead: string;
  held: string;
  set_aside: string;
}

interface AttemptRow {
  id: string;
  event_id: string;
  seq: string;
  type: string;
  method: string;
  attempt: number;
  outcome: DeliveryRecord['outcome'];
  status: number | null;
  error: string | null;
  took_ms: number;
  answer: string | null;
  at: Date;
}

interface DeadRow {
  id: string;
  seq: string;
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: Record<string, unknown>;
  created_at: Date;
  age_ms: number;
  died_at: Date;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  redrive_at: Date | null;
}

const seconds = (date: Date): number => Math.floor(date.getTime() / 1_000);

/** Of events `e`: what webhook `$2` is told, given the kinds it asks for in `$3`. */
const IS_FOR_WEBHOOK =
  "(e.webhook_id = $2 OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY ($3::text[])))";

/**
 * What a region's database knows of the webhooks of a channel, and what a customer may change about it. The dispatcher
 * is told by rows alone: a replay takes the webhook away from it, so that what it is doing there ends.
 */
export class WebhookRows {
  private readonly database: Pick<RegionalDatabase, 'pool'>;
  private readonly links: EventSource['links'];

  constructor({ database, links }: EventSource) {
    this.database = database;
    this.links = links;
  }

  async state({ channelId, id, entry }: ManagedWebhook): Promise<WebhookState> {
    const { rows } = await this.database.pool.query<StateRow>({
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
               FROM events e WHERE e.channel_id = $1 AND ${IS_FOR_WEBHOOK}
                 AND (e.seq > c.position OR (h.held + h.set_aside > 0 AND e.seq IN (
                   SELECT seq FROM webhook_held_events WHERE channel_id = $1 AND webhook_id = $2)))
                 AND ($4::float8 IS NULL OR e.created_at > clock_timestamp() - $4 * interval '1 s')) b
             WHERE c.channel_id = $1 AND c.webhook_id = $2`,
      values: [channelId, id, wantedEvents(entry), entry.webhook_max_age_seconds ?? null],
    });
    const [row] = rows;
    const failing = row && row.attempts > 0 ? row : undefined;
    const { redirects_to: redirectsTo } = row ?? {};
    return {
      id,
      url: entry.url,
      mode: entry.mode,
      position: Number(row?.position ?? 0),
      backlog: { events: Number(row?.backlog ?? 0), oldest_age_s: row?.oldest_age_s ?? 0 },
      dead_letters: Number(row?.dead ?? 0),
      held: Number(row?.held ?? 0),
      set_aside: Number(row?.set_aside ?? 0),
      ...(redirectsTo && { redirects_to: redirectsTo }),
      ...(failing && {
        failing: {
          attempts: failing.attempts,
          ...(failing.last_status === null ? {} : { last_status: failing.last_status }),
          last_error: failing.last_error ?? '',
          next_attempt_at: seconds(failing.next_attempt_at ?? new Date()),
        },
      }),
    };
  }

  async deliveries({ channelId, id }: ManagedWebhook, { count, before }: DeliveriesQuery): Promise<DeliveryList> {
    const { rows } = await this.database.pool.query<AttemptRow>({
      name: 'webhook-deliveries',
      text: `SELECT * FROM webhook_attempts
             WHERE channel_id = $1 AND webhook_id = $2 AND ($3::bigint IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
      values: [channelId, id, before ?? null, count + 1],
    });
    const page = rows.slice(0, count);
    const last = page.at(-1);
    return {
      deliveries: page.map(shownAttempt),
      ...(rows.length > count && last ? { next: last.id } : {}),
    };
  }

  async deadLetters({ channelId, id, entry }: ManagedWebhook, page: DeadLettersQuery): Promise<DeadLetterList> {
    const [listed, counted] = await Promise.all([
      this.database.pool.query<DeadRow>({
        name: 'dead-letters',
        text: `SELECT e.id, e.seq, e.type, e.method, e.payload, e.created_at, d.died_at, d.attempts, d.last_status,
                 d.last_error, d.redrive_at,
                 extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms
               FROM dead_letters d JOIN events e ON e.channel_id = d.channel_id AND e.seq = d.seq
               WHERE d.channel_id = $1 AND d.webhook_id = $2 ORDER BY d.seq LIMIT $3 OFFSET $4`,
        values: [channelId, id, page.count, page.offset],
      }),
      this.database.pool.query<{ total: string }>({
        name: 'count-dead-letters',
        text: 'SELECT count(*) AS total FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2',
        values: [channelId, id],
      }),
    ]);
    const letters = await this.links.inTold(
      channelId,
      listed.rows.map((row) => ({ ...row, ageMs: row.age_ms })),
    );
    return {
      dead_letters: letters.map((row) => ({
        event_id: row.id,
        sequence: Number(row.seq),
        type: row.type,
        method: row.method,
        created_at: seconds(row.created_at),
        died_at: seconds(row.died_at),
        attempts: row.attempts,
        ...(row.last_status === null ? {} : { last_status: row.last_status }),
        ...(row.last_error === null ? {} : { last_error: row.last_error }),
        redriving: row.redrive_at !== null,
        body: webhookBody(channelId, asTold(entry, row)),
      })),
      count: page.count,
      total: Number(counted.rows[0]?.total ?? 0),
      offset: page.offset,
    };
  }

  /**
   * Has dead letters told once more, now. The cursor is locked first, as the dispatcher does when it takes the mark off.
   * @param seqs which; undefined: all
   * @returns how many wait to be told again
   */
  async redrive(webhook: ManagedWebhook, seqs: readonly number[] | undefined): Promise<number> {
    return transaction(this.database, async (connection) => {
      if ((await lockCursor(connection, webhook)) === undefined) return 0;
      const { rowCount } = await connection.query({
        text: `UPDATE dead_letters SET redrive_at = coalesce(redrive_at, now())
               WHERE channel_id = $1 AND webhook_id = $2 AND ($3::bigint[] IS NULL OR seq = ANY ($3::bigint[]))`,
        values: [webhook.channelId, webhook.id, seqs ?? null],
      });
      if (rowCount === null || rowCount === 0) return 0;
      await connection.query({
        text: `UPDATE webhook_cursors SET redriving = true, next_attempt_at = now()
               WHERE channel_id = $1 AND webhook_id = $2`,
        values: [webhook.channelId, webhook.id],
      });
      return rowCount;
    });
  }

  /** Moves the webhook back to what happened since `fromS`; dead letters from there on are part of it. */
  async replay(webhook: ManagedWebhook, fromS: number): Promise<ReplayResult> {
    return transaction(this.database, async (connection) => {
      const position = await lockCursor(connection, webhook);
      if (position === undefined) return { events: 0, from_sequence: 0 };
      const { rows } = await connection.query<{ first: string | null; events: string }>({
        text: `SELECT min(e.seq) AS first, count(*) AS events FROM events e
               WHERE e.channel_id = $1 AND ${IS_FOR_WEBHOOK} AND e.created_at >= to_timestamp($4::float8)`,
        values: [webhook.channelId, webhook.id, wantedEvents(webhook.entry), fromS],
      });
      // A replay goes back only: what is still to be told is told all the same.
      const first = Math.min(Number(rows[0]?.first ?? position + 1), position + 1);
      await connection.query({
        text: `UPDATE webhook_cursors SET position = $3, attempts = 0, refusals = 0, paused = false, last_status = NULL,
                 last_error = NULL, since = now(), leased_by = NULL, leased_until = NULL, next_attempt_at = now()
               WHERE channel_id = $1 AND webhook_id = $2`,
        values: [webhook.channelId, webhook.id, first - 1],
      });
      await connection.query({
        text: 'DELETE FROM webhook_held_events WHERE channel_id = $1 AND webhook_id = $2 AND seq >= $3',
        values: [webhook.channelId, webhook.id, first],
      });
      await connection.query({
        text: 'DELETE FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2 AND seq >= $3',
        values: [webhook.channelId, webhook.id, first],
      });
      return { events: Number(rows[0]?.events ?? 0), from_sequence: first };
    });
  }

  /** Writes an event that this webhook alone is told. @param phone digits of the channel's number, or undefined */
  async test(webhook: ManagedWebhook, phone: string | undefined, atMs: number): Promise<TestEventResult> {
    const payload = testPayload(phone ?? '15550000000', atMs);
    return transaction(this.database, async (connection) => {
      const { rows } = await connection.query<{ last_seq: string }>({
        text: `INSERT INTO event_sequences AS s (channel_id, last_seq) VALUES ($1, 1)
               ON CONFLICT (channel_id) DO UPDATE SET last_seq = s.last_seq + 1 RETURNING last_seq`,
        values: [webhook.channelId],
      });
      const sequence = Number(rows[0]?.last_seq);
      const written = await connection.query<{ id: string }>({
        text: `INSERT INTO events (channel_id, seq, id, type, method, payload, webhook_id)
               VALUES ($1, $2, gen_random_uuid(), 'messages', 'post', $3, $4) RETURNING id`,
        values: [webhook.channelId, sequence, JSON.stringify(payload), webhook.id],
      });
      return { event_id: String(written.rows[0]?.id), sequence };
    });
  }
}

/** The webhook's position, with its row locked; undefined when it is gone. */
async function lockCursor(connection: Connection, webhook: ManagedWebhook): Promise<number | undefined> {
  const { rows } = await connection.query<{ position: string }>({
    text: 'SELECT position FROM webhook_cursors WHERE channel_id = $1 AND webhook_id = $2 FOR UPDATE',
    values: [webhook.channelId, webhook.id],
  });
  return rows[0] && Number(rows[0].position);
}

/** A message nobody sent, in the shape of any other. */
function testPayload(phone: string, atMs: number): EventPayloads['messages.post'] {
  return {
    messages: [
      {
        id: `TEST${randomBytes(8).toString('hex')}-TESTEVENT`,
        type: 'text',
        chat_id: `${phone}@s.whatsapp.net`,
        from_me: false,
        from: phone,
        from_name: 'Test event',
        timestamp: Math.floor(atMs / 1_000),
        source: 'system',
        text: { body: 'This is a test event.' },
      },
    ],
  };
}

function shownAttempt(row: AttemptRow): DeliveryRecord {
  return {
    event_id: row.event_id,
    sequence: Number(row.seq),
    type: row.type,
    method: row.method,
    attempt: row.attempt,
    outcome: row.outcome,
    ...(row.status === null ? {} : { status: row.status }),
    ...(row.error === null ? {} : { error: row.error }),
    latency_ms: row.took_ms,
    ...(row.answer === null ? {} : { answer: row.answer }),
    at_ms: row.at.getTime(),
  };
}
