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
