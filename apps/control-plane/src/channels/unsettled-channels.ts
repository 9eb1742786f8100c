/**
 * Settles channels whose change reached one of the two databases only: unfinished creations are given up, started
 * deletions are completed. Runs in every control plane; it is idempotent.
 */
import { newRequestId, type Logger } from '@dormouse/bootstrap';
import type { Regions } from '../regions/regions.js';
import type { ChannelEntries } from './channel-entries.js';
import type { Channels } from './channels.js';

export interface UnsettledSettings {
  /** Interval between two runs. */
  intervalMs: number;
  /** Entries unsettled for less are left to their request: longer than a creation takes when every timeout is used up. */
  olderThanMs: number;
}

const BATCH = 100;

export class UnsettledChannels {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly entries: ChannelEntries,
    private readonly channels: Channels,
    private readonly regions: Regions,
    private readonly log: Logger,
    private readonly settings: UnsettledSettings = { intervalMs: 15_000, olderThanMs: 120_000 },
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.settle().finally(() => (this.#running = undefined));
    }, this.settings.intervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One run. Never throws: what fails is retried at the next run. */
  async settle(): Promise<void> {
    await Promise.all(this.regions.names.map((region) => this.#settleRegion(region)));
  }

  async #settleRegion(region: Regions['names'][number]): Promise<void> {
    try {
      const { olderThanMs } = this.settings;
      for (const entry of await this.entries.leftUnsettled(region, olderThanMs, BATCH)) {
        await this.entries.giveUp(entry.id);
        // A region that is away ends its part of this run: its other channels would time out as well.
        await this.channels.finishDeletion(entry, newRequestId());
        this.log.info({ channelId: entry.id, region }, 'an unsettled channel was deleted in both databases');
      }
    } catch (error) {
      this.log.warn({ err: error, region }, 'settling channels failed; it is tried again');
    }
  }
}
