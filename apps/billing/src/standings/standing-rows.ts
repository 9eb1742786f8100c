/** The statements of what standings are computed from, and of the standings. */
import type { Standing } from '@dormouse/channel-directory';
import { defineStatement, type RowOf } from '@dormouse/database';

export const ACCOUNTS_DUE = defineStatement({
  name: 'accounts-due-for-standings',
  scope: 'global',
  text: `SELECT due.account_id FROM (
           SELECT account_id, dirty_since AS since FROM billing_accounts WHERE dirty_since IS NOT NULL
           UNION ALL
           SELECT account_id, recompute_at FROM billing_accounts WHERE recompute_at <= $1 AND dirty_since IS NULL
         ) due ORDER BY due.since LIMIT $2`,
  parameters: ['timestamptz', 'int8'],
  row: { account_id: 'text' },
});

export const LOCK_FACTS = defineStatement({
  name: 'lock-account-facts',
  scope: 'global',
  text: `SELECT subscription_status, paused_kind, bought, oldest_unpaid_at, facts_as_of
         FROM billing_accounts WHERE account_id = $1 FOR UPDATE`,
  parameters: ['text'],
  row: {
    ...{ subscription_status: 'text?', paused_kind: 'text?', bought: 'int4' },
    ...{ oldest_unpaid_at: 'timestamptz?', facts_as_of: 'timestamptz?' },
  } as const,
});

export type FactsRow = RowOf<typeof LOCK_FACTS>;

export const GIFTS = defineStatement({
  name: 'gifts-in-effect',
  scope: 'global',
  text: `SELECT numbers, ends_at FROM free_number_gifts WHERE account_id = $1 AND (ends_at IS NULL OR ends_at > $2)`,
  parameters: ['text', 'timestamptz'],
  row: { numbers: 'int4', ends_at: 'timestamptz?' },
});

/** In the order of first links, with the standing that is stored. */
export const NUMBERS = defineStatement({
  name: 'numbers-of-account',
  scope: 'global',
  text: `SELECT n.channel_id, n.region, s.standing FROM billed_numbers n
         LEFT JOIN channel_standings s ON s.channel_id = n.channel_id
         WHERE n.account_id = $1 AND n.ended_at IS NULL ORDER BY n.first_linked_at, n.channel_id`,
  parameters: ['text'],
  row: { channel_id: 'text', region: 'text', standing: 'text?' },
});

/** A new version is never less than the milliseconds since 1970: a region takes it also when this table was lost and built anew. */
export const STORE_STANDINGS = defineStatement({
  name: 'store-channel-standings',
  scope: 'global',
  text: `INSERT INTO channel_standings AS s (channel_id, account_id, region, standing, version)
         SELECT new.id, $1, new.region, new.standing, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
         FROM unnest($2::text[], $3::text[], $4::text[]) AS new(id, region, standing) ORDER BY new.id
         ON CONFLICT (channel_id) DO UPDATE SET
           standing = excluded.standing, version = greatest(s.version + 1, excluded.version), changed_at = now()`,
  parameters: ['text', 'text[]', 'text[]', 'text[]'],
});

export const DELETE_ENDED = defineStatement({
  name: 'delete-standings-of-ended-numbers',
  scope: 'global',
  text: `DELETE FROM channel_standings s USING billed_numbers n
         WHERE s.account_id = $1 AND n.channel_id = s.channel_id AND n.ended_at IS NOT NULL`,
  parameters: ['text'],
});

export const CLEAR_DIRTY = defineStatement({
  name: 'clear-account-dirty',
  scope: 'global',
  text: 'UPDATE billing_accounts SET dirty_since = NULL, recompute_at = $2 WHERE account_id = $1',
  parameters: ['text', 'timestamptz?'],
});

export const UNDELIVERED = defineStatement({
  name: 'undelivered-standings',
  scope: 'global',
  text: `SELECT channel_id, standing, version FROM channel_standings
         WHERE region = $1 AND delivered_version < version ORDER BY changed_at, channel_id LIMIT $2`,
  parameters: ['text', 'int8'],
  row: { channel_id: 'text', standing: 'text', version: 'int8' },
});

export const MARK_DELIVERED = defineStatement({
  name: 'mark-standings-delivered',
  scope: 'global',
  text: `UPDATE channel_standings s SET delivered_version = d.version
         FROM unnest($1::text[], $2::int8[]) AS d(id, version)
         WHERE s.channel_id = d.id AND s.delivered_version < d.version`,
  parameters: ['text[]', 'int8[]'],
});

export const OUTBOX_FIGURES = defineStatement({
  name: 'figures-of-standings',
  scope: 'global',
  text: `SELECT region, count(*)::int AS waiting, extract(epoch FROM now() - min(changed_at))::float8 AS oldest_s
         FROM channel_standings WHERE delivered_version < version GROUP BY region`,
  parameters: [],
  row: { region: 'text', waiting: 'int4', oldest_s: 'float8' },
});

export const COUNT_DIRTY = defineStatement({
  name: 'figures-of-dirty-accounts',
  scope: 'global',
  text: 'SELECT count(*)::int AS dirty FROM billing_accounts WHERE dirty_since IS NOT NULL',
  parameters: [],
  row: { dirty: 'int4' },
});

export const TAKE_RULES = defineStatement({
  name: 'take-billing-rules',
  scope: 'global',
  text: `INSERT INTO billing_rules AS r (is_on, free_numbers, grace_ms) VALUES ($1, $2, $3)
         ON CONFLICT ("only") DO UPDATE SET is_on = $1, free_numbers = $2, grace_ms = $3
         WHERE (r.is_on, r.free_numbers, r.grace_ms) IS DISTINCT FROM ($1, $2, $3)`,
  parameters: ['bool', 'int4', 'int8'],
});

export const MARK_ALL_DIRTY = defineStatement({
  name: 'mark-all-accounts-dirty',
  scope: 'global',
  text: 'UPDATE billing_accounts SET dirty_since = now() WHERE dirty_since IS NULL',
  parameters: [],
});

/** A standing that this version does not know stays what it is until it changes: it counts as refused, for the same reason as at the edge. */
export function toStanding(stored: string | null): Standing | undefined {
  if (stored === null) return undefined;
  return stored === 'good' || stored === 'over_free_allowance' ? stored : 'past_due';
}
