/** The events of a region in figures, for its operators. Ages are by the database's clock. */
import { defineStatement, type RegionalDatabase, type RowOf } from '@dormouse/database';

type Pool = RegionalDatabase['pool'];

/** Of a cursor `c`: what it holds, and the oldest event it has still to deliver. */
const HELD_AND_OLDEST = `LATERAL (
  SELECT count(*) AS events, min(seq) AS first FROM webhook_held_events h
  WHERE c.has_held AND h.channel_id = c.channel_id AND h.webhook_id = c.webhook_id) AS held LEFT JOIN LATERAL (
  SELECT created_at FROM events e WHERE e.channel_id = c.channel_id
    AND (e.seq > c.position OR e.seq = held.first) ORDER BY e.seq LIMIT 1) AS oldest ON true`;

const FIGURES = defineStatement({
  name: 'figures-of-events',
  text: `SELECT coalesce(sum(s.last_seq - c.position + held.events), 0) AS backlog, count(*)::int AS behind,
                coalesce(extract(epoch FROM now() - min(oldest.created_at)), 0)::float8 AS oldest_age_s,
                (SELECT count(*)::int FROM dead_letters) AS dead
         FROM webhook_cursors c JOIN event_sequences s USING (channel_id), ${HELD_AND_OLDEST}
         WHERE s.last_seq > c.position OR held.events > 0`,
  parameters: [],
  row: { backlog: 'numeric', behind: 'int4', oldest_age_s: 'float8', dead: 'int4' },
});

const DEAD = defineStatement({
  name: 'stuck-dead-letters',
  text: `SELECT channel_id, webhook_id, count(*)::int AS dead_letters, count(*) OVER ()::int AS total,
                extract(epoch FROM now() - min(died_at))::float8 AS oldest_age_s
         FROM dead_letters GROUP BY channel_id, webhook_id ORDER BY min(died_at), channel_id LIMIT $1`,
  parameters: ['int8'],
  row: { channel_id: 'text', webhook_id: 'text', dead_letters: 'int4', total: 'int4', oldest_age_s: 'float8' },
});

const FAILING = defineStatement({
  name: 'failing-webhooks',
  text: `SELECT c.channel_id, c.webhook_id, c.attempts, s.last_seq - c.position + held.events AS backlog, c.last_error,
                extract(epoch FROM now() - oldest.created_at)::float8 AS oldest_age_s, count(*) OVER ()::int AS total
         FROM webhook_cursors c JOIN event_sequences s USING (channel_id), ${HELD_AND_OLDEST}
         WHERE c.attempts > 0 ORDER BY oldest.created_at, c.channel_id LIMIT $1`,
  parameters: ['int8'],
  row: {
    channel_id: 'text',
    webhook_id: 'text',
    attempts: 'int4',
    backlog: 'int8',
    last_error: 'text?',
    oldest_age_s: 'float8?',
    total: 'int4',
  },
});

/**
 * Webhooks that have accepted nothing for `$1` seconds though there is something for them, since less than `$2` seconds before that.
 * `quiet_since` stays the same until the webhook accepts something; `failing_since` is no earlier than its oldest event.
 */
const FAILING_LONG = defineStatement({
  name: 'webhooks-failing-long',
  text: `SELECT c.channel_id, c.webhook_id, c.last_error, coalesce(c.accepted_at, c.since) AS quiet_since,
                greatest(coalesce(c.accepted_at, c.since), oldest.created_at) AS failing_since
         FROM webhook_cursors c, ${HELD_AND_OLDEST}
         WHERE c.attempts > 0 AND c.next_attempt_at IS NOT NULL
           AND coalesce(c.accepted_at, c.since) <= now() - $1::int * interval '1 second'
           AND oldest.created_at <= now() - $1::int * interval '1 second'
           AND oldest.created_at > now() - ($1::int + $2::int) * interval '1 second'
           AND (c.channel_id, c.webhook_id) > ($3, $4)
         ORDER BY c.channel_id, c.webhook_id LIMIT $5`,
  parameters: ['int4', 'int4', 'text', 'text', 'int8'],
  row: {
    channel_id: 'text',
    webhook_id: 'text',
    last_error: 'text?',
    quiet_since: 'timestamptz',
    failing_since: 'timestamptz',
  },
});

/** How much is still to be delivered in the region, for how many webhooks, since when; and its dead letters. */
export async function eventFigures(pool: Pool): Promise<RowOf<typeof FIGURES>> {
  return (await FIGURES.first(pool)) ?? { backlog: '0', behind: 0, oldest_age_s: 0, dead: 0 };
}

/** The first webhooks with dead letters, oldest first; each row has the `total` of them. */
export async function stuckDeadLetters(pool: Pool, limit: number): Promise<RowOf<typeof DEAD>[]> {
  return DEAD.all(pool, limit);
}

/** The first webhooks that fail, by the age of their oldest event; each row has the `total` of them. */
export async function failingWebhooks(pool: Pool, limit: number): Promise<RowOf<typeof FAILING>[]> {
  return FAILING.all(pool, limit);
}

/**
 * Webhooks that fail for `forS` seconds, and not for more than `withinS` longer, by channel and webhook, in pages.
 * @param after the last one of the page before
 */
export async function webhooksFailingLong(
  pool: Pool,
  { forS, withinS }: { forS: number; withinS: number },
  after: { channelId: string; webhookId: string },
  limit: number,
): Promise<RowOf<typeof FAILING_LONG>[]> {
  return FAILING_LONG.all(pool, forS, withinS, after.channelId, after.webhookId, limit);
}
