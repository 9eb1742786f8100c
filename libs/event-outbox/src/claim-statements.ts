/**
 * How cursors are claimed, fairly among accounts.
 *
 * Each statement takes a lease on up to `$3` cursors that have something to post, skipping rows that another dispatcher
 * is claiming at this moment, and of each account no more than it has room for: its number in `$5`, else `$4`.
 */

import { defineStatement, type RowOf } from '@dormouse/database';

/** How many more webhooks of an account may be delivered at this moment. */
export interface AccountRoom {
  /** Accounts that have some under way. */
  of: Record<string, number>;
  /** All others. */
  each: number;
}

const IS_FREE = '(c.leased_until IS NULL OR c.leased_until <= clock_timestamp())';
const HAS_FRESH = 'NOT c.paused AND s.last_seq > c.position';
const IS_DUE = 'c.next_attempt_at <= clock_timestamp()';
const ROOM = 'coalesce(($5::jsonb ->> r.account_id)::int, $4::int)';

const LEASE = `
UPDATE webhook_cursors c SET leased_by = $1, leased_until = clock_timestamp() + $2::float8 * interval '1 ms'
FROM due WHERE c.channel_id = due.channel_id AND c.webhook_id = due.webhook_id
RETURNING c.channel_id, c.webhook_id, c.account_id, c.position, c.attempts, c.refusals, c.last_status, c.last_error,
  c.paused, c.has_held, c.redriving, coalesce(${IS_DUE}, false) AS due`;

const ROW = {
  channel_id: 'text',
  webhook_id: 'text',
  account_id: 'text',
  position: 'int8',
  attempts: 'int4',
  refusals: 'int4',
  last_status: 'int4?',
  last_error: 'text?',
  paused: 'bool',
  has_held: 'bool',
  redriving: 'bool',
  due: 'bool',
} as const;

/** The lease's name, its milliseconds, the limit, and the room of accounts without a number of their own and of others. */
const TERMS = ['text', 'float8', 'int8', 'int4', 'jsonb'] as const;

/** Claims cursors for which the condition holds, the longest waiting first. */
const claimWhere = (condition: string): string => `
WITH ranked AS (
  SELECT c.channel_id, c.webhook_id, c.account_id, c.turn_at,
    row_number() OVER (PARTITION BY c.account_id ORDER BY c.turn_at) AS nth
  FROM webhook_cursors c JOIN event_sequences s USING (channel_id) WHERE ${IS_FREE} AND ${condition}
), chosen AS (
  SELECT * FROM ranked r WHERE nth <= ${ROOM} ORDER BY turn_at LIMIT $3
), due AS (
  SELECT c.channel_id, c.webhook_id FROM chosen JOIN webhook_cursors c USING (channel_id, webhook_id)
    JOIN event_sequences s USING (channel_id)
  WHERE ${IS_FREE} AND ${condition} FOR UPDATE OF c SKIP LOCKED
)${LEASE}`;

export const CLAIM_FRESH = defineStatement({
  name: 'claim-fresh-cursors',
  text: claimWhere(HAS_FRESH),
  parameters: TERMS,
  row: ROW,
});

export const CLAIM_OF = defineStatement({
  name: 'claim-cursors-of',
  text: claimWhere(`c.channel_id = ANY ($6::text[]) AND ((${HAS_FRESH}) OR ${IS_DUE})`),
  parameters: [...TERMS, 'text[]'],
  row: ROW,
});

export type CursorRow = RowOf<typeof CLAIM_OF>;

/**
 * Walks from account to account along the index of waiting cursors and takes the first ones of each: what it costs goes
 * by the number of accounts with waiting webhooks, not by the number of these.
 */
export const CLAIM_RETRIES = defineStatement({
  name: 'claim-retries',
  text: `
WITH RECURSIVE accounts AS (
  (SELECT account_id FROM webhook_cursors WHERE next_attempt_at IS NOT NULL ORDER BY account_id LIMIT 1)
  UNION ALL
  SELECT (SELECT c.account_id FROM webhook_cursors c WHERE c.next_attempt_at IS NOT NULL AND c.account_id > a.account_id
          ORDER BY c.account_id LIMIT 1)
  FROM accounts a WHERE a.account_id IS NOT NULL
), chosen AS (
  SELECT first.* FROM accounts r, LATERAL (
    SELECT c.channel_id, c.webhook_id, c.next_attempt_at FROM webhook_cursors c
    WHERE c.account_id = r.account_id AND ${IS_DUE} AND ${IS_FREE}
    ORDER BY c.next_attempt_at LIMIT least($3::int, ${ROOM})
  ) first WHERE r.account_id IS NOT NULL ORDER BY first.next_attempt_at LIMIT $3
), due AS (
  SELECT c.channel_id, c.webhook_id FROM chosen JOIN webhook_cursors c USING (channel_id, webhook_id)
  WHERE ${IS_FREE} AND ${IS_DUE} FOR UPDATE OF c SKIP LOCKED
)${LEASE}`,
  parameters: ['text', 'float8', 'int4', 'int4', 'jsonb'],
  row: ROW,
});
