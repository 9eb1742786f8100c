/**
 * Brings to one region what waits for it in the global database.
 *
 * Guarantees: what waits is written within two seconds of the moment at which a region that was away can be reached again; only
 * rows wait, nothing in memory or Redis, and they are read once the region answers, so it gets the newest of each. It may be
 * written twice, when a process dies between the region's commit and the mark in the global database, or when two processes do it
 * at once: the work must bear that.
 *
 * A region that is away is noticed as back by a connection of its own. One is tried every half second, also while earlier ones
 * hang: the way may lose what is sent without a word. Each delivery has fresh connections, since older ones may be dead. A region
 * that falls silent in the middle of a delivery fails it after 4 s. While the global database is away nothing is sent; it is
 * queried again every interval.
 */
import { openRegionalConnections, type Listener, type RegionalConnections } from '@dormouse/database';

export interface RegionOutboxOptions {
  region: string;
  databaseUrl: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** What waits, for the log: `standings`. */
  what: string;
  /** Whether anything waits; queries the global database. */
  hasWaiting: () => Promise<boolean>;
  /** Writes everything that waits. What it throws is logged, and the rest is repeated. */
  deliver: (database: RegionalConnections) => Promise<void>;
  log: RegionOutboxLog;
  /** Interval between two looks. */
  everyMs?: number;
}

export interface RegionOutboxLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

const EVERY_MS = 1_000;
const TRY_EVERY_MS = 500;
/** As many hang for less than the 5 s after which one is given up. */
const MOST_TRIES = 10;
const STATEMENT_TIMEOUT_MS = 2_000;
/** What is written to a region at the same time. */
const CONNECTIONS = 4;
const PURPOSE = 'outbox';

export class RegionOutbox {
  readonly #options: RegionOutboxOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #isKicked = false;
  #endPause: (() => void) | undefined;
  #isLoggedAsFailing = false;

  constructor(options: RegionOutboxOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Something waits: looks at once. */
  kick(): void {
    this.#isKicked = true;
    this.#endPause?.();
  }

  /** Resolves when a delivery that is under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#endPause?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#isKicked = false;
      await this.#round();
      if (!this.#isKicked) await this.#pause();
    }
  }

  async #round(): Promise<void> {
    try {
      if (!(await this.#options.hasWaiting())) return;
      if (!(await this.#isReached())) return;
      await this.#deliver();
      this.#worked();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #deliver(): Promise<void> {
    const database = this.#connections();
    try {
      await this.#options.deliver(database);
    } finally {
      // After a failure a connection may hang until its query is given up; nobody waits for that.
      void database.close().catch(() => undefined);
    }
  }

  /** Resolves with true once the region's database answers, with false when this is stopped. */
  #isReached(): Promise<boolean> {
    const { signal } = this.#stopping;
    const database = this.#connections();
    const tries = new Set<Listener>();
    return new Promise((resolve) => {
      const end = (isReached: boolean): void => {
        clearInterval(timer);
        signal.removeEventListener('abort', stop);
        for (const each of tries) void each.close();
        tries.clear();
        resolve(isReached);
      };
      const stop = (): void => end(false);
      const attempt = (): void => {
        if (tries.size >= MOST_TRIES) return;
        const made = database.listen({
          channels: [PURPOSE],
          purpose: PURPOSE,
          onListening: () => end(true),
          onNotification: () => undefined,
          onEnd: (error) => {
            tries.delete(made);
            this.#failed(error);
          },
        });
        tries.add(made);
      };
      const timer = setInterval(attempt, TRY_EVERY_MS);
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
      else attempt();
    });
  }

  #connections(): RegionalConnections {
    const { databaseUrl: url, applicationName } = this.#options;
    return openRegionalConnections({
      url,
      applicationName,
      maxConnections: CONNECTIONS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  }

  #pause(): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(end, this.#options.everyMs ?? EVERY_MS);
      this.#endPause = end;
      function end(): void {
        clearTimeout(timer);
        resolve();
      }
    });
  }

  /** An outage is logged once when it begins and once when it ends. */
  #failed(error: unknown): void {
    if (this.#isLoggedAsFailing) return;
    this.#isLoggedAsFailing = true;
    const { region, what, log } = this.#options;
    log.warn({ region, err: error }, `what waits for a region was not written: ${what}; it is repeated`);
  }

  #worked(): void {
    if (!this.#isLoggedAsFailing) return;
    this.#isLoggedAsFailing = false;
    const { region, what, log } = this.#options;
    log.info({ region }, `what waited for a region is written: ${what}`);
  }
}
