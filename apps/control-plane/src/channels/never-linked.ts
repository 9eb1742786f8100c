import { countNeverLinked } from '@dormouse/channel-directory';
import { defineStatement, type GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type { Regions } from '../regions/regions.js';

const REGION_TIMEOUT_MS = 2_000;

const COUNT_LIVE = defineStatement({
  name: 'count-live-channels',
  scope: 'global',
  text: `SELECT coalesce(a.never_linked_channels, $2) AS most,
           (SELECT count(*) FROM channels c WHERE c.account_id = a.id AND c.deleted_at IS NULL)::int4 AS live
         FROM accounts a WHERE a.id = $1`,
  parameters: ['text', 'int4'],
  row: { most: 'int4?', live: 'int4?' },
});

/**
 * Refuses another channel to an account that has many which were never linked. Regions that are away count for none: they must
 * not keep an account from creating channels elsewhere. Several creations at once may exceed the limit by their number.
 * @param standard the limit where the account has none of its own; 0: no limit
 * @throws {GatewayError} 403
 */
export async function requireFewUnlinked(
  database: Pick<GlobalDatabase, 'pool'>,
  regions: Regions,
  accountId: string,
  standard: number,
): Promise<void> {
  const counted = await COUNT_LIVE.first(database.pool, accountId, standard);
  const most = counted?.most ?? standard;
  if (most === 0 || (counted?.live ?? 0) < most) return;
  const counts = await Promise.all(
    regions.names.map(async (name) => {
      const count = regions
        .link(name)
        ?.run((_directory, { pool }) => countNeverLinked(pool, accountId), REGION_TIMEOUT_MS);
      return (await count?.catch(() => 0)) ?? 0;
    }),
  );
  if (counts.reduce((sum, count) => sum + count, 0) < most) return;
  const details = `the account has ${most} channels that were never linked, which is the most it may have: link or delete one first`;
  throw new GatewayError(403, { details });
}
