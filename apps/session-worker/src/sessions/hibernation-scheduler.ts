/**
 * Sends idle sessions to sleep and wakes sleeping ones when their time comes.
 *
 * Guarantees: only a session that is not used falls asleep, after the time of its channel's policy; a sleeping channel of
 * an owned shard is woken at its time, a few at a time, the most overdue first. A scheduled wake only receives what has
 * arrived meanwhile; then the session sleeps again after a moment. What fails in one round is retried in the next.
 * PostgreSQL or object storage away: no session falls asleep or is woken.
 */
import { dueToWake, type ChannelDirectory } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import { errorOutline } from '../error-outline.js';
import { nextWakeMs, sleepTimes, type SleepDefaults, type SleepTimes } from '../hibernation/sleep-policy.js';
import { ConnectSlots } from './connect-slots.js';
import type { Session } from './session.js';
import type { SessionLog } from './session-context.js';
import type { Sessions } from './sessions.js';

export interface HibernationSchedulerOptions {
  readonly sessions: Sessions;
  readonly directory: Pick<ChannelDirectory, 'byId'>;
  readonly database: RegionalDatabase;
  readonly defaults: SleepDefaults;
  /** Time between two rounds. */
  readonly everyMs: number;
  /** Scheduled wakes and falls asleep at once. */
  readonly atOnce: number;
  readonly log: SessionLog;
  /** Called with how long a round took: the search alone, not what it has begun. */
  readonly onRound?: (tookMs: number) => void;
  readonly now?: () => number;
}

/** Idle time after which a session that was opened only to fetch sleeps again, counted from when it has caught up. */
const FETCHED_FOR_MS = 3_000;
/** Timeout of the network's report that everything was delivered. */
const FETCH_WITHIN_MS = 60_000;
/** Timeout of a scheduled wake; it is retried in a later round. */
const WAKE_WITHIN_MS = 30_000;
/** How long a channel's policy is cached. */
const POLICY_FOR_MS = 60_000;
/** Interval between searches for channels that were deleted while their sessions could not be ended. */
const TIDY_EVERY_MS = 60_000;

export class HibernationScheduler {
  private readonly now: () => number;
  private readonly policies = new Map<string, { times: SleepTimes; untilMs: number }>();
  private readonly busy = new Map<string, Promise<void>>();
  private readonly slots: ConnectSlots;
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> | undefined;
  private tidyAtMs: number;

  constructor(private readonly options: HibernationSchedulerOptions) {
    this.now = options.now ?? Date.now;
    this.slots = new ConnectSlots(options.atOnce);
    this.tidyAtMs = this.now() + TIDY_EVERY_MS;
  }

  start(): void {
    this.timer ??= setInterval(() => {
      if (this.round) return;
      const beganMs = performance.now();
      this.round = this.runRound()
        .then(() => this.options.onRound?.(performance.now() - beganMs))
        .catch((error: unknown) =>
          this.options.log.warn({ failure: errorOutline(error) }, 'a round of falling asleep and waking failed'),
        )
        .finally(() => (this.round = undefined));
    }, this.options.everyMs);
  }

  /** Begins nothing more. Running work ends by itself, or when its shard is handed off. */
  stop(): void {
    clearInterval(this.timer);
  }

  /** Puts a channel to sleep now, however long it has been idle. @returns false when it is used, or not awake */
  async putToSleep(channelId: string): Promise<boolean> {
    const session = this.options.sessions.all.find((one) => one.channelId === channelId);
    if (!session?.canHibernate) return false;
    return session.sleep(nextWakeMs(channelId, await this.timesOf(channelId), this.now()));
  }

  /** Runs one round. Resolves when everything that is due has begun. */
  async runRound(): Promise<void> {
    for (const session of this.options.sessions.all) {
      if (!session.canHibernate || this.busy.has(session.channelId)) continue;
      const times = await this.timesOf(session.channelId);
      if (this.isIdle(session, times)) this.begin(session.channelId, () => this.sleep(session, times));
    }
    for (const channelId of await this.due()) {
      if (this.busy.has(channelId)) continue;
      this.begin(channelId, () => this.options.sessions.fetch(channelId, this.now() + WAKE_WITHIN_MS));
    }
    if (this.now() < this.tidyAtMs) return;
    this.tidyAtMs = this.now() + TIDY_EVERY_MS;
    for (const [channelId, { untilMs }] of this.policies) if (untilMs < this.now()) this.policies.delete(channelId);
    await Promise.all(this.options.sessions.held.map((held) => this.options.sessions.tidy(held)));
  }

  private isIdle(session: Session, { idleAfterMs }: SleepTimes): boolean {
    if (!session.canHibernate) return false;
    const { sinceMs, as } = session.activity.quiet;
    const quietMs = this.now() - sinceMs;
    if (as === 'fetched') return quietMs >= FETCHED_FOR_MS;
    if (as === 'fetching') return quietMs >= FETCH_WITHIN_MS;
    return idleAfterMs !== null && quietMs >= idleAfterMs;
  }

  private async sleep(session: Session, times: SleepTimes): Promise<void> {
    if (!this.isIdle(session, times)) return; // it waited for a slot
    await session.sleep(nextWakeMs(session.channelId, times, this.now()));
  }

  private begin(channelId: string, work: () => Promise<unknown>): void {
    const run = async (): Promise<void> => {
      const release = await this.slots.take();
      try {
        await work();
      } catch (error) {
        this.options.log.warn(
          { channelId, failure: errorOutline(error) },
          'a session could not be put to sleep or woken on schedule',
        );
      } finally {
        release();
        this.busy.delete(channelId);
      }
    };
    this.busy.set(channelId, run());
  }

  private async timesOf(channelId: string): Promise<SleepTimes> {
    const known = this.policies.get(channelId);
    if (known && known.untilMs > this.now()) return known.times;
    const { directory, defaults } = this.options;
    const record = await directory.byId(channelId);
    const times = sleepTimes(record?.settings ?? { webhooks: [] }, record?.sleep ?? null, defaults);
    this.policies.set(channelId, { times, untilMs: this.now() + POLICY_FOR_MS * (0.5 + Math.random() / 2) });
    return times;
  }

  /** Sleeping channels of our shards whose time has come, by the database's clock. */
  private async due(): Promise<string[]> {
    const { sessions, database, atOnce } = this.options;
    const shards = sessions.held.filter((held) => held.isHeld()).map(({ fence }) => fence.shard);
    if (shards.length === 0) return [];
    return dueToWake(database.pool, shards, atOnce * 2);
  }
}
