/**
 * Messages, receipts, chats and contacts go when they are older than their channel stores them; of channels that store nothing, the
 * content goes when it was delivered.
 *
 * Guarantees:
 * - What a webhook has not had yet stays, and all that was stored after it, with its files: `webhooksWaitSince`. Events go by the
 *   dispatcher's own retention; those of channels that store nothing go here, and never before every webhook has had them.
 * - Nothing that was stored within `KEPT_MS` goes from a channel that stores nothing: until then pulled events, edits and requests to
 *   send a message again find it. Its messages stay without content for a day, so that receipts find them.
 * - One worker of the region does it at a time (`rounds.ts`), in transactions of `batch` rows with pauses between them. It may end
 *   or die anywhere: what is left is found by the next round, which goes on at the channel where it was.
 * PostgreSQL away: the round fails and goes on later. Redis and object storage are not used: bytes of files go with the edge's sweep.
 */
import type { LogOf } from '@dormouse/bootstrap';
import { retainedChannels, type RetainedChannel } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import { deleteOldEvents, webhooksWaitSince } from '@dormouse/event-outbox/retention';
import {
  eraseContents,
  FIRST_PLACE,
  oldestMessages,
  removeOldMessages,
  removeOldRest,
  type ErasePlace,
} from '@dormouse/message-store/write';
import { RepeatedWork } from './repeated-work.js';
import { Rounds } from './rounds.js';

const DAY_S = 86_400;
/** How long a channel that stores nothing keeps what was delivered. */
const KEPT_MS = 3_600_000;
/** Of how many rounds one goes through all that a channel has, and not only its oldest messages: once a week, by the hour. */
const ROUNDS_UNTIL_REST = 168;
const CHECK_EVERY_MS = 60_000;
const HOLD_MS = 120_000;

/** Kinds of rows that the retention removes. */
export type RemovedKind = 'messages' | 'chats' | 'contacts' | 'receipts' | 'contents' | 'events';

export interface MessageRetentionOptions {
  readonly database: Pick<RegionalDatabase, 'pool'>;
  readonly workerId: string;
  /** How long channels store messages that have no retention of their own, in days. */
  readonly days: number;
  /** From the end of one round to the begin of the next. */
  readonly everyMs: number;
  /** Rows of one transaction, and the pause after it. */
  readonly batch?: number;
  readonly pauseMs?: number;
  /** Channels that are looked at in one query. */
  readonly page?: number;
  readonly endFiles?: Parameters<typeof removeOldMessages>[1];
  readonly log: LogOf<'info' | 'warn'>;
  readonly onRemoved?: (kind: RemovedKind, rows: number) => void;
  /** By how many seconds the oldest message that the last round left is older than its channel stores it. */
  readonly onOverdue?: (seconds: number) => void;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

export class MessageRetention {
  private readonly options: Required<MessageRetentionOptions>;
  private readonly rounds: Rounds;
  private readonly work: RepeatedWork;

  constructor(options: MessageRetentionOptions) {
    this.options = {
      ...{ batch: 200, pauseMs: 50, page: 500, now: Date.now },
      ...{ endFiles: () => Promise.resolve(), onRemoved: () => undefined, onOverdue: () => undefined },
      ...options,
    };
    const { database, workerId, everyMs, log } = options;
    this.rounds = new Rounds({ database, workerId, everyMs, name: 'messages', holdMs: HOLD_MS });
    const checkEveryMs = Math.min(everyMs, CHECK_EVERY_MS);
    this.work = new RepeatedWork({ everyMs: checkEveryMs, log, failed: 'old messages stay for now' });
  }

  start(): void {
    this.work.start(() => this.run());
  }

  async stop(): Promise<void> {
    await this.work.stop();
  }

  /**
   * Goes a round that is due, from where it was left.
   * @returns false when none was due, or another worker is at it
   * @throws when PostgreSQL is away, or when it is stopped in the middle; the round goes on later
   */
  async run(): Promise<boolean> {
    const round = await this.rounds.claim();
    try {
      if (round) await this.go(round.afterChannel, round.number);
      this.options.onOverdue(await this.rounds.overdueS());
    } finally {
      if (round) await this.rounds.giveBack().catch(() => undefined);
    }
    return round !== undefined;
  }

  private async go(afterChannel: string, number: number): Promise<void> {
    const { database, page } = this.options;
    let overdueS = 0;
    for (let after = afterChannel; !this.work.isStopping;) {
      const channels = await retainedChannels(database.pool, after, page);
      overdueS = Math.max(overdueS, await this.retainPage(channels, number));
      after = channels.at(-1)?.id ?? after;
      if (this.work.isStopping) return;
      if (channels.length < page) return this.rounds.end(overdueS);
      if (!(await this.rounds.advance(after))) return;
    }
  }

  /** @returns by how many seconds the oldest message that is left is too old */
  private async retainPage(channels: readonly RetainedChannel[], roundNumber: number): Promise<number> {
    const oldest = await oldestMessages(
      this.options.database,
      channels.map(({ id }) => id),
    );
    const worked: RetainedChannel[] = [];
    for (const channel of channels) {
      if (this.work.isStopping) break;
      const oldestS = oldest.get(channel.id) ?? Infinity;
      if (channel.retentionDays === 0) await this.eraseChannel(channel.id);
      if (oldestS < this.sentBeforeS(channel)) {
        await this.removeFrom(channel);
        worked.push(channel);
      }
      if (isTurnOf(channel.id, roundNumber)) await this.removeRest(channel);
    }
    const left = await oldestMessages(
      this.options.database,
      worked.map(({ id }) => id),
    );
    return Math.max(0, ...worked.map((channel) => this.sentBeforeS(channel) - (left.get(channel.id) ?? Infinity)));
  }

  /** Epoch seconds: what was sent before is too old. */
  private sentBeforeS({ retentionDays }: RetainedChannel): number {
    const { now, days } = this.options;
    return Math.floor(now() / 1_000) - Math.max(retentionDays ?? days, 1) * DAY_S;
  }

  private async removeFrom(channel: RetainedChannel): Promise<void> {
    const { database, endFiles, batch, onRemoved } = this.options;
    const storedBefore = (await webhooksWaitSince(database.pool, channel.id)) ?? null;
    const tooOld = { channelId: channel.id, sentBeforeS: this.sentBeforeS(channel), storedBefore };
    for (let removed = batch; removed >= batch && !this.work.isStopping;) {
      const step = await removeOldMessages(database, endFiles, tooOld, batch);
      for (const kind of ['messages', 'chats', 'contacts'] as const) onRemoved(kind, step[kind]);
      removed = step.messages;
      if (removed >= batch) await this.pause();
    }
  }

  /** Of a channel that stores nothing: content that every webhook has had, and the events that had it. */
  private async eraseChannel(channelId: string): Promise<void> {
    const { database, endFiles, batch, now, onRemoved } = this.options;
    const waitsSinceMs = (await webhooksWaitSince(database.pool, channelId))?.getTime() ?? Infinity;
    const storedBefore = new Date(Math.min(waitsSinceMs, now() - KEPT_MS));
    for (let deleted = batch; deleted >= batch && !this.work.isStopping;) {
      deleted = await deleteOldEvents(database.pool, channelId, KEPT_MS, batch);
      onRemoved('events', deleted);
      if (deleted >= batch) await this.pause();
    }
    for (let after: ErasePlace | undefined = FIRST_PLACE; after && !this.work.isStopping;) {
      const step: { erased: number; next: ErasePlace | undefined } = await eraseContents(
        database,
        endFiles,
        { channelId, storedBefore, after },
        batch,
      );
      onRemoved('contents', step.erased);
      after = step.next;
      if (after) await this.pause();
    }
  }

  private async removeRest(channel: RetainedChannel): Promise<void> {
    const { database, batch, onRemoved } = this.options;
    const through = { channelId: channel.id, sentBeforeS: this.sentBeforeS(channel), batch };
    const removed = await removeOldRest(database, through, () => this.pause());
    for (const kind of ['chats', 'contacts', 'receipts'] as const) onRemoved(kind, removed[kind]);
  }

  /** Between two transactions: traffic has its turn, and the round stays this worker's. */
  private async pause(): Promise<void> {
    await this.work.pause(this.options.pauseMs);
    await this.rounds.hold();
  }
}

/** Whether all that the channel has is gone through in this round. */
function isTurnOf(channelId: string, roundNumber: number): boolean {
  let hash = 0;
  for (const character of channelId) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % ROUNDS_UNTIL_REST;
  return hash === roundNumber % ROUNDS_UNTIL_REST;
}
