import { measureConnections, type Logger, type Probes } from '@dormouse/bootstrap';
import { ChannelSeals, RegionCheck } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { FreshLinks, MediaReader } from '@dormouse/media-store/read';
import { ObjectStorage } from '@dormouse/object-storage';
import { subscribeEventsReady } from '@dormouse/queues';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import {
  Inject,
  Module,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { DispatcherConfig } from './config.js';
import { createDispatcher } from './delivery/create-dispatcher.js';
import type { Dispatcher } from './delivery/dispatcher.js';
import { Retention } from './retention.js';

/** What the module holds, each by its own name. */
const DATABASE = 'regional database';
const REDIS = 'redis';
const STORAGE = 'object storage';
const CREATED = 'dispatcher and its connections';
const RETENTION = 'retention';
const REGION_CHECK = 'region check';

type Created = ReturnType<typeof createDispatcher>;

/** One dispatcher with its database and its ear on Redis; runs from bootstrap to shutdown. */
@Module({})
export class AppModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(CREATED) private readonly created: Created,
    @Inject(DATABASE) private readonly database: RegionalDatabase,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(STORAGE) private readonly storage: ObjectStorage,
    @Inject(RETENTION) private readonly retention: Retention,
    @Inject(REGION_CHECK) private readonly regionCheck: RegionCheck,
  ) {}

  static with(config: DispatcherConfig, log: Logger, probes: Probes): DynamicModule {
    return {
      module: AppModule,
      providers: [
        {
          provide: DATABASE,
          useFactory: () => openRegionalDatabase({ ...config.database, applicationName: 'webhook-dispatcher' }),
        },
        { provide: REDIS, useFactory: () => openRedis({ ...config.redis, name: 'webhook-dispatcher', log }) },
        { provide: STORAGE, useFactory: () => new ObjectStorage(config.storage) },
        {
          provide: RETENTION,
          inject: [DATABASE],
          useFactory: (database: RegionalDatabase) => new Retention(database, log),
        },
        {
          provide: REGION_CHECK,
          inject: [DATABASE],
          useFactory: (database: RegionalDatabase) => {
            const masterKeys = { settings: config.settingsKeys.keys };
            return new RegionCheck({ database, region: config.region, masterKeys });
          },
        },
        {
          provide: CREATED,
          inject: [DATABASE, REDIS, STORAGE],
          useFactory: (database: RegionalDatabase, redis: Redis, storage: ObjectStorage) => {
            measureConnections(probes.metrics, { databases: { regional: database.pool }, redis: { signals: redis } });
            return createDispatcher({
              database,
              seals: new ChannelSeals(config.settingsKeys),
              subscribe: (hear) => subscribeEventsReady(redis, hear),
              links: new FreshLinks(new MediaReader({ database, storage, linkTtlS: config.linkTtlS })),
              settings: config.delivery,
              registry: probes.metrics,
              log,
            });
          },
        },
      ],
    };
  }

  get dispatcher(): Dispatcher {
    return this.created.dispatcher;
  }

  /** The only dependency without which nothing is delivered; Redis away only means polling. */
  async databaseAnswers(): Promise<boolean> {
    await this.database.pool.query('SELECT 1');
    return true;
  }

  /** @throws {RegionMismatchError} when the database is another region's */
  async onApplicationBootstrap(): Promise<void> {
    await this.regionCheck.start();
    this.dispatcher.start();
    this.retention.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.regionCheck.close();
    await Promise.all([this.dispatcher.stop(), this.retention.stop()]);
    await this.created.close();
    this.storage.close();
    await closeRedis(this.redis);
    await this.database.close();
  }
}
