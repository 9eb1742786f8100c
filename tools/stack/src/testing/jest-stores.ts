/**
 * Global setup of Jest's integration project: brings up PostgreSQL (not flushing to disk) and Redis (nothing on disk),
 * migrates a template and a shared database of each scope and publishes the addresses to the specs. Stores given by
 * TEST_* switches are used instead of own ones. Each run has a folder of its own, so that runs do not disturb another; a run
 * that is killed is cleaned up by its watchdog, and its folder by the next run.
 */
import { join } from 'node:path';
import { migrate } from '@dormouse/database';
import { publishTestStores, readEnvironment } from '../config.js';
import { deleteFolder } from '../launch/data-folder.js';
import { ProcessRegister } from '../processes/process-register.js';
import { ensureDatabase, type PostgresServer, startPostgres } from '../stores/postgres.js';
import { copyPreparedData, STACK_DATABASES } from '../stores/prepared-data.js';
import { type RedisServer, startRedis } from '../stores/redis.js';
import { createTestFolder, sweepTestFolders } from './test-folder.js';
import { TEST_REDIS_DATABASES, templateName, type TestScope } from './test-stores.js';

/** On standard error, where Jest's own report is. */
function log(message: string): void {
  process.stderr.write(`${message}\n`);
}

async function migrateScope(serverUrl: string, scope: TestScope, database: string): Promise<string> {
  const at = (name: string): string => {
    const url = new URL(serverUrl);
    url.pathname = `/${name}`;
    return url.toString();
  };
  await ensureDatabase(serverUrl, templateName(scope));
  await migrate(at(templateName(scope)), scope);
  await ensureDatabase(serverUrl, database, templateName(scope));
  await migrate(at(database), scope);
  return at(database);
}

interface Running {
  register: ProcessRegister;
  folder: string;
  servers: (PostgresServer | RedisServer)[];
}

let running: Running | undefined;

/** Stops the stores of this run and deletes their folder. */
export async function stopTestStores(): Promise<void> {
  const stopping = running;
  running = undefined;
  if (!stopping) return;
  await Promise.all(stopping.servers.map((server) => server.stop()));
  stopping.register.close();
  deleteFolder(stopping.folder);
}

export default async function startTestStores(): Promise<void> {
  const given = readEnvironment();
  await sweepTestFolders();
  const folder = await createTestFolder();
  const register = await ProcessRegister.open(folder);
  const started: Running = { register, folder, servers: [] };
  running = started;
  const postgres = async (): Promise<{ global: string; regional: string }> => {
    let { globalDatabaseUrl: global, regionalDatabaseUrl: regional } = given.test;
    if (global === undefined || regional === undefined) {
      await copyPreparedData(join(folder, 'postgres'));
      const server = await startPostgres({ register, dir: join(folder, 'postgres'), durable: false });
      started.servers.push(server);
      for (const scope of ['global', 'regional'] as const) {
        await server.ensureDatabase(templateName(scope), STACK_DATABASES[scope]);
      }
      global ??= server.url('postgres');
      regional ??= server.url('postgres');
    }
    return {
      global: await migrateScope(global, 'global', 'dormouse_test_global'),
      regional: await migrateScope(regional, 'regional', 'dormouse_test_regional'),
    };
  };
  const redis = async (): Promise<string> => {
    if (given.test.redisUrl !== undefined) return given.test.redisUrl;
    const server = await startRedis({
      register,
      dir: join(folder, 'redis'),
      binary: given.redisServer,
      databases: TEST_REDIS_DATABASES,
      log,
    });
    started.servers.push(server);
    return server.url;
  };
  const outcome = await Promise.allSettled([postgres(), redis()]);
  if (outcome[0].status === 'rejected' || outcome[1].status === 'rejected') {
    await stopTestStores();
    throw outcome.find((one) => one.status === 'rejected')?.reason;
  }
  publishTestStores({ ...outcome[0].value, redis: outcome[1].value });
}
