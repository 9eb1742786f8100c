/**
 * Billing's access to the regions: their databases, through the channel directory alone.
 *
 * What it guarantees: each region has connections and timeouts of its own, so that one that is away holds up no other. A region is
 * never queried by anybody else for what billing wants, and no region ever queries billing.
 */
import { RegionCheck, RegionOutbox, type RegionOutboxLog, type RegionOutboxOptions } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import type { Region } from '@dormouse/gateway-contract';
import type { RegionAddress } from '../config.js';

const STATEMENT_TIMEOUT_MS = 5_000;
const APPLICATION_NAME = 'billing';

/** A region's database. */
export interface RegionLink {
  readonly region: Region;
  readonly database: RegionalDatabase;
  /** Brings to the region what waits for it, once started; the caller stops it. */
  outbox(terms: OutboxTerms): RegionOutbox;
}

type OutboxTerms = Pick<RegionOutboxOptions, 'what' | 'hasWaiting' | 'deliver' | 'everyMs'> & { log: RegionOutboxLog };

export class Regions {
  readonly #links: readonly RegionLink[];
  readonly #checks: readonly RegionCheck[];

  constructor(addresses: ReadonlyMap<Region, RegionAddress>, maxConnections: number) {
    this.#links = [...addresses].map(([region, { databaseUrl: url }]) => {
      const database = openRegionalDatabase({
        url,
        applicationName: APPLICATION_NAME,
        maxConnections,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      });
      const outbox = (terms: OutboxTerms): RegionOutbox =>
        new RegionOutbox({ ...terms, region, databaseUrl: url, applicationName: APPLICATION_NAME });
      return { region, database, outbox };
    });
    this.#checks = this.#links.map(({ region, database }) => new RegionCheck({ database, region, masterKeys: {} }));
  }

  /** Compares every entry of `REGIONS` with its database; those that are away are compared later. @throws {RegionMismatchError} */
  async check(): Promise<void> {
    await Promise.all(this.#checks.map((check) => check.start()));
  }

  get links(): readonly RegionLink[] {
    return this.#links;
  }

  get names(): Region[] {
    return this.#links.map(({ region }) => region);
  }

  /** The link of a region, or undefined when it is not part of this installation. */
  link(region: string): RegionLink | undefined {
    return this.#links.find((link) => link.region === region);
  }

  /** The pools by what they are for. */
  pools(): Record<string, RegionalDatabase['pool']> {
    return Object.fromEntries(this.#links.map(({ region, database }) => [region, database.pool]));
  }

  async close(): Promise<void> {
    for (const check of this.#checks) check.close();
    await Promise.all(this.#links.map(({ database }) => database.close()));
  }
}
