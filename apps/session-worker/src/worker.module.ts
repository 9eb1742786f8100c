import type { Logger, Probes } from '@dormouse/bootstrap';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import {
  Inject,
  Module,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { WorkerConfig } from './config.js';
import { Worker } from './worker.js';

const DATABASE = 'regional database';
const LEASE_DATABASE = 'regional database, for leases only';
const REDIS = 'redis';

const LEASE_CONNECTIONS = 2;

/** One worker with its connections; works from bootstrap to shutdown. */
@Module({})
export class WorkerModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(Worker) readonly worker: Worker,
    @Inject(DATABASE) private readonly database: RegionalDatabase,
    @Inject(LEASE_DATABASE) private readonly leaseDatabase: RegionalDatabase,
    @Inject(REDIS) private readonly redis: Redis,
  ) {}

  static with(config: WorkerConfig, log: Logger, probes: Probes): DynamicModule {
    return {
      module: WorkerModule,
      providers: [
        {
          provide: DATABASE,
          useFactory: () => openRegionalDatabase({ ...config.database, applicationName: 'session-worker' }),
        },
        {
          provide: LEASE_DATABASE,
          useFactory: () =>
            openRegionalDatabase({
              url: config.database.url,
              maxConnections: LEASE_CONNECTIONS,
              applicationName: 'session-worker leases',
              statementTimeoutMs: config.shards.ttlMs / 2,
            }),
        },
        {
          provide: REDIS,
          useFactory: () => openRedis({ url: config.redis.url, name: 'session-worker', whenAway: 'fail', log }),
        },
        {
          provide: Worker,
          inject: [DATABASE, LEASE_DATABASE, REDIS],
          useFactory: (database: RegionalDatabase, leaseDatabase: RegionalDatabase, redis: Redis) =>
            new Worker({ config, database, leaseDatabase, redis, registry: probes.metrics, log }),
        },
      ],
    };
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.worker.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.worker.drain();
    await closeRedis(this.redis);
    await Promise.all([this.database.close(), this.leaseDatabase.close()]);
  }
}
