import type { PostgresServer } from './postgres.js';
import {
  allStarted,
  type GlobalDatabase,
  prepareGlobalDatabase,
  type RegionStores,
  startDatabaseServer,
  type Started,
  startRegionStores,
  type StoresOptions,
} from './region-stores.js';

/** The addresses of everything that keeps data. */
export interface Stores {
  globalDatabase: GlobalDatabase;
  regions: ReadonlyMap<string, RegionStores>;
  /** Process ids of the servers that are our own. */
  processes: { postgres?: number; regions: ReadonlyMap<string, Started<RegionStores>['pids']> };
  stop(): Promise<void>;
}

/** @throws a sentence when stores that are given are to be those of several regions */
function requireOneRegion({ given, regions }: StoresOptions): void {
  if (regions.length === 1) return;
  const single = Object.entries({
    REGIONAL_DATABASE_URL: given.regionalDatabaseUrl,
    REDIS_URL: given.redisUrl,
    S3_ENDPOINT: given.objects,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (single.length === 0) return;
  throw new Error(
    `${single.join(', ')}: names a store of one region, and there are ${regions.length} ` +
      `(${regions.map(({ code }) => code).join(', ')}). Unset it: each region gets its own.`,
  );
}

/**
 * Brings up the stores, or uses those that are given, and applies the migrations.
 * @throws the error of the first store that failed, after the others were stopped
 */
export async function startStores(options: StoresOptions): Promise<Stores> {
  requireOneRegion(options);
  const { globalDatabaseUrl, regionalDatabaseUrl } = options.given;
  const needsServer =
    globalDatabaseUrl === undefined || (regionalDatabaseUrl === undefined && !options.ownDatabaseServers);
  const server: Promise<Started<PostgresServer> | undefined> = needsServer
    ? startDatabaseServer(options)
    : Promise.resolve(undefined);
  const global = async (): Promise<Started<GlobalDatabase>> => {
    const started = await server;
    try {
      const value = await prepareGlobalDatabase(options, server);
      return { value, pids: started?.pids ?? {}, stop: () => started?.stop() ?? Promise.resolve() };
    } catch (error) {
      await started?.stop();
      throw error;
    }
  };
  const regional = async (): Promise<Started<readonly Started<RegionStores>[]>> => {
    const value = await allStarted(options.regions.map((region) => startRegionStores(options, region, server)));
    return {
      value,
      pids: {},
      stop: async () => {
        await Promise.all(value.map((one) => one.stop()));
      },
    };
  };
  const [data, regions] = await allStarted([global(), regional()]);
  const byCode = <Value>(of: (started: Started<RegionStores>) => Value): ReadonlyMap<string, Value> =>
    new Map(regions.value.map((started, position) => [options.regions[position]?.code ?? '', of(started)]));
  return {
    globalDatabase: data.value,
    regions: byCode((started) => started.value),
    processes: { ...data.pids, regions: byCode((started) => started.pids) },
    stop: async () => {
      await Promise.all([regions.stop(), data.stop()]);
    },
  };
}
