import { measureConnections, type Logger, type Probes } from '@dormouse/bootstrap';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { ObjectStorage } from '@dormouse/object-storage';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import {
  Inject,
  Module,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { WorkerConfig } from './config.js';
import { openWorkerMedia, type WorkerMedia } from './worker/worker-media.js';
import { Worker } from './worker/worker.js';

const DATABASE = 'regional database';
const LEASE_DATABASE = 'regional database, for leases only';
const REDIS = 'redis';
const MEDIA = 'media';

const LEASE_CONNECTIONS = 2;

/** One worker with its connections; works from bootstrap to shutdown. */
@Module({})
export class WorkerModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(Worker) readonly worker: Worker,
    @Inject(DATABASE) private readonly database: RegionalDatabase,
    @Inject(LEASE_DATABASE) private readonly leaseDatabase: RegionalDatabase,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(ObjectStorage) private readonly storage: ObjectStorage,
    @Inject(MEDIA) private readonly media: WorkerMedia,
  ) {}

  static with(config: WorkerConfig, log: Logger, probes: Probes): DynamicModule {
    return {
      module: WorkerModule,
      providers: [
        {
          provide: DATABASE,
          useFactory: () =>
            openRegionalDatabase({ ...config.database, applicationName: 'session-worker', plansOnce: true }),
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
        { provide: ObjectStorage, useFactory: () => new ObjectStorage(config.storage) },
        {
          provide: MEDIA,
          inject: [DATABASE, ObjectStorage],
          useFactory: (database: RegionalDatabase, storage: ObjectStorage) =>
            openWorkerMedia({ config: config.media, database, storage, log }),
        },
        {
          provide: Worker,
          inject: [DATABASE, LEASE_DATABASE, REDIS, ObjectStorage, MEDIA],
          useFactory: (
            database: RegionalDatabase,
            leaseDatabase: RegionalDatabase,
            redis: Redis,
            storage: ObjectStorage,
            media: WorkerMedia,
          ) => {
            measureConnections(probes.metrics, {
              databases: { regional: database.pool, leases: leaseDatabase.pool },
              redis: { signals: redis },
            });
            return new Worker({
              config,
              database,
              leaseDatabase,
              redis,
              storage,
              media,
              registry: probes.metrics,
              log,
            });
          },
        },
      ],
    };
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.worker.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.worker.drain();
    await this.media.close();
    this.storage.close();
    await closeRedis(this.redis);
    await Promise.all([this.database.close(), this.leaseDatabase.close()]);
  }
}
