/**
 * Wraps every stored key of the owned shards by the current master key: the keys of channels that are awake and those in
 * the snapshots of sleeping channels, which are not woken. Seals the secrets in their settings under the current settings
 * key, including those that were stored before there was one.
 *
 * Guarantee: a key is replaced only by the same key with the new wrapping, which is opened before it is stored; a key that
 * was changed meanwhile is left for the next pass. Passes are paced, and can end at any point, with the worker or with the
 * loss of a shard: the next owner finds what is left.
 * PostgreSQL or object storage away: the pass skips what it cannot reach, and the next pass retries it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { LogOf } from '@dormouse/bootstrap';
import { defineFormerKeySearch } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import type { Ownership } from '../shards/ownership.js';
import { HAS_FORMER_KEY } from '../auth-state/state-rows.js';
import { errorOutline } from '../error-outline.js';

const DUE = defineFormerKeySearch(HAS_FORMER_KEY);
const BATCH = 100;
const FIRST_AFTER_MS = 60_000;

export interface MasterKeySweepOptions {
  readonly database: Pick<RegionalDatabase, 'pool'>;
  readonly currentId: string;
  /** Id of the current settings key; undefined: the secrets in settings are left as they are. */
  readonly currentSettingsId?: string;
  /** The shards owned now. */
  readonly held: () => readonly Ownership[];
  /** Wraps the data key of a channel, in its rows and in its snapshots, by the current master key. */
  readonly rewrapRows: (owner: Ownership, channelId: string) => Promise<unknown>;
  readonly rewrapSnapshots: (owner: Ownership, channelId: string) => Promise<unknown>;
  /** Seals the secrets in a channel's settings under the current settings key. */
  readonly resealSettings: (channelId: string) => Promise<unknown>;
  /** Most channels per second. */
  readonly perSecond: number;
  /** Pause between two passes. */
  readonly everyMs: number;
  readonly log: LogOf<'info' | 'warn'>;
  /** Called after a pass with the number of channels of the owned shards that are left under another master key. */
  readonly onLeft?: (channels: number) => void;
}

export class MasterKeySweep {
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;

  constructor(private readonly options: MasterKeySweepOptions) {}

  start(): void {
    this.loop ??= this.run();
  }

  /** Starts nothing more. Running work ends by itself, or with the process. */
  stop(): void {
    this.stopping.abort();
  }

  /**
   * Runs once through the channels of the owned shards.
   * @returns the number of channels whose keys were wrapped, and of those that are left
   */
  async pass(): Promise<{ wrapped: number; left: number }> {
    const { log, currentId, perSecond, onLeft } = this.options;
    let [wrapped, left, after] = [0, 0, ''];
    for (;;) {
      const due = await this.due(after);
      for (const { id, shard } of due) {
        if (this.stopping.signal.aborted) return { wrapped, left };
        if (await this.rewrap(id, shard)) wrapped += 1;
        else left += 1;
        await this.pause(1_000 / perSecond);
      }
      after = due.at(-1)?.id ?? after;
      if (due.length < BATCH) break;
    }
    if (wrapped + left > 0) log.info({ masterKeyId: currentId, wrapped, left }, 'master key: a pass is over');
    onLeft?.(left);
    return { wrapped, left };
  }

  private async run(): Promise<void> {
    // A worker that has just started has no shards yet.
    for (await this.firstTurn(); !this.stopping.signal.aborted; await this.nextTurn()) {
      await this.pass().catch((error: unknown) =>
        this.options.log.warn({ failure: errorOutline(error) }, 'master key: a pass failed'),
      );
    }
  }

  private firstTurn(): Promise<void> {
    return this.pause(Math.min(this.options.everyMs, FIRST_AFTER_MS) * (0.75 + Math.random() / 2));
  }

  private nextTurn(): Promise<void> {
    return this.pause(this.options.everyMs * (0.75 + Math.random() / 2));
  }

  private async rewrap(channelId: string, shard: number): Promise<boolean> {
    const { held, rewrapRows, rewrapSnapshots, resealSettings, log } = this.options;
    const owner = held().find(({ fence }) => fence.shard === shard);
    if (!owner?.isHeld()) return false;
    try {
      await rewrapRows(owner, channelId);
      await rewrapSnapshots(owner, channelId);
      await resealSettings(channelId);
      return true;
    } catch (error) {
      log.warn(
        { channelId, failure: errorOutline(error) },
        'master key: the keys of a channel could not be wrapped by the current key',
      );
      return false;
    }
  }

  private async due(after: string): Promise<{ id: string; shard: number }[]> {
    const { database, held, currentId, currentSettingsId } = this.options;
    const shards = held().flatMap((owner) => (owner.isHeld() ? [owner.fence.shard] : []));
    if (shards.length === 0) return [];
    return DUE.all(database.pool, shards, after, currentId, BATCH, currentSettingsId ?? null);
  }

  private async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
