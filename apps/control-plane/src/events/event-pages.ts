import type { RegionalDatabase } from '@dormouse/database';
import { webhookBody, type WebhookEventMethod, type WebhookEventType } from '@dormouse/gateway-contract';
import type { EventPage } from '@dormouse/management-contract';
import type { FreshLinks } from '@dormouse/media-store/read';

interface Row {
  seq: string;
  id: string;
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: Record<string, unknown>;
  created_at: Date;
  age_ms: number;
}

/** Where a region's events are, and what makes their links work. */
export interface EventSource {
  database: Pick<RegionalDatabase, 'pool'>;
  links: Pick<FreshLinks, 'inTold'>;
}

/** Cursor of a channel's newest event: what comes is everything after it. */
export const LATEST = 'latest';

/**
 * A page of a channel's events, in sequence. Sequence order is commit order, so nothing ever appears behind a cursor;
 * what is older than the retention is gone.
 * @param cursor sequence of the last event that is known, {@link LATEST}, or undefined for the oldest that is kept
 */
export async function readEvents(
  { database, links }: EventSource,
  channelId: string,
  { cursor, count }: { cursor: string | undefined; count: number },
): Promise<EventPage> {
  if (cursor === LATEST) return { events: [], cursor: await newest(database, channelId), more: false };
  const { rows } = await database.pool.query<Row>({
    name: 'pull-events',
    text: `SELECT seq, id, type, method, payload, created_at,
             extract(epoch FROM clock_timestamp() - created_at)::float8 * 1000 AS age_ms
           FROM events
           WHERE channel_id = $1 AND seq > $2 AND webhook_id IS NULL ORDER BY seq LIMIT $3`,
    values: [channelId, cursor ?? '0', count + 1],
  });
  const page = await links.inTold(
    channelId,
    rows.slice(0, count).map((row) => ({ ...row, ageMs: row.age_ms })),
  );
  return {
    events: page.map((row) => ({
      id: row.id,
      sequence: Number(row.seq),
      created_at_ms: row.created_at.getTime(),
      body: webhookBody(channelId, row),
    })),
    cursor: page.at(-1)?.seq ?? cursor ?? '0',
    more: rows.length > count,
  };
}

async function newest(database: Pick<RegionalDatabase, 'pool'>, channelId: string): Promise<string> {
  const { rows } = await database.pool.query<{ last_seq: string }>({
    name: 'newest-event',
    text: 'SELECT last_seq FROM event_sequences WHERE channel_id = $1',
    values: [channelId],
  });
  return rows[0]?.last_seq ?? '0';
}
