/**
 * Nothing is left of a deleted channel an hour later: rows of every table of the region, objects in the bucket, and the record itself.
 *
 * Guarantees: a channel is purged once its session has ended (the owner of its shard sees to that), and again until it was deleted half
 * an hour ago, so that what was under way at its deletion goes, too. Only then is it marked as purged, and its record goes when billing
 * has seen its end; until then the record names nobody. Keys of idempotent requests go with the edge's own sweep, within ten minutes.
 * One worker of the region does it at a time (`rounds.ts`). What may be long goes in batches. Each step may be repeated; a worker that
 * dies leaves what the next round finds. A part of a channel that cannot be purged (PostgreSQL or object storage away) is tried again
 * in the next round; its other parts go all the same, and so do the other channels.
 */
import type { LogOf } from '@dormouse/bootstrap';
import {
  channelsToPurge,
  defineRecordRemovalStatement,
  deleteSecrets,
  markPurged,
  oldestUnpurgedS,
  type DeletedChannel,
} from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import { purgeEvents } from '@dormouse/event-outbox/retention';
import { purgeChannelMedia } from '@dormouse/media-store/retention';
import { purgeStored } from '@dormouse/message-store/write';
import type { ObjectStorage } from '@dormouse/object-storage';
import { purgeState } from '../auth-state/state-rows.js';
import { errorOutline } from '../error-outline.js';
import { RepeatedWork } from './repeated-work.js';
import { Rounds } from './rounds.js';

const REMOVE_RECORDS = defineRecordRemovalStatement();
const PAGE = 100;
const HOLD_MS = 120_000;

export interface DeletedChannelsOptions {
  readonly database: RegionalDatabase;
  readonly storage: ObjectStorage;
  readonly workerId: string;
  readonly everyMs: number;
  /** Rows of one transaction, and the pause after it. */
  readonly batch?: number;
  readonly pauseMs?: number;
  readonly log: LogOf<'info' | 'warn'>;
  /** For how many seconds the channel that waits longest to be purged has been deleted; 0: none waits. */
  readonly onWaiting?: (seconds: number) => void;
}

export class DeletedChannels {
  private readonly options: Required<DeletedChannelsOptions>;
  private readonly rounds: Rounds;
  private readonly work: RepeatedWork;

  constructor(options: DeletedChannelsOptions) {
    this.options = { batch: 500, pauseMs: 20, onWaiting: () => undefined, ...options };
    const { database, workerId, everyMs, log } = options;
    this.rounds = new Rounds({ database, workerId, name: 'deleted-channels', everyMs: everyMs / 2, holdMs: HOLD_MS });
    this.work = new RepeatedWork({ everyMs, log, failed: 'deleted channels stay for now' });
  }

  start(): void {
    this.work.start(() => this.run());
  }

  async stop(): Promise<void> {
    await this.work.stop();
  }

  /**
   * Goes a round that is due, over all deleted channels.
   * @returns false when none was due, or another worker is at it
   * @throws when PostgreSQL is away, or when it is stopped in the middle; the next round goes on
   */
  async run(): Promise<boolean> {
    const { database, onWaiting } = this.options;
    onWaiting(await oldestUnpurgedS(database.pool));
    const round = await this.rounds.claim();
    if (!round) return false;
    try {
      await this.go(round.afterChannel);
    } finally {
      await this.rounds.giveBack().catch(() => undefined);
    }
    return true;
  }

  private async go(afterChannel: string): Promise<void> {
    const { database, log } = this.options;
    for (let after = afterChannel; ;) {
      const channels = await channelsToPurge(database.pool, after, PAGE);
      for (const channel of channels) {
        if (this.work.isStopping) return;
        await this.purge(channel);
        if (!(await this.rounds.advance(channel.id))) return;
      }
      after = channels.at(-1)?.id ?? after;
      if (channels.length < PAGE) break;
    }
    const removed = await REMOVE_RECORDS.count(database.pool);
    if (removed > 0) log.info({ channels: removed }, 'deleted channels: nothing is left of them');
    await this.rounds.end();
  }

  private async purge({ id, settled }: DeletedChannel): Promise<void> {
    const { database, log } = this.options;
    let isPurged = true;
    for (const [part, purgePart] of Object.entries(this.parts)) {
      try {
        await purgePart(id);
      } catch (error) {
        this.work.signal.throwIfAborted();
        isPurged = false;
        const facts = { channelId: id, part, failure: errorOutline(error) };
        log.warn(facts, 'a deleted channel could not be purged; it is tried again');
      }
    }
    if (isPurged && settled) await markPurged(database.pool, id);
  }

  /** What a channel has, and how each goes; none needs another. */
  private get parts(): Readonly<Record<string, (channelId: string) => Promise<unknown>>> {
    const { database, storage, batch } = this.options;
    const { pool } = database;
    const inBatches = { batch, pause: () => this.pause() };
    return {
      state: (id) => purgeState(pool, id),
      snapshots: (id) => purgeSnapshots(storage, id),
      files: (id) => purgeChannelMedia({ database, storage, ...inBatches }, id),
      messages: (id) => purgeStored(database, id, inBatches),
      events: async (id) => {
        while ((await purgeEvents(pool, id, batch)) >= batch) await this.pause();
      },
      secrets: (id) => deleteSecrets(pool, id),
    };
  }

  private async pause(): Promise<void> {
    await this.work.pause(this.options.pauseMs);
    await this.rounds.hold();
  }
}

/** Deletes the sealed sessions of a channel, those too that no record names. */
async function purgeSnapshots(storage: ObjectStorage, channelId: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of storage.list(`sessions/${channelId}/`)) keys.push(key);
  if (keys.length > 0) await storage.delete(keys);
}
