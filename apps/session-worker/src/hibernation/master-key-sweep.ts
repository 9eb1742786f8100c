/**
 * Brings every stored key of the owned shards under the current master key: those of channels that are awake and those
 * in the snapshots of channels that sleep, which sleep on; and the secrets among their settings under the current key of
 * settings, those included that were stored before there was one.
 *
 * What it guarantees: a key is replaced only by the same key under the new wrapping, opened before it is stored; what
 * was changed by somebody else in between is left for the next pass. It goes at its pace beside everything else, and
 * ends with its worker or the loss of a shard at any point without harm: what is left is found by the next owner.
 * PostgreSQL or object storage away: the pass goes on with what it can reach, the rest is tried in the next.
 */
import { setTimeout as delay } from 'node:timers/promises';
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
  /** Of the settings' keys; undefined: their secrets are left as they are. */
  readonly currentSettingsId?: string;
  /** The shards owned now. */
  readonly held: () => readonly Ownership[];
  /** Wraps what a channel has by the current master key; each says whether there was anything to do. */
  readonly rewrapRows: (owner: Ownership, channelId: string) => Promise<unknown>;
  readonly rewrapSnapshots: (owner: Ownership, channelId: string) => Promise<unknown>;
  /** Seals the secrets among a channel's settings under the current key. */
  readonly resealSettings: (channelId: string) => Promise<unknown>;
  /** Channels a second at most. */
  readonly perSecond: number;
  /** Pause between two passes. */
  readonly everyMs: number;
  readonly log: { info(facts: object, text: string): void; warn(facts: object, text: string): void };
  /** How many channels of the owned shards a pass has left under another master key. */
  readonly onLeft?: (channels: number) => void;
}

export class MasterKeySweep {
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;

  constructor(private readonly options: MasterKeySweepOptions) {}

  start(): void {
    this.loop ??= this.run();
  }

  /** Begins nothing more. What is under way ends by itself, or with the process. */
  stop(): void {
    this.stopping.abort();
  }

  /**
   * Goes once through the channels of the owned shards.
   * @returns channels whose keys were wrapped anew, and those that are left
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
    // A worker that has just started has no shards, and something better to do.
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
        'master key: the keys of a channel could not be wrapped anew',
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
