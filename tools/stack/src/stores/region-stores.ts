/**
 * A region's own stores: database, Redis and bucket; what is given is used instead. The first region's have no suffix in their
 * folders, ports and bucket, as an installation of one region has always had them; the others' have their code.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '@dormouse/database';
import { byApp, type StoreApp } from '../app-names.js';
import type { LauncherEnvironment } from '../config.js';
import { startObjectStore } from '../objects/object-store.js';
import type { Credentials } from '../objects/signature.js';
import type { ProcessRegister } from '../processes/process-register.js';
import { objectAccounts, objectCredentials } from './object-accounts.js';
import { databaseUrls, openToApps } from './database-accounts.js';
import { ensureDatabase, type PostgresServer, startPostgres } from './postgres.js';
import { copyPreparedData, regionalDatabase, STACK_DATABASES } from './prepared-data.js';
import { type RedisServer, startRedis } from './redis.js';
import { redisUrls, redisUsers } from './redis-accounts.js';
import { redisAnswers } from './redis-wire.js';

export type ObjectsPlace = { endpoint: string; bucket: string } & Credentials;

/** The addresses of a region's stores. */
export interface StorePlaces {
  databaseUrl: string;
  redisUrl: string;
  objects: ObjectsPlace;
}

/** Where a region keeps its data: with the account that may do everything, for those who look into it. */
export interface RegionStores extends StorePlaces {
  /** With each app's own account. In a store that was given, it is the account that was given. */
  accounts: Record<StoreApp, StorePlaces>;
}

/** A region, and what the names of its folders, ports and processes end with. */
export interface RegionName {
  code: string;
  /** Empty for the first region of the installation. */
  suffix: string;
  /** Place in the installation's list. */
  position: number;
}

export interface StoresOptions {
  register: ProcessRegister;
  dataDir: string;
  /** Servers that exist already are used instead of own ones. */
  given: LauncherEnvironment;
  regions: readonly RegionName[];
  /** A PostgreSQL server for each region and one for the global database; else one for all. */
  ownDatabaseServers: boolean;
  objectKeys: Credentials;
  /** Of our own PostgreSQL and Redis: of the account that may do everything. */
  passwords: { postgres: string; redis: string };
  /** Of the apps' accounts. */
  appPasswords: Readonly<Record<StoreApp, string>>;
  /** True: faster, and a power cut may lose data. */
  fast: boolean;
  /** The port for a server by its name; remembers the choice. */
  port: (name: string, region?: RegionName) => Promise<number>;
  log: (message: string) => void;
}

/** Something that was started: what it is worth, the process ids of its servers, and its end. */
export interface Started<Value> {
  value: Value;
  pids: { postgres?: number; redis?: number };
  stop(): Promise<void>;
}

const BUCKET = 'dormouse';

const nothingToStop = (): Promise<void> => Promise.resolve();

/** Logs the end of one of our servers that we did not stop; apps wait for it, and a new start brings it back. */
function stopWatched(
  name: string,
  server: PostgresServer | RedisServer,
  log: (message: string) => void,
): () => Promise<void> {
  let isStopping = false;
  void server.exited.then((how) => {
    if (!isStopping) log(`${name} ended by itself (${how}). Stop Dormouse and start it again.`);
  });
  return () => {
    isStopping = true;
    return server.stop();
  };
}

/** @param region whose own server it is; absent: that of the global database, or of all */
export async function startDatabaseServer(
  options: StoresOptions,
  region?: RegionName,
): Promise<Started<PostgresServer>> {
  const { register, passwords, fast, log } = options;
  // Of its own, the first region's has a suffix, too: the plain name is that of the global database.
  const name = region === undefined ? 'postgres' : `postgres-${region.code}`;
  const dir = join(options.dataDir, name);
  const ports = [await options.port(region === undefined ? 'postgres' : 'postgres-own', region)];
  if (fast) await copyPreparedData(dir);
  const server = await startPostgres({ register, dir, ports, durable: !fast, password: passwords.postgres });
  return { value: server, pids: { postgres: server.pid }, stop: stopWatched(name, server, log) };
}

async function startDatabase(
  options: StoresOptions,
  region: RegionName,
  shared: Promise<Started<PostgresServer> | undefined>,
): Promise<Started<string>> {
  const given = options.given.regionalDatabaseUrl;
  if (given !== undefined) {
    await migrate(given, 'regional');
    return { value: given, pids: {}, stop: nothingToStop };
  }
  const own = options.ownDatabaseServers ? await startDatabaseServer(options, region) : undefined;
  try {
    const server = own ?? (await shared);
    if (!server) throw new Error('no PostgreSQL server was started');
    // Prepared data has a migrated database to copy; nobody is connected to it.
    const template = options.fast ? STACK_DATABASES.regional : undefined;
    const url = await server.value.ensureDatabase(regionalDatabase(region.code), template);
    await migrate(url, 'regional');
    await openToApps(url, 'regional', options.appPasswords);
    return { value: url, pids: own?.pids ?? {}, stop: own ? () => own.stop() : nothingToStop };
  } catch (error) {
    await own?.stop();
    throw error;
  }
}

async function startRegionRedis(options: StoresOptions, region: RegionName): Promise<Started<string>> {
  const { redisUrl, redisServer } = options.given;
  if (redisUrl !== undefined) {
    if (!(await redisAnswers(redisUrl))) throw new Error('No Redis answers at REDIS_URL.');
    return { value: redisUrl, pids: {}, stop: nothingToStop };
  }
  const name = `redis${region.suffix}`;
  const server = await startRedis({
    register: options.register,
    dir: join(options.dataDir, name),
    ports: [await options.port('redis', region)],
    password: options.passwords.redis,
    users: redisUsers(options.appPasswords),
    binary: redisServer,
    log: options.log,
  });
  return { value: server.url, pids: { redis: server.pid }, stop: stopWatched(name, server, options.log) };
}

async function startObjects(options: StoresOptions, region: RegionName): Promise<Started<ObjectsPlace>> {
  if (options.given.objects) return { value: options.given.objects, pids: {}, stop: nothingToStop };
  const dir = join(options.dataDir, `objects${region.suffix}`);
  mkdirSync(dir, { recursive: true });
  const bucket = `${BUCKET}${region.suffix}`;
  const port = await options.port('objects', region);
  const server = await startObjectStore({
    dir,
    port,
    buckets: [bucket],
    durable: !options.fast,
    accounts: objectAccounts(bucket, options.appPasswords),
    ...options.objectKeys,
  });
  return {
    value: { endpoint: server.endpoint, bucket, ...options.objectKeys },
    pids: {},
    stop: () => server.stop(),
  };
}

/**
 * Resolves when all have started.
 * @throws the first failure, once all have settled and the others were stopped
 */
export async function allStarted<Starting extends readonly Promise<Started<unknown>>[]>(
  starting: readonly [...Starting],
): Promise<{ [Key in keyof Starting]: Awaited<Starting[Key]> }> {
  const settled = await Promise.allSettled<Started<unknown>>(starting);
  const started = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (started.length < settled.length) await Promise.all(started.map((one) => one.stop()));
  return Promise.all(starting);
}

/** Each app's own account in what is ours; a store that was given is used as it was given. */
function appAccounts({ given, appPasswords }: StoresOptions, stores: StorePlaces): RegionStores['accounts'] {
  const databases =
    given.regionalDatabaseUrl === undefined ? databaseUrls(stores.databaseUrl, appPasswords) : undefined;
  const redis = given.redisUrl === undefined ? redisUrls(stores.redisUrl, appPasswords) : undefined;
  const objects = (app: StoreApp): ObjectsPlace =>
    given.objects ?? { ...stores.objects, ...objectCredentials(app, appPasswords[app]) };
  return byApp((app) => ({
    objects: objects(app),
    databaseUrl: databases?.[app] ?? stores.databaseUrl,
    redisUrl: redis?.[app] ?? stores.redisUrl,
  }));
}

/**
 * Brings up a region's stores, or uses those that are given, and applies its migrations.
 * @param shared server of the databases of all regions, unless each has its own
 * @throws the error of the first store that failed, after the others were stopped
 */
export async function startRegionStores(
  options: StoresOptions,
  region: RegionName,
  shared: Promise<Started<PostgresServer> | undefined>,
): Promise<Started<RegionStores>> {
  const [database, redis, objects] = await allStarted([
    startDatabase(options, region, shared),
    startRegionRedis(options, region),
    startObjects(options, region),
  ]);
  return {
    value: {
      databaseUrl: database.value,
      redisUrl: redis.value,
      objects: objects.value,
      accounts: appAccounts(options, { databaseUrl: database.value, redisUrl: redis.value, objects: objects.value }),
    },
    pids: { ...database.pids, ...redis.pids },
    stop: async () => {
      await Promise.all([database.stop(), redis.stop(), objects.stop()]);
    },
  };
}

/** The global database, as the account that may do everything, and as each app connects to it. */
export interface GlobalDatabase {
  url: string;
  accounts: Record<StoreApp, string>;
}

/** Makes and migrates the global database, on the server given or on our own. */
export async function prepareGlobalDatabase(
  { given, appPasswords }: StoresOptions,
  server: Promise<Started<PostgresServer> | undefined>,
): Promise<GlobalDatabase> {
  const started = await server;
  const url = given.globalDatabaseUrl ?? started?.value.url(STACK_DATABASES.global);
  if (url === undefined) throw new Error('no PostgreSQL server was started');
  if (given.globalDatabaseUrl === undefined && started) {
    await ensureDatabase(started.value.url('postgres'), STACK_DATABASES.global);
  }
  await migrate(url, 'global');
  if (given.globalDatabaseUrl !== undefined) return { url, accounts: byApp(() => url) };
  await openToApps(url, 'global', appPasswords);
  return { url, accounts: databaseUrls(url, appPasswords) };
}
