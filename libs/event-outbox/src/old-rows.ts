/**
 * What the retention deletes, in small batches along indexes, so that traffic is not disturbed; and from when on a channel's
 * webhooks still wait for its events.
 */
import { defineStatement, type RegionalDatabase } from '@dormouse/database';

type Pool = RegionalDatabase['pool'];

const CHANNELS = defineStatement({
  name: 'channels-with-events',
  text: 'SELECT channel_id FROM event_sequences WHERE channel_id > $1 ORDER BY channel_id LIMIT $2',
  parameters: ['text', 'int8'],
  row: { channel_id: 'text' },
});

/** Only the oldest of the channel are looked at: they are the first by sequence. */
const DELETE_EVENTS = defineStatement({
  name: 'delete-events',
  text: `
WITH bound AS (
  SELECT least((SELECT min(position) FROM webhook_cursors WHERE channel_id = $1), 9223372036854775807) AS passed
), oldest AS (
  SELECT e.seq, e.created_at FROM events e, bound
  WHERE e.channel_id = $1 AND e.seq <= bound.passed
    AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.channel_id = $1 AND d.seq = e.seq)
    AND NOT EXISTS (SELECT 1 FROM webhook_held_events h WHERE h.channel_id = $1 AND h.seq = e.seq)
  ORDER BY e.seq LIMIT $3
)
DELETE FROM events USING oldest
WHERE events.channel_id = $1 AND events.seq = oldest.seq
  AND oldest.created_at < now() - $2::float8 * interval '1 ms'`,
  parameters: ['text', 'float8', 'int8'],
});

const DELETE_ATTEMPTS = defineStatement({
  name: 'delete-attempts',
  text: `
WITH oldest AS (SELECT id, at FROM webhook_attempts ORDER BY id LIMIT $2)
DELETE FROM webhook_attempts USING oldest
WHERE webhook_attempts.id = oldest.id AND oldest.at < now() - $1::float8 * interval '1 ms'`,
  parameters: ['float8', 'int8'],
});

const DELETE_DEAD = defineStatement({
  name: 'delete-dead-letters',
  text: `
DELETE FROM dead_letters WHERE (channel_id, webhook_id, seq) IN (
  SELECT channel_id, webhook_id, seq FROM dead_letters WHERE died_at < now() - $1::float8 * interval '1 ms'
  ORDER BY died_at LIMIT $2)`,
  parameters: ['float8', 'int8'],
});

/** The first event that a webhook of the channel has not had: after its position, or held at or before it. */
const WAITS_SINCE = defineStatement({
  name: 'webhooks-wait-since',
  text: `
SELECT e.created_at FROM (
  SELECT min(least(c.position + 1, (
    SELECT min(h.seq) FROM webhook_held_events h WHERE h.channel_id = c.channel_id AND h.webhook_id = c.webhook_id
  ))) AS seq FROM webhook_cursors c WHERE c.channel_id = $1
) first, LATERAL (
  SELECT created_at FROM events WHERE channel_id = $1 AND events.seq >= first.seq ORDER BY events.seq LIMIT 1
) e`,
  parameters: ['text'],
  row: { created_at: 'timestamptz' },
});

/** What is stored of a channel's events and webhooks beside the events themselves. */
const OF_CHANNEL = [
  'webhook_cursors',
  'webhook_held_events',
  'dead_letters',
  'webhook_attempts',
  'event_sequences',
].map((table) =>
  defineStatement({
    name: `purge-${table}`,
    text: `DELETE FROM ${table} WHERE channel_id = $1`,
    parameters: ['text'],
  }),
);

const PURGE_EVENTS = defineStatement({
  name: 'purge-events',
  text: `DELETE FROM events WHERE channel_id = $1
           AND seq IN (SELECT seq FROM events WHERE channel_id = $1 ORDER BY seq LIMIT $2)`,
  parameters: ['text', 'int8'],
});

/** When the oldest event was written that a webhook of the channel has not had yet; undefined: each has had all. */
export async function webhooksWaitSince(pool: Pool, channelId: string): Promise<Date | undefined> {
  return (await WAITS_SINCE.first(pool, channelId))?.created_at;
}

/** Deletes up to `batch` events of a deleted channel, and with the last ones all else of it here. @returns how many events went */
export async function purgeEvents(pool: Pool, channelId: string, batch: number): Promise<number> {
  const purged = await PURGE_EVENTS.count(pool, channelId, batch);
  if (purged < batch) for (const statement of OF_CHANNEL) await statement.count(pool, channelId);
  return purged;
}

/** The next channels that ever had an event, by id. */
export async function channelsWithEvents(pool: Pool, after: string, limit: number): Promise<string[]> {
  return (await CHANNELS.all(pool, after, limit)).map(({ channel_id: id }) => id);
}

/**
 * Deletes up to `batch` events of a channel that are older than `olderMs` and that no webhook waits for.
 * @returns how many went
 */
export async function deleteOldEvents(pool: Pool, channelId: string, olderMs: number, batch: number): Promise<number> {
  return DELETE_EVENTS.count(pool, channelId, olderMs, batch);
}

/** Deletes up to `batch` lines of the delivery log that are older than `olderMs`. @returns how many went */
export async function deleteOldAttempts(pool: Pool, olderMs: number, batch: number): Promise<number> {
  return DELETE_ATTEMPTS.count(pool, olderMs, batch);
}

/** Deletes up to `batch` dead letters that are older than `olderMs`. @returns how many went */
export async function deleteOldDeadLetters(pool: Pool, olderMs: number, batch: number): Promise<number> {
  return DELETE_DEAD.count(pool, olderMs, batch);
}
