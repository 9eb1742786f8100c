/**
 * Brings to each region what it lacks of its channels: deletions that were started, tokens that were replaced, and the end of
 * creations that were never completed.
 *
 * Guarantees: those of the region's outbox (channel-directory): they arrive within two seconds of the moment at which a region that
 * was away can be reached again, the newest of each channel. Runs in every control plane; each step is idempotent. With the global
 * database away nothing is sent, with a region's Redis away its workers find their deleted channels by themselves.
 */
import { newRequestId, type Logger } from '@dormouse/bootstrap';
import { ChannelDirectory, type RegionOutbox } from '@dormouse/channel-directory';
import type { RegionalConnections } from '@dormouse/database';
import type { Region } from '@dormouse/gateway-contract';
import type { Regions } from '../regions/regions.js';
import type { ChannelEntries, ChannelEntryRow } from './channel-entries.js';
import type { TokenRotations } from './token-rotations.js';

export interface RegionDeliveriesParts {
  entries: ChannelEntries;
  rotations: TokenRotations;
  regions: Regions;
  log: Logger;
  /** Creations that are not complete are left to their request for longer than it takes when every timeout is used up. */
  creationsOlderThanMs?: number;
}

const CREATIONS_OLDER_THAN_MS = 120_000;
const BATCH = 100;
/** Written to a region at the same time; as many as the outbox has connections. */
const AT_ONCE = 4;

export class RegionDeliveries {
  readonly #outboxes: readonly RegionOutbox[];
  readonly #olderThanMs: number;

  constructor(private readonly parts: RegionDeliveriesParts) {
    this.#olderThanMs = parts.creationsOlderThanMs ?? CREATIONS_OLDER_THAN_MS;
    this.#outboxes = parts.regions.links.map((link) =>
      link.outbox({
        what: 'deletions and tokens',
        hasWaiting: () => this.#hasWaiting(link.region),
        deliver: (database) => this.deliver(link.region, database),
      }),
    );
  }

  start(): void {
    for (const outbox of this.#outboxes) outbox.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#outboxes.map((outbox) => outbox.stop()));
  }

  /** Writes everything that the region lacks. @throws the error of the first that failed; it is repeated */
  async deliver(region: Region, database: Pick<RegionalConnections, 'pool'>): Promise<void> {
    const { entries, rotations, regions } = this.parts;
    const directory = new ChannelDirectory({ database, cacheMs: 0, seals: regions.link(region)?.seals });
    await allOf(
      () => rotations.pending(region, BATCH),
      async (rotation) => void (await rotations.finish(directory, rotation)),
    );
    await allOf(
      () => entries.leftUnsettled(region, this.#olderThanMs, BATCH),
      (entry) => this.#delete(directory, entry),
    );
  }

  async #hasWaiting(region: Region): Promise<boolean> {
    const { entries, rotations } = this.parts;
    const [pending, unsettled] = await Promise.all([
      rotations.pending(region, 1),
      entries.leftUnsettled(region, this.#olderThanMs, 1),
    ]);
    return pending.length + unsettled.length > 0;
  }

  async #delete(directory: ChannelDirectory, entry: ChannelEntryRow): Promise<void> {
    const { entries, regions, log } = this.parts;
    await entries.giveUp(entry.id);
    const isFirst = await directory.markDeleted(entry.id);
    const shard = isFirst ? (await directory.byId(entry.id))?.shard : undefined;
    await entries.settleDeletion(entry.id);
    if (shard === undefined) return;
    log.info({ channelId: entry.id, region: entry.region }, 'a channel was deleted in its region, later');
    // Not awaited: the deletion does not depend on the worker, and others wait.
    void regions.link(entry.region)?.endSession({ id: entry.id, shard }, newRequestId());
  }
}

/** Reads and does, a batch after the other, until a batch is not full. */
async function allOf<Item>(read: () => Promise<Item[]>, work: (item: Item) => Promise<void>): Promise<void> {
  for (;;) {
    const items = await read();
    for (let from = 0; from < items.length; from += AT_ONCE) {
      const outcomes = await Promise.allSettled(items.slice(from, from + AT_ONCE).map(work));
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed) throw failed.reason;
    }
    if (items.length < BATCH) return;
  }
}
