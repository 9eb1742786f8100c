import { measureConnections, type Logger, type Probes } from '@dormouse/bootstrap';
import { ChannelSeals, RegionCheck } from '@dormouse/channel-directory';
import { openRegionalDatabase, requireMigrations, type RegionalDatabase } from '@dormouse/database';
import { FreshLinks, MediaReader } from '@dormouse/media-store/read';
import { ObjectStorage } from '@dormouse/object-storage';
import { subscribeEventsReady } from '@dormouse/queues';
import { closeRedis, openRedis, requireNoEviction, type Redis } from '@dormouse/redis';
import {
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { DispatcherConfig } from './config.js';
import { createDispatcher, createWebhookClient } from './delivery/create-dispatcher.js';
import { Dispatcher } from './delivery/dispatcher.js';
import { WebhookClient } from './http/webhook-client.js';
import { Retention } from './retention.js';

/** Names of what is no class of ours. */
const DATABASE = 'regional database';
const REDIS = 'redis';

/**
 * The dispatcher, the retention and their connections. They run from bootstrap to shutdown: first the work stops, then the
 * connections close.
 */
@Module({})
export class AppModule implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    @Inject(Dispatcher) private readonly dispatcher: Dispatcher,
    @Inject(Retention) private readonly retention: Retention,
    @Inject(RegionCheck) private readonly regionCheck: RegionCheck,
    @Inject(WebhookClient) private readonly client: WebhookClient,
    @Inject(ObjectStorage) private readonly storage: ObjectStorage,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(DATABASE) private readonly database: RegionalDatabase,
  ) {}

  static with(config: DispatcherConfig, log: Logger, probes: Probes): DynamicModule {
    return {
      module: AppModule,
      providers: [
        {
          provide: DATABASE,
          useFactory: () => openRegionalDatabase({ ...config.database, applicationName: 'webhook-dispatcher' }),
        },
        {
          provide: REDIS,
          useFactory: async () => {
            const redis = openRedis({ ...config.redis, name: 'webhook-dispatcher', log });
            await requireNoEviction(redis, `region ${config.region}`, log);
            return redis;
          },
        },
        { provide: ObjectStorage, useFactory: () => new ObjectStorage(config.storage) },
        { provide: WebhookClient, useFactory: () => createWebhookClient(config.delivery) },
        {
          provide: Retention,
          inject: [DATABASE],
          useFactory: (database: RegionalDatabase) => new Retention(database, log),
        },
        {
          provide: RegionCheck,
          inject: [DATABASE],
          useFactory: (database: RegionalDatabase) => {
            const masterKeys = { settings: config.settingsKeys.keys };
            return new RegionCheck({ database, region: config.region, masterKeys });
          },
        },
        {
          provide: FreshLinks,
          inject: [DATABASE, ObjectStorage],
          useFactory: (database: RegionalDatabase, storage: ObjectStorage) =>
            new FreshLinks(new MediaReader({ database, storage, linkTtlS: config.linkTtlS })),
        },
        {
          provide: Dispatcher,
          inject: [DATABASE, REDIS, FreshLinks, WebhookClient],
          useFactory: (database: RegionalDatabase, redis: Redis, links: FreshLinks, client: WebhookClient) => {
            measureConnections(probes.metrics, { databases: { regional: database.pool }, redis: { signals: redis } });
            return createDispatcher({
              database,
              seals: new ChannelSeals(config.settingsKeys),
              subscribe: (onEvents) => subscribeEventsReady(redis, onEvents),
              links,
              client,
              settings: config.delivery,
              registry: probes.metrics,
              log,
            });
          },
        },
      ],
    };
  }

  /** The only dependency without which nothing is delivered; Redis away only means polling. */
  async databaseAnswers(): Promise<boolean> {
    await this.database.pool.query('SELECT 1');
    return true;
  }

  /**
   * @throws {RegionMismatchError} when the database is another region's
   * @throws {SchemaBehindError} when it lacks migrations of this version
   */
  async onApplicationBootstrap(): Promise<void> {
    await requireMigrations(this.database.pool, 'regional');
    await this.regionCheck.start();
    this.dispatcher.start();
    this.retention.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.regionCheck.close();
    await Promise.all([this.dispatcher.stop(), this.retention.stop()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
    this.storage.close();
    await closeRedis(this.redis);
    await this.database.close();
  }
}
