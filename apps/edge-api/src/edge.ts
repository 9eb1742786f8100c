import { measureConnections, openProbeServer, Probes, type Logger, type RunningServer } from '@dormouse/bootstrap';
import { ChannelChanges, ChannelDirectory, ChannelSeals, RegionCheck } from '@dormouse/channel-directory';
import { openRegionalDatabase, requireMigrations, type RegionalDatabase } from '@dormouse/database';
import { IdleConnections } from '@dormouse/http-server';
import { ByteBudget, Downloader, MediaIntake, Spool } from '@dormouse/media-files';
import { MediaReader } from '@dormouse/media-store/read';
import { MediaUploads } from '@dormouse/media-store/uploads';
import { GroupReader, MessageReader } from '@dormouse/message-store/read';
import { ObjectStorage } from '@dormouse/object-storage';
import { CommandClient } from '@dormouse/queues';
import { closeRedis, openRedis, requireNoEviction, type Redis } from '@dormouse/redis';
import { BadTokens } from './access/bad-tokens.js';
import { RegionProxy } from './access/region-proxy.js';
import { RateLimits } from './access/rate-limits.js';
import { Settings } from './channel/settings.js';
import { measureCalls } from './call-metrics.js';
import type { EdgeConfig } from './config.js';
import { createApp } from './create-app.js';
import { MediaSweep } from './media/media-sweep.js';
import { UploadPlaces } from './media/upload-places.js';
import { IdempotencyKeys } from './messages/idempotency-keys.js';

const KEYS_SWEEP_MS = 600_000;

function channelsOf(database: RegionalDatabase, { region, settingsKeys }: EdgeConfig, log: Logger) {
  const changes = new ChannelChanges({ database, log });
  const directory = new ChannelDirectory({ database, changes, seals: new ChannelSeals(settingsKeys) });
  const regionCheck = new RegionCheck({ database, region, masterKeys: { settings: settingsKeys.keys } });
  return { changes, directory, regionCheck };
}

async function requireStores({
  database,
  redis,
  region,
  log,
}: {
  database: RegionalDatabase;
  redis: Redis;
  region: string;
  log: Logger;
}): Promise<void> {
  await Promise.all([requireMigrations(database.pool, 'regional'), requireNoEviction(redis, `region ${region}`, log)]);
}

function probesOf(database: RegionalDatabase, commands: CommandClient): Probes {
  return new Probes({
    app: 'edge-api',
    checks: {
      database: async () => (await database.pool.query('SELECT 1')).rowCount === 1,
      commands: () => commands.isReady(),
    },
  });
}

export interface OpenEdge extends RunningServer {
  url: string;
  /** Where it answers probes and metrics. */
  probesUrl: string;
}

/**
 * Opens an edge: connects to the region's stores and listens. It starts without them, too, answers 503 meanwhile, and
 * is ready (GET /readyz of its probe port) once they are there.
 * @throws {RegionMismatchError} when its database is another region's
 * @throws {SchemaBehindError} when its database lacks migrations of this version
 */
export async function openEdge(config: EdgeConfig, log: Logger): Promise<OpenEdge> {
  const { region, regionHosts, redisUrl, maxJsonBytes, site, allowPrivateWebhooks } = config;
  const database = openRegionalDatabase({ ...config.database, applicationName: 'edge-api', plansOnce: true });
  const redis = openRedis({ url: redisUrl, name: 'edge-api', whenAway: 'fail', log });
  const commands = new CommandClient({ redisUrl, startWithinMs: config.startWithinMs, log });
  const { changes, directory, regionCheck } = channelsOf(database, config, log);
  await Promise.all([regionCheck.start(), requireStores({ database, redis, region, log })]);
  const regionProxy = new RegionProxy({ here: region });
  const probes = probesOf(database, commands);
  measureConnections(probes.metrics, { databases: { regional: database.pool }, redis: { edge: redis } });
  measureCalls(probes.metrics, commands);
  const { limits, linkTtlS, retentionMs, maxBytesPerChannel } = config.media;
  const storage = new ObjectStorage(config.storage);
  const stores = { database, storage };
  const downloader = new Downloader(config.downloads);
  const mediaSweep = new MediaSweep(stores, log);
  const counters = openCounters(redis, config);
  const idempotencyKeys = new IdempotencyKeys({ database });
  const forgetting = setInterval(() => void idempotencyKeys.sweep().catch(() => undefined), KEYS_SWEEP_MS);
  const app = await createApp({
    services: {
      directory,
      messages: new MessageReader({ database }),
      groups: new GroupReader({ database }),
      commands,
      settings: new Settings({ directory, allowPrivateWebhooks }),
      rateLimits: counters.rateLimits,
      idempotencyKeys,
      media: {
        reader: new MediaReader({ ...stores, linkTtlS }),
        uploads: new MediaUploads({ ...stores, retentionMs, maxBytesPerChannel }),
        intake: new MediaIntake({ spool: await openSpool(config.media), downloader, limits }),
        places: new UploadPlaces(config.media.uploads),
        limits,
        retentionMs,
      },
    },
    access: {
      region,
      regionHosts,
      directory,
      ...counters,
      regionProxy,
      probes,
      maxJsonBytes,
      bodyMemory: openBodyMemory(config.maxBodyMemoryBytes),
      media: config.media,
    },
    allowedOrigins: config.allowedOrigins,
    trustedProxies: config.trustedProxies,
    site,
    log,
  });
  const idleConnections = new IdleConnections(app.getHttpServer());
  await app.listen(config.listen);
  const probeServer = await openProbeServer({ probes, ...config.probes });
  changes.start();
  return {
    url: await app.getUrl(),
    probesUrl: probeServer.url,
    drain: async () => {
      probes.startDraining();
      clearInterval(forgetting);
      regionCheck.close();
      await idleConnections.closeUntil(app.close());
      regionProxy.close();
      await mediaSweep.close();
      await downloader.close();
      storage.close();
      await commands.close();
      await closeRedis(redis);
      await changes.close();
      await database.close();
      await probeServer.close();
    },
  };
}

function openCounters(redis: Redis, { rateLimits, badTokenLimit }: EdgeConfig) {
  return {
    rateLimits: new RateLimits({ redis, limits: rateLimits }),
    badTokens: new BadTokens({ redis, limit: badTokenLimit }),
  };
}

function openSpool({ spoolDirectory, maxSpoolBytes }: EdgeConfig['media']): Promise<Spool> {
  const refusal = 'too many files are on their way at once';
  return Spool.open(spoolDirectory, Date.now, new ByteBudget({ totalBytes: maxSpoolBytes, refusal }));
}

/** No channel gets more than a quarter: one that sends large bodies slowly does not keep the others out. */
function openBodyMemory(totalBytes: number): ByteBudget {
  return new ByteBudget({
    totalBytes,
    perOwnerBytes: totalBytes / 4,
    refusal: 'too many large bodies are arriving at once',
  });
}
