/**
 * The outbox of standings to the regions.
 *
 * What it guarantees: a region gets the newest standing of each number, also when it was away, and each change is notified to the
 * customer once: the version is written with it, and an older or equal one changes nothing there. Killed between the region's
 * commit and the mark here, the same version is sent again, which changes nothing. A standing that changes several times while
 * its region is away is one write. With the global database away nothing is sent; nothing is kept in memory or in Redis.
 */
import type { GlobalDatabase, RegionalDatabase, RowOf } from '@dormouse/database';
import { ChannelDirectory } from '@dormouse/channel-directory';
import type { Region } from '@dormouse/gateway-contract';
import { MARK_DELIVERED, toStanding, UNDELIVERED } from './standing-rows.js';

/** Rows that are read at once. */
const PAGE = 100;
/** Writes to a region at the same time; as many as the outbox has connections. */
const AT_ONCE = 4;

/** A standing that its region has. */
interface Written {
  id: string;
  version: string;
}

export class StandingOutbox {
  constructor(private readonly database: Pick<GlobalDatabase, 'pool'>) {}

  /** Whether a region has not got everything yet. */
  async hasWaiting(region: Region): Promise<boolean> {
    return (await UNDELIVERED.count(this.database.pool, region, 1)) > 0;
  }

  /**
   * Writes everything that a region has not got yet.
   * @returns how many standings were written
   * @throws the error of one that failed; those before it were written
   */
  async deliver(region: Region, database: Pick<RegionalDatabase, 'pool'>): Promise<number> {
    const directory = new ChannelDirectory({ database, cacheMs: 0 });
    for (let written = 0; ;) {
      const rows = await UNDELIVERED.all(this.database.pool, region, PAGE);
      for (let from = 0; from < rows.length; from += AT_ONCE) {
        written += await this.#write(directory, rows.slice(from, from + AT_ONCE));
      }
      if (rows.length < PAGE) return written;
    }
  }

  async #write(directory: ChannelDirectory, rows: readonly RowOf<typeof UNDELIVERED>[]): Promise<number> {
    const outcomes = await Promise.allSettled(
      rows.map(async ({ channel_id: id, standing, version }): Promise<Written> => {
        await directory.setStanding(id, toStanding(standing) ?? 'good', BigInt(version));
        return { id, version };
      }),
    );
    const written = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    await this.#mark(written);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    return written.length;
  }

  async #mark(delivered: readonly Written[]): Promise<void> {
    if (delivered.length === 0) return;
    await MARK_DELIVERED.count(
      this.database.pool,
      delivered.map(({ id }) => id),
      delivered.map(({ version }) => version),
    );
  }
}
