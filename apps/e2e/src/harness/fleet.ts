import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import type { Switches } from '@dormouse/stack';
import type pg from 'pg';
import { eventually } from './eventually.js';
import type { RunningStack } from './running-stack.js';

/** A session worker that reaches each store through a proxy of its own. */
export interface ProxiedWorker {
  readonly pid: number;
  /** Name in leases: `<name>-<random>`. */
  readonly name: string;
  readonly postgres: FaultProxy;
  readonly redis: FaultProxy;
  readonly objects: FaultProxy;
}

/** The session workers of a stack, and which shards each of them owns. */
export class Fleet {
  private readonly proxies: FaultProxy[] = [];
  private count = 0;

  constructor(
    private readonly running: RunningStack,
    private readonly database: pg.Client,
    private readonly shardCount: number,
    /** Of every worker that joins. */
    private readonly switches: Switches,
  ) {}

  async join(): Promise<ProxiedWorker> {
    const { databaseUrl, redisUrl, objects } = this.running.stack.accounts.sg['session-worker'];
    const name = `worker${(this.count += 1)}`;
    const proxies = await Promise.all([
      FaultProxy.to(databaseUrl),
      FaultProxy.to(redisUrl),
      FaultProxy.to(objects.endpoint),
    ]);
    this.proxies.push(...proxies);
    const [toPostgres, toRedis, toObjects] = proxies;
    const pid = await this.running.stack.startWorker({
      WORKER_ID: name,
      REGIONAL_DATABASE_URL: toPostgres.url,
      REDIS_URL: toRedis.url,
      S3_ENDPOINT: toObjects.url,
      ...this.switches,
    });
    return { pid, name, postgres: toPostgres, redis: toRedis, objects: toObjects };
  }

  /** The shards by their owner's name; those without a live owner are left out. */
  async shards(): Promise<Map<string, number[]>> {
    const { rows } = await this.database.query<{ shard: number; owner: string }>(
      `SELECT shard, regexp_replace(owner_id, '-[0-9a-f]+$', '') AS owner FROM shard_leases
       WHERE owner_id IS NOT NULL AND expires_at > now() ORDER BY shard`,
    );
    const owned = new Map<string, number[]>();
    for (const { shard, owner } of rows) owned.set(owner, [...(owned.get(owner) ?? []), shard]);
    return owned;
  }

  /** Resolves when these workers own all shards between them, as evenly as can be. */
  async untilSpread(workers: readonly ProxiedWorker[], withinMs = 40_000): Promise<void> {
    const names = workers.map(({ name }) => name).toSorted();
    await eventually(
      async () => {
        const owned = await this.shards();
        const sizes = [...owned.values()].map(({ length }) => length);
        const even = Math.max(...sizes) - Math.min(...sizes) <= 1;
        const all = sizes.reduce((sum, size) => sum + size, 0) === this.shardCount;
        return all && even && [...owned.keys()].toSorted().join() === names.join();
      },
      { what: `${names.join(' and ')} own all shards evenly`, withinMs },
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }
}
