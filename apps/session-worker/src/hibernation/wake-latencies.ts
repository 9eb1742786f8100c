/**
 * Durations of wakes, for operators: counted here by minute and duration, and added to the region's table at an interval.
 *
 * Guarantee: the counts of all workers of a region add up; a worker that is killed loses at most its last few seconds.
 * PostgreSQL away: counts are kept here. No wake waits for it.
 */
import type { RegionalDatabase } from '@dormouse/database';
import { addWakeCounts, deleteOldWakeCounts, type WakeCount } from '@dormouse/database/shards';

/** Ratio of a bound to the one before, which is the precision of percentiles read from the counts. */
const GROWTH = 1.05;
const MINUTE_MS = 60_000;
/** How many minutes are kept while the database is away. */
const MINUTES_KEPT = 60;

export interface WakeLatenciesOptions {
  readonly database: Pick<RegionalDatabase, 'pool'>;
  readonly workerId: string;
  readonly everyMs: number;
  readonly now?: () => number;
}

type Count = { -readonly [Field in keyof WakeCount]: WakeCount[Field] };

/** The bound under which a duration is counted, in milliseconds. */
export function boundOf(tookMs: number): number {
  if (tookMs <= 1) return 1;
  return Math.ceil(GROWTH ** Math.ceil(Math.log(tookMs) / Math.log(GROWTH)));
}

export class WakeLatencies {
  private readonly now: () => number;
  private counts = new Map<string, Count>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;

  constructor(private readonly options: WakeLatenciesOptions) {
    this.now = options.now ?? Date.now;
  }

  start(): void {
    this.timer ??= setInterval(() => void this.write().catch(() => undefined), this.options.everyMs);
  }

  /** Writes the remaining counts, if the database can be reached. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.writing?.catch(() => undefined);
    await this.write().catch(() => undefined);
  }

  add(tookMs: number): void {
    const minuteMs = Math.floor(this.now() / MINUTE_MS) * MINUTE_MS;
    this.count({ minuteMs, upToMs: boundOf(tookMs), wakes: 1, maxMs: Math.ceil(tookMs) });
  }

  /** Adds the counts to the table. @throws when the database is away; the counts are kept then */
  write(): Promise<void> {
    this.writing ??= this.writeCounts().finally(() => (this.writing = undefined));
    return this.writing;
  }

  private async writeCounts(): Promise<void> {
    const counts = [...this.counts.values()];
    this.counts = new Map();
    const { database, workerId } = this.options;
    try {
      if (counts.length === 0) return;
      await addWakeCounts(database.pool, workerId, counts);
    } catch (error) {
      const oldestMs = this.now() - MINUTES_KEPT * MINUTE_MS;
      for (const count of counts) if (count.minuteMs >= oldestMs) this.count(count);
      throw error;
    }
    await deleteOldWakeCounts(database.pool);
  }

  private count({ minuteMs, upToMs, wakes, maxMs }: Count): void {
    const key = `${minuteMs}:${upToMs}`;
    const known = this.counts.get(key);
    if (!known) {
      this.counts.set(key, { minuteMs, upToMs, wakes, maxMs });
      return;
    }
    known.wakes += wakes;
    known.maxMs = Math.max(known.maxMs, maxMs);
  }
}
