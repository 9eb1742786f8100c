import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '@dormouse/database';
import type { LauncherEnvironment } from '../config.js';
import type { Credentials } from '../objects/signature.js';
import { startObjectStore } from '../objects/object-store.js';
import type { ProcessRegister } from '../processes/process-register.js';
import { type PostgresServer, startPostgres } from './postgres.js';
import { copyPreparedData, STACK_DATABASES } from './prepared-data.js';
import { type RedisServer, startRedis } from './redis.js';
import { redisAnswers } from './redis-wire.js';

/** The addresses of everything that keeps data. */
export interface Stores {
  databases: { global: string; sg: string };
  redisUrl: string;
  objects: { endpoint: string; bucket: string } & Credentials;
  /** Process ids of the servers that are our own. */
  processes: Record<string, number>;
  stop(): Promise<void>;
}

export interface StoresOptions {
  register: ProcessRegister;
  dataDir: string;
  /** Servers that exist already are used instead of own ones. */
  given: LauncherEnvironment;
  objectKeys: Credentials;
  /** Of our own PostgreSQL and Redis. */
  passwords: { postgres: string; redis: string };
  /** True: faster, and a power cut may lose data. */
  fast: boolean;
  /** The port for a server by its name; remembers the choice. */
  port: (name: string) => Promise<number>;
  log: (message: string) => void;
}

const BUCKET = 'dormouse';

interface Started<T> {
  value: T;
  pids: Record<string, number>;
  stop(): Promise<void>;
}

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

const nothingToStop = (): Promise<void> => Promise.resolve();

async function databases(options: StoresOptions): Promise<Started<Stores['databases']>> {
  let { globalDatabaseUrl: global, regionalDatabaseUrl: regional } = options.given;
  let pids = {};
  let stop = nothingToStop;
  if (global === undefined || regional === undefined) {
    const dir = join(options.dataDir, 'postgres');
    const ports = [await options.port('postgres')];
    const { register, passwords, fast } = options;
    if (fast) await copyPreparedData(dir);
    const server = await startPostgres({ register, dir, ports, durable: !fast, password: passwords.postgres });
    global ??= await server.ensureDatabase(STACK_DATABASES.global);
    regional ??= await server.ensureDatabase(STACK_DATABASES.regional);
    pids = { postgres: server.pid };
    stop = stopWatched('PostgreSQL', server, options.log);
  }
  await Promise.all([migrate(global, 'global'), migrate(regional, 'regional')]);
  return { value: { global, sg: regional }, pids, stop };
}

async function redis(options: StoresOptions): Promise<Started<string>> {
  const { redisUrl, redisServer } = options.given;
  if (redisUrl !== undefined) {
    if (!(await redisAnswers(redisUrl))) throw new Error('No Redis answers at REDIS_URL.');
    return { value: redisUrl, pids: {}, stop: nothingToStop };
  }
  const server = await startRedis({
    register: options.register,
    dir: join(options.dataDir, 'redis'),
    ports: [await options.port('redis')],
    password: options.passwords.redis,
    binary: redisServer,
    log: options.log,
  });
  return { value: server.url, pids: { redis: server.pid }, stop: stopWatched('Redis', server, options.log) };
}

async function objects(options: StoresOptions): Promise<Started<Stores['objects']>> {
  if (options.given.objects) return { value: options.given.objects, pids: {}, stop: nothingToStop };
  const dir = join(options.dataDir, 'objects');
  mkdirSync(dir, { recursive: true });
  const port = await options.port('objects');
  const server = await startObjectStore({
    dir,
    port,
    buckets: [BUCKET],
    durable: !options.fast,
    ...options.objectKeys,
  });
  return {
    value: { endpoint: server.endpoint, bucket: BUCKET, ...options.objectKeys },
    pids: {},
    stop: () => server.stop(),
  };
}

/**
 * Brings up the stores, or uses those that are given, and applies the migrations.
 * @throws the error of the first store that failed, after the others were stopped
 */
export async function startStores(options: StoresOptions): Promise<Stores> {
  const [data, cache, files] = await Promise.allSettled([databases(options), redis(options), objects(options)]);
  const stop = async (): Promise<void> => {
    await Promise.all(
      [data, cache, files].map((one) => (one.status === 'fulfilled' ? one.value.stop() : Promise.resolve())),
    );
  };
  if (data.status === 'rejected' || cache.status === 'rejected' || files.status === 'rejected') {
    await stop();
    const failed = [data, cache, files].find((one) => one.status === 'rejected');
    throw failed?.reason instanceof Error ? failed.reason : new Error(String(failed?.reason));
  }
  return {
    databases: data.value.value,
    redisUrl: cache.value.value,
    objects: files.value.value,
    processes: { ...data.value.pids, ...cache.value.pids },
    stop,
  };
}
