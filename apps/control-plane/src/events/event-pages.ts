import type { RegionalDatabase } from '@dormouse/database';
import { eventsAfter, newestEvent } from '@dormouse/event-outbox';
import { webhookBody } from '@dormouse/gateway-contract';
import type { EventPage } from '@dormouse/management-contract';
import type { FreshLinks } from '@dormouse/media-store/read';

/** Where a region's events are stored, and what signs the links to files in them. */
export interface EventSource {
  database: Pick<RegionalDatabase, 'pool'>;
  links: Pick<FreshLinks, 'inEvents'>;
}

/** Cursor that stands for a channel's newest event: only events after it are read. */
export const LATEST = 'latest';

/**
 * A page of a channel's events, in sequence. Sequence order is commit order, so no event is ever added behind a cursor.
 * Events older than the retention are deleted.
 * @param cursor sequence of the last event the caller has, {@link LATEST}, or undefined for the oldest stored event
 */
export async function readEvents(
  { database, links }: EventSource,
  channelId: string,
  { cursor, count }: { cursor: string | undefined; count: number },
): Promise<EventPage> {
  if (cursor === LATEST) return { events: [], cursor: await newestEvent(database.pool, channelId), more: false };
  const rows = await eventsAfter(database.pool, channelId, cursor ?? '0', count + 1);
  const page = await links.inEvents(
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
