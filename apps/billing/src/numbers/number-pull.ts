/**
 * Fetches from the regions which numbers count: those that were linked for the first time, and those whose channel was deleted.
 *
 * What it guarantees: a number is marked as seen in its region only after it was stored here, together with the mark that its
 * account's standings are to be computed anew; killed in between, it is stored again, which changes nothing. A region's database
 * that is away keeps its marks, and everything is fetched when it is back. With the global database away nothing is marked as seen.
 */
import { channelsDueForBilling, clearBillingDue, type ChannelDueForBilling } from '@dormouse/channel-directory';
import { transaction, type GlobalDatabase, type Queryable } from '@dormouse/database';
import type { Region } from '@dormouse/gateway-contract';
import type { RegionLink } from '../regions/regions.js';
import { markAccountsDirty } from '../standings/marked-accounts.js';
import { storeBilledNumbers } from './billed-numbers.js';

const PAGE = 500;

export interface NumberPullParts {
  database: Pick<GlobalDatabase, 'pool'>;
  /** Called in the transaction that changes the numbers of accounts. */
  onChange?: (on: Queryable, accountIds: readonly string[]) => Promise<void>;
}

export class NumberPull {
  constructor(private readonly parts: NumberPullParts) {}

  /**
   * Fetches everything that is due in a region.
   * @returns the accounts whose numbers changed
   * @throws the driver's error while either database is away
   */
  async pull({ region, database }: Pick<RegionLink, 'region' | 'database'>): Promise<string[]> {
    const changed = new Set<string>();
    for (;;) {
      const seen = await channelsDueForBilling(database.pool, PAGE);
      if (seen.length === 0) break;
      for (const accountId of await this.#store(region, seen)) changed.add(accountId);
      await clearBillingDue(database.pool, seen);
      if (seen.length < PAGE) break;
    }
    return [...changed];
  }

  #store(region: Region, seen: readonly ChannelDueForBilling[]): Promise<string[]> {
    return transaction(this.parts.database, async (connection) => {
      const accounts = await storeBilledNumbers(connection, region, seen);
      await markAccountsDirty(connection, accounts);
      await this.parts.onChange?.(connection, accounts);
      return accounts;
    });
  }
}
