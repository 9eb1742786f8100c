/**
 * Figures of a region minute by minute, for plots. Wakes are those that the workers counted in the region. The rest is noted once a
 * minute by one of the control planes (`note`), in the global database, and kept for an hour.
 * A region or the global database away: that minute has no figures. They are for people who look, and decide nothing.
 */
import type { Logger } from '@dormouse/bootstrap';
import { defineStatement, narrowed, type GlobalDatabase } from '@dormouse/database';
import { wakesByMinute } from '@dormouse/database/shards';
import type { FleetHistory, RegionFigures } from '@dormouse/management-contract';
import { queryRegion, type Fleet } from './fleet.js';
import { wakePercentiles } from './region-figures.js';

interface Figures {
  sessions: RegionFigures['sessions'];
  backlog: number;
  waiting?: number;
}

const INTERVAL_MS = 15_000;
const MINUTE_MS = 60_000;

const CLAIM = defineStatement({
  name: 'claim-fleet-sample',
  scope: 'global',
  text: `INSERT INTO fleet_samples (region, minute) VALUES ($1, date_trunc('minute', now()))
         ON CONFLICT (region, minute) DO NOTHING RETURNING minute`,
  parameters: ['text'],
  row: { minute: 'timestamptz' },
});

const STORE = defineStatement({
  name: 'store-fleet-sample',
  scope: 'global',
  text: 'UPDATE fleet_samples SET figures = $3 WHERE region = $1 AND minute = $2',
  parameters: ['text', 'timestamptz', 'jsonb'],
});

const LIST = defineStatement({
  name: 'list-fleet-samples',
  scope: 'global',
  text: `SELECT minute, figures FROM fleet_samples
         WHERE region = $1 AND minute > now() - $2::int * interval '1 minute' AND figures IS NOT NULL`,
  parameters: ['text', 'int4'],
  row: { minute: 'timestamptz', figures: narrowed<Figures | null>('jsonb?') },
});

const DELETE_OLD = defineStatement({
  name: 'delete-old-fleet-samples',
  scope: 'global',
  text: "DELETE FROM fleet_samples WHERE minute < now() - interval '1 hour'",
  parameters: [],
});

export class FleetFiguresHistory {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly fleet: Pick<Fleet, 'names' | 'region' | 'linkOf'>,
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly log: Logger,
    private readonly now: () => number = Date.now,
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.note().finally(() => (this.#running = undefined));
    }, INTERVAL_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Notes the figures of this minute, unless another control plane does. Never throws. */
  async note(): Promise<void> {
    await Promise.all(
      this.fleet.names.map((region) =>
        this.#noteRegion(region).catch((error: unknown) =>
          this.log.debug({ err: error, region }, 'the figures of a minute were not noted'),
        ),
      ),
    );
  }

  /** @throws {GatewayError} 404 for an unknown region, 503 while its database is away */
  async of(region: string, minutes: number): Promise<FleetHistory> {
    const link = this.fleet.linkOf(region);
    const [wakes, samples] = await Promise.all([
      queryRegion(link, ({ pool }) => wakesByMinute(pool, minutes)),
      LIST.all(this.database.pool, region, minutes),
    ]);
    const noted = new Map(samples.map(({ minute, figures }) => [minute.getTime(), figures]));
    const last = Math.floor(this.now() / MINUTE_MS) * MINUTE_MS;
    const points = Array.from({ length: minutes }, (_, index) => {
      const atMs = last - (minutes - 1 - index) * MINUTE_MS;
      const buckets = wakes.filter(({ minute }) => minute.getTime() === atMs);
      return { at: atMs / 1_000, ...noted.get(atMs), wakes: wakePercentiles(buckets) };
    });
    return { region: link.region, points };
  }

  async #noteRegion(region: string): Promise<void> {
    const { pool } = this.database;
    const claimed = await CLAIM.first(pool, region);
    if (!claimed) return;
    await DELETE_OLD.count(pool);
    const { sessions, events, commands } = await this.fleet.region(region);
    const figures: Figures = { sessions, backlog: events.backlog, ...(commands ? { waiting: commands.waiting } : {}) };
    await STORE.count(pool, region, claimed.minute, JSON.stringify(figures));
  }
}
