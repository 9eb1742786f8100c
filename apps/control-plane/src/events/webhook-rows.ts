import { randomBytes, randomUUID } from 'node:crypto';
import { transaction, type RegionalDatabase } from '@dormouse/database';
import {
  attemptRows,
  deadLetterRows,
  lockEventLog,
  redrive,
  replay,
  webhookState,
  type AttemptRow,
} from '@dormouse/event-outbox';
import {
  wantedEvents,
  eventForWebhook,
  webhookBody,
  type EventPayloads,
  type WebhookEntry,
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

const seconds = (date: Date): number => Math.floor(date.getTime() / 1_000);

/**
 * Reads the state of a channel's webhooks in a region's database, and changes it for customers. The dispatcher follows
 * the rows alone: a replay takes the dispatcher's lease of the webhook away, so that a delivery that is under way
 * cannot move the position any more.
 */
export class WebhookRows {
  private readonly database: Pick<RegionalDatabase, 'pool'>;
  private readonly links: EventSource['links'];

  constructor({ database, links }: EventSource) {
    this.database = database;
    this.links = links;
  }

  async state({ channelId, id, entry }: ManagedWebhook): Promise<WebhookState> {
    const maxAgeS = entry.webhook_max_age_seconds ?? null;
    const row = await webhookState(this.database.pool, { channelId, webhookId: id }, wantedEvents(entry), maxAgeS);
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
    const rows = await attemptRows(this.database.pool, { channelId, webhookId: id }, before ?? null, count + 1);
    const page = rows.slice(0, count);
    const last = page.at(-1);
    return {
      deliveries: page.map(shownAttempt),
      ...(rows.length > count && last ? { next: last.id } : {}),
    };
  }

  async deadLetters({ channelId, id, entry }: ManagedWebhook, page: DeadLettersQuery): Promise<DeadLetterList> {
    const { rows, total } = await deadLetterRows(this.database.pool, { channelId, webhookId: id }, page);
    const letters = await this.links.inEvents(
      channelId,
      rows.map((row) => ({ ...row, ageMs: row.age_ms })),
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
        body: webhookBody(channelId, eventForWebhook(entry, row)),
      })),
      count: page.count,
      total,
      offset: page.offset,
    };
  }

  /** Marks dead letters to be delivered again. @param seqs sequences; undefined: all @returns how many are marked */
  async redrive({ channelId, id }: ManagedWebhook, seqs: readonly number[] | undefined): Promise<number> {
    return redrive(this.database, { channelId, webhookId: id }, seqs);
  }

  /** Moves the webhook's position back to the first event since `fromS`, in epoch seconds. Dead letters from there on are delivered with the rest. */
  async replay({ channelId, id, entry }: ManagedWebhook, fromS: number): Promise<ReplayResult> {
    return replay(this.database, { channelId, webhookId: id }, wantedEvents(entry), fromS);
  }

  /** Appends an event that only this webhook receives. @param phone digits of the channel's number, or undefined */
  async test({ channelId, id }: ManagedWebhook, phone: string | undefined, atMs: number): Promise<TestEventResult> {
    const event = {
      id: randomUUID(),
      type: 'messages' as const,
      method: 'post' as const,
      payload: testPayload(phone ?? '15550000000', atMs),
      webhook_id: id,
    };
    const [sequence = 0] = await transaction(this.database, async (connection) =>
      (await lockEventLog(connection, channelId)).append([event]),
    );
    return { event_id: event.id, sequence };
  }
}

/** A made-up message in the shape of a real one. */
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
