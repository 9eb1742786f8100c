/**
 * Brings channels to an end that were left between two databases: creations that nobody finished are given up, begun
 * deletions are finished. Runs in every control plane; doing the same twice is harmless.
 */
import { newRequestId, type Logger } from '@dormouse/bootstrap';
import type { Regions } from '../regions/regions.js';
import type { ChannelEntries } from './channel-entries.js';
import type { Channels } from './channels.js';

export interface UnsettledSettings {
  /** How often to look. */
  everyMs: number;
  /** Younger ones are still in some request's hands: longer than a creation can take with every timeout used up. */
  olderThanMs: number;
}

const AT_ONCE = 100;

export class UnsettledChannels {
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(
    private readonly entries: ChannelEntries,
    private readonly channels: Channels,
    private readonly regions: Regions,
    private readonly log: Logger,
    private readonly settings: UnsettledSettings = { everyMs: 15_000, olderThanMs: 120_000 },
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#looking ??= this.settle().finally(() => (this.#looking = undefined));
    }, this.settings.everyMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Looks once. Never throws: what fails is tried again at the next look. */
  async settle(): Promise<void> {
    await Promise.all(this.regions.names.map((region) => this.#settleRegion(region)));
  }

  async #settleRegion(region: Regions['names'][number]): Promise<void> {
    try {
      const { olderThanMs } = this.settings;
      for (const entry of await this.entries.leftUnsettled(region, olderThanMs, AT_ONCE)) {
        await this.entries.giveUp(entry.id);
        // A region that is away ends this look: its other channels would only wait for the same.
        await this.channels.finishDeletion(entry, newRequestId());
        this.log.info({ channelId: entry.id, region }, 'a channel left unsettled is deleted in both databases');
      }
    } catch (error) {
      this.log.warn({ err: error, region }, 'channels stay unsettled for now');
    }
  }
}
