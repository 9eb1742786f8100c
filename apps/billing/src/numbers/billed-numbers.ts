import type { ChannelDueForBilling, Standing } from '@dormouse/channel-directory';
import { defineStatement, type Queryable } from '@dormouse/database';
import type { Region } from '@dormouse/gateway-contract';
import { toStanding } from '../standings/standing-rows.js';

const STORE = defineStatement({
  name: 'store-billed-numbers',
  scope: 'global',
  text: `INSERT INTO billed_numbers AS n (channel_id, account_id, region, first_linked_at, ended_at)
         SELECT seen.id, seen.account_id, $1, seen.first_linked_at, seen.ended_at
         FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
           AS seen(id, account_id, first_linked_at, ended_at)
         ORDER BY seen.id
         ON CONFLICT (channel_id) DO UPDATE SET ended_at = excluded.ended_at
           WHERE n.ended_at IS NULL AND excluded.ended_at IS NOT NULL
         RETURNING n.account_id`,
  parameters: ['text', 'text[]', 'text[]', 'timestamptz[]', 'timestamptz[]'],
  row: { account_id: 'text' },
});

const COUNT = defineStatement({
  name: 'count-billed-numbers',
  scope: 'global',
  text: `SELECT
           (SELECT count(*) FROM billed_numbers WHERE account_id = $1 AND ended_at IS NULL)::int AS numbers,
           (SELECT coalesce(sum(numbers), 0) FROM free_number_gifts
            WHERE account_id = $1 AND (ends_at IS NULL OR ends_at > $2))::int AS given`,
  parameters: ['text', 'timestamptz'],
  row: { numbers: 'int4', given: 'int4' },
});

const PAGE = defineStatement({
  name: 'page-of-billed-numbers',
  scope: 'global',
  text: `SELECT n.channel_id, n.region, n.first_linked_at, s.standing FROM billed_numbers n
         LEFT JOIN channel_standings s ON s.channel_id = n.channel_id
         WHERE n.account_id = $1 AND n.ended_at IS NULL
         ORDER BY n.first_linked_at, n.channel_id LIMIT $2 OFFSET $3`,
  parameters: ['text', 'int8', 'int8'],
  row: { channel_id: 'text', region: 'text', first_linked_at: 'timestamptz', standing: 'text?' },
});

/** A number that counts, as it is stored. */
export interface StoredNumber {
  channel: string;
  region: string;
  firstLinkedAt: Date;
  /** Undefined: none was computed yet, and the number is served. */
  standing: Standing | undefined;
}

/** A page of the numbers of an account that count, in the order of first links. */
export async function pageOfNumbers(
  on: Queryable,
  accountId: string,
  { count, offset }: { count: number; offset: number },
): Promise<StoredNumber[]> {
  return (await PAGE.all(on, accountId, count, offset)).map((row) => ({
    channel: row.channel_id,
    region: row.region,
    firstLinkedAt: row.first_linked_at,
    standing: toStanding(row.standing),
  }));
}

/** How many numbers of an account count, and how many of them cost nothing. */
export interface NumberCounts {
  numbers: number;
  /** Free numbers of the account, gifts included; there may be fewer numbers. */
  free: number;
  /** Numbers beyond the free ones. */
  further: number;
}

/**
 * Stores numbers as a region has them: new ones, and the ends of known ones.
 * @returns the accounts for which that changed something
 */
export async function storeBilledNumbers(
  on: Queryable,
  region: Region,
  seen: readonly ChannelDueForBilling[],
): Promise<string[]> {
  const rows = await STORE.all(
    on,
    region,
    seen.map(({ id }) => id),
    seen.map(({ accountId }) => accountId),
    seen.map(({ firstLinkedAt }) => firstLinkedAt),
    seen.map(({ deletedAt }) => deletedAt),
  );
  return [...new Set(rows.map(({ account_id: accountId }) => accountId))];
}

/** Counts the numbers of an account, in the transaction that decides by it. */
export async function countNumbers(
  on: Queryable,
  accountId: string,
  { freeNumbers, nowMs }: { freeNumbers: number; nowMs: number },
): Promise<NumberCounts> {
  const row = await COUNT.first(on, accountId, new Date(nowMs));
  const numbers = row?.numbers ?? 0;
  const free = freeNumbers + (row?.given ?? 0);
  return { numbers, free, further: Math.max(0, numbers - free) };
}
