/**
 * Writes standings to the regions: at once when it is kicked, and in short intervals in any case; each region on its own. Runs in
 * every billing process; with Redis away, too.
 */
import type { Logger } from '@dormouse/bootstrap';
import type { RegionOutbox } from '@dormouse/channel-directory';
import type { RegionalConnections } from '@dormouse/database';
import type { Region } from '@dormouse/gateway-contract';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Regions } from '../regions/regions.js';
import { LOG, REGION_POLL_MS } from '../services.js';
import { StandingOutbox } from './standing-outbox.js';

@Injectable()
export class RegionStandings implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #outboxes: ReadonlyMap<string, RegionOutbox>;

  constructor(
    @Inject(Regions) regions: Regions,
    @Inject(StandingOutbox) private readonly outbox: StandingOutbox,
    @Inject(REGION_POLL_MS) everyMs: number,
    @Inject(LOG) private readonly log: Logger,
  ) {
    this.#outboxes = new Map(
      regions.links.map((link) => [
        link.region,
        link.outbox({
          what: 'standings',
          hasWaiting: () => outbox.hasWaiting(link.region),
          deliver: (database) => this.#deliver(link.region, database),
          ...{ everyMs, log },
        }),
      ]),
    );
  }

  /** The region has standings to get. */
  kick(region: string): void {
    this.#outboxes.get(region)?.kick();
  }

  onApplicationBootstrap(): void {
    for (const each of this.#outboxes.values()) each.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.#outboxes.values()].map((each) => each.stop()));
  }

  async #deliver(region: Region, database: RegionalConnections): Promise<void> {
    const written = await this.outbox.deliver(region, database);
    if (written > 0) this.log.info({ region, written }, 'standings written');
  }
}
