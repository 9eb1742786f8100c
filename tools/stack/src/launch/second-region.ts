/**
 * A second region on the same machine, as small as it can be: stores, a worker and an edge of its own. Channels live in
 * one region; the edge of each forwards requests of the other's channels.
 */
import { join } from 'node:path';
import { migrate } from '@dormouse/database';
import type { InstallationFacts } from './installation.js';
import { startObjectStore } from '../objects/object-store.js';
import type { Ports } from './ports.js';
import type { ProcessRegister } from '../processes/process-register.js';
import { ensureDatabase } from '../stores/postgres.js';
import { startRedis } from '../stores/redis.js';
import type { Stores } from '../stores/stores.js';

export const SECOND_REGION = 'eu';

/** Where a region keeps its data. */
export interface RegionStores {
  databaseUrl: string;
  redisUrl: string;
  objects: Stores['objects'];
}

export interface SecondRegionOptions {
  register: ProcessRegister;
  dataDir: string;
  ports: Ports;
  installation: InstallationFacts;
  /** Of the first region: the second has a database of its own on the same server. */
  databaseUrl: string;
  log: (message: string) => void;
}

/** Starts the second region's stores, with nothing in them that must survive a power cut. */
export async function startSecondRegionStores(
  options: SecondRegionOptions,
): Promise<RegionStores & { stop(): Promise<void> }> {
  const { register, dataDir, ports, installation, log } = options;
  const database = `dormouse_${SECOND_REGION}`;
  await ensureDatabase(options.databaseUrl, database);
  const databaseUrl = new URL(options.databaseUrl);
  databaseUrl.pathname = `/${database}`;
  await migrate(databaseUrl.href, 'regional');
  const redis = await startRedis({
    register,
    dir: join(dataDir, `redis-${SECOND_REGION}`),
    ports: [await ports.choose('redis', 1)],
    password: installation.passwords.redis,
    log,
  });
  const bucket = `dormouse-${SECOND_REGION}`;
  const objects = await startObjectStore({
    dir: join(dataDir, `objects-${SECOND_REGION}`),
    port: await ports.choose('objects', 1),
    buckets: [bucket],
    durable: false,
    ...installation.objectKeys,
  });
  return {
    databaseUrl: databaseUrl.href,
    redisUrl: redis.url,
    objects: { endpoint: objects.endpoint, bucket, ...installation.objectKeys },
    stop: async () => {
      await Promise.all([redis.stop(), objects.stop()]);
    },
  };
}
