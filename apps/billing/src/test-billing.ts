import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { openLog, type RunningServer } from '@dormouse/bootstrap';
import { ChannelDirectory, type Standing } from '@dormouse/channel-directory';
import {
  openGlobalDatabase,
  openRegionalDatabase,
  type GlobalDatabase,
  type Listener,
  type RegionalDatabase,
} from '@dormouse/database';
import type { Region } from '@dormouse/gateway-contract';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { claimTestRedis, createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { openBilling } from './billing.js';
import { billingConfig, type BillingConfig } from './config.js';

const SHARD = 0;
const FENCE = { shard: SHARD, epoch: 1n };
let created = 0;
export const TEST_BILLING_SECRET = 'a secret of billing for specs only';

/** A region as its own workers and edges see it; billing reaches its database through a proxy. */
export class TestRegion {
  readonly directory: ChannelDirectory;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #listener: Listener;

  private constructor(
    readonly region: Region,
    readonly database: RegionalDatabase,
    readonly proxy: FaultProxy,
    private readonly store: TestStore,
  ) {
    this.directory = new ChannelDirectory({ database, cacheMs: 0 });
    this.#listener = database.listen({
      channels: ['channel_changed'],
      purpose: 'billing spec',
      onListening: () => this.#changes.emit('listening'),
      onNotification: (_channel, id) => void this.#changes.emit(id),
      onEnd: () => undefined,
    });
  }

  static async open(region: Region): Promise<TestRegion> {
    const store = await createTestDatabase('regional');
    const database = openRegionalDatabase({ url: store.url, applicationName: 'billing-spec' });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 1)', [SHARD]);
    await database.pool.query('INSERT INTO region (name) VALUES ($1)', [region]);
    const opened = new TestRegion(region, database, await FaultProxy.to(store.url), store);
    await new Promise((resolve) => opened.#changes.once('listening', resolve));
    return opened;
  }

  get databaseName(): string {
    return new URL(this.store.url).pathname.slice(1);
  }

  async create(accountId: string): Promise<string> {
    // In the order of creation also when two are linked in the same millisecond.
    const id = `CH-${String((created += 1)).padStart(6, '0')}-${randomBytes(4).toString('hex')}`;
    await this.directory.create({ id, accountId, name: id, tokenHash: randomBytes(32), shard: SHARD });
    return id;
  }

  /** A channel that is linked now. */
  async link(accountId: string): Promise<string> {
    const id = await this.create(accountId);
    await this.directory.recordSessionState(FENCE, id, { state: 'open', linked: true });
    return id;
  }

  /** Resolves when the number has this standing in its region. */
  async becomes(id: string, standing: Standing): Promise<void> {
    await this.until(id, async () => (await this.directory.byId(id))?.standing === standing);
  }

  /** Resolves when billing has seen the number as it is. */
  async seen(id: string): Promise<void> {
    await this.until(id, async () => {
      const { rows } = await this.database.pool.query('SELECT 1 FROM channels WHERE id = $1 AND NOT billing_due', [id]);
      return rows.length === 1;
    });
  }

  /** Codes of the notices that the number's customer got, in order. */
  async notices(id: string): Promise<number[]> {
    const { rows } = await this.database.pool.query<{ payload: { errors: { code: number }[] } }>(
      `SELECT payload FROM events WHERE channel_id = $1 AND type = 'service' AND method = 'post' ORDER BY seq`,
      [id],
    );
    return rows.map(({ payload }) => payload.errors[0]?.code ?? 0);
  }

  async close(): Promise<void> {
    await this.#listener.close();
    await this.database.close();
    await this.proxy.close();
    await this.store.drop();
  }

  private until(id: string, isSo: () => Promise<boolean>): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        isSo().then((so) => {
          if (!so) return;
          this.#changes.off(id, look);
          resolve();
        }, reject);
      };
      this.#changes.on(id, look);
      look();
    });
  }
}

export interface TestBillingTerms {
  regions?: Region[];
  /** Switches beside those that every test has. */
  switches?: Record<string, string>;
  nowMs?: () => number;
}

/** Billing for specs with stores of its own. It can be stopped and started again. */
export class TestBilling {
  readonly logged: string[] = [];
  #server: RunningServer | undefined;

  private constructor(
    readonly database: GlobalDatabase,
    readonly regions: readonly TestRegion[],
    readonly redis: TestStore,
    private readonly store: TestStore,
    private readonly terms: TestBillingTerms,
  ) {}

  /** With the stores, not yet started. */
  static async prepare(terms: TestBillingTerms = {}): Promise<TestBilling> {
    const [store, redis, ...regions] = await Promise.all([
      createTestDatabase('global'),
      claimTestRedis(),
      ...(terms.regions ?? ['sg']).map((region) => TestRegion.open(region)),
    ]);
    const database = openGlobalDatabase({ url: store.url, applicationName: 'billing-spec' });
    return new TestBilling(database, regions, redis, store, terms);
  }

  static async open(terms: TestBillingTerms = {}): Promise<TestBilling> {
    const billing = await TestBilling.prepare(terms);
    await billing.start();
    return billing;
  }

  /** The first region, or the one of this name. */
  region(name?: Region): TestRegion {
    const found = name === undefined ? this.regions[0] : this.regions.find(({ region }) => region === name);
    if (!found) throw new Error(`there is no region ${String(name)}`);
    return found;
  }

  get databaseName(): string {
    return new URL(this.store.url).pathname.slice(1);
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  /**
   * @param switches beside those of the test
   * @param beyond what no switch allows
   */
  async start(
    switches: Record<string, string> = {},
    beyond: Partial<Pick<BillingConfig, 'regionPollMs'>> = {},
  ): Promise<void> {
    const log = openLog({ name: 'billing', destination: { write: (line) => void this.logged.push(line) } });
    const addresses = this.regions.map(({ region, proxy }) => [region, { databaseUrl: proxy.url }]);
    const config = billingConfig({
      PORT: '0',
      PROBE_PORT: '0',
      HOST: '127.0.0.1',
      GLOBAL_DATABASE_URL: this.store.url,
      REGIONS: JSON.stringify(Object.fromEntries(addresses)),
      REDIS_URL: this.redis.url,
      BILLING_SECRET: TEST_BILLING_SECRET,
      STRIPE_SECRET_KEY: 'sk_test_spec',
      STRIPE_WEBHOOK_SECRET: 'whsec_spec',
      // Nothing listens there: Stripe is away.
      STRIPE_API_URL: 'http://127.0.0.1:9',
      REGION_POLL_MS: '100',
      ...this.terms.switches,
      ...switches,
    });
    this.#server = await openBilling({ ...config, ...beyond }, log, this.terms.nowMs);
  }

  async stop(): Promise<void> {
    await this.#server?.drain();
    this.#server = undefined;
  }

  /** Stores facts of an account's subscription, as a look at Stripe does. */
  async setFacts(
    accountId: string,
    facts: { status: string | null; bought?: number; oldestUnpaidAtMs?: number; asOfMs?: number },
  ): Promise<void> {
    const { status, bought = 0, oldestUnpaidAtMs, asOfMs = this.terms.nowMs?.() ?? Date.now() } = facts;
    await this.database.pool.query(
      `INSERT INTO billing_accounts (account_id, subscription_status, bought, oldest_unpaid_at, facts_as_of, dirty_since)
       VALUES ($1, $2, $3, $4, $5, now()) ON CONFLICT (account_id) DO UPDATE
       SET subscription_status = $2, bought = $3, oldest_unpaid_at = $4, facts_as_of = $5, dirty_since = now()`,
      [accountId, status, bought, oldestUnpaidAtMs === undefined ? null : new Date(oldestUnpaidAtMs), new Date(asOfMs)],
    );
  }

  async close(): Promise<void> {
    await this.stop();
    await this.database.close();
    await Promise.all(this.regions.map((region) => region.close()));
    await Promise.all([this.redis.drop(), this.store.drop()]);
  }
}
