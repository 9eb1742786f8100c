import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { byApp } from '../app-names.js';
import { ProcessRegister } from '../processes/process-register.js';
import { postgresDataFolder, startPostgres, withConnection } from './postgres.js';
import { copyPreparedData } from './prepared-data.js';
import { startRedis } from './redis.js';
import { redisAnswers, redisLines } from './redis-wire.js';
import { startStores } from './stores.js';

let dir: string;
let register: ProcessRegister;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'stores-'));
  register = await ProcessRegister.open(dir);
});

afterEach(() => {
  register.close();
  rmSync(postgresDataFolder(join(dir, 'postgres')), { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
});

/** For specs that do not depend on who makes the data: making it takes longer than all else that they do. */
const startPrepared = async (ports: number[] = []) => {
  await copyPreparedData(join(dir, 'postgres'));
  return startServer(ports);
};

const startServer = (ports: number[] = [], password?: string) =>
  startPostgres({ register, dir: join(dir, 'postgres'), ports, durable: false, password });

/** As every account of the machine sees it. */
function commandLine(pid: number): string {
  return spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
}

describe('PostgreSQL of our own', () => {
  it.each([0o700, 0o755])(
    'keeps its data over a restart, in a folder of mode %o',
    async (mode) => {
      chmodSync(dir, mode);
      const first = await startServer();
      const url = await first.ensureDatabase('kept');
      await withConnection(url, (connection) => connection.query('CREATE TABLE thing AS SELECT 7 AS n'));
      await first.stop();
      const second = await startServer();
      expect(await second.ensureDatabase('kept')).toBe(second.url('kept'));
      const { rows } = await withConnection(second.url('kept'), (connection) =>
        connection.query('SELECT n FROM thing'),
      );
      expect(rows).toEqual([{ n: 7 }]);
      await second.stop();
    },
    60_000,
  );

  it('leaves no data behind once its folder was deleted', async () => {
    chmodSync(dir, 0o700);
    const server = await startPrepared();
    const data = postgresDataFolder(join(dir, 'postgres'));
    await server.stop();
    expect(existsSync(data)).toBe(true);
    rmSync(join(dir, 'postgres'), { recursive: true });
    postgresDataFolder(dir); // the next look for a place cleans up
    expect(existsSync(data)).toBe(false);
  }, 60_000);

  it('takes another port if the wanted one is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const taken = typeof address === 'object' && address !== null ? address.port : 0;
    const server = await startPrepared([taken]);
    expect(server.port).not.toBe(taken);
    await server.stop();
    await new Promise((resolve) => other.close(resolve));
  }, 60_000);

  it('starts on the folder of a server that was killed', async () => {
    const first = await startPrepared();
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const second = await startServer();
    expect(second.pid).not.toBe(first.pid);
    await second.stop();
  }, 60_000);

  it('requires its password, also on a folder that was made without one or with another', async () => {
    const open = await startServer();
    const url = await open.ensureDatabase('kept');
    await withConnection(url, (connection) => connection.query('CREATE TABLE thing AS SELECT 7 AS n'));
    await open.stop();
    for (const password of ['first-password', "it's another"]) {
      const server = await startServer([], password);
      const { rows } = await withConnection(server.url('kept'), (connection) =>
        connection.query('SELECT n FROM thing'),
      );
      expect(rows).toEqual([{ n: 7 }]);
      for (const wrong of ['', ':guessed']) {
        const guessed = `postgresql://postgres${wrong}@127.0.0.1:${server.port}/kept`;
        await expect(withConnection(guessed, (connection) => connection.query('SELECT 1'))).rejects.toThrow(
          /password/i,
        );
      }
      expect(commandLine(server.pid)).not.toContain(password);
      await server.stop();
    }
  }, 60_000);

  it('keeps its data when the folder around it is made private', async () => {
    chmodSync(dir, 0o755);
    const first = await startServer();
    await withConnection(await first.ensureDatabase('kept'), (connection) => connection.query('CREATE TABLE thing ()'));
    await first.stop();
    chmodSync(dir, 0o700);
    const second = await startServer();
    const { rowCount } = await withConnection(second.url('kept'), (connection) =>
      connection.query("SELECT 1 FROM pg_tables WHERE tablename = 'thing'"),
    );
    expect(rowCount).toBe(1);
    await second.stop();
  }, 60_000);

  it('does not write what a failed statement held into its log, which is private', async () => {
    const server = await startPrepared();
    const failing = [
      `SELECT '{"body":"secret-text \\u0000"}'::jsonb`,
      `SELECT 'secret-text'::int`,
      'SELECT secret_text',
    ];
    for (const text of failing) {
      await expect(withConnection(server.url('postgres'), (connection) => connection.query(text))).rejects.toThrow();
    }
    await server.stop();
    const log = join(dir, 'postgres/postgres.log');
    expect(readFileSync(log, 'utf8')).not.toMatch(/secret.text/);
    expect(statSync(log).mode & 0o077).toBe(0);
  }, 60_000);
});

describe('Redis of our own', () => {
  it('requires its password, which is on no command line, and writes nothing of what it holds to disk', async () => {
    const folder = join(dir, 'redis');
    // Of an earlier version.
    mkdirSync(join(folder, 'appendonlydir'), { recursive: true });
    writeFileSync(join(folder, 'appendonlydir/appendonly.aof'), 'secret-text');
    const server = await startRedis({ register, dir: folder, password: 'a-password', log: () => undefined });
    expect(await redisLines(server.url, ['SET secret-text yes'])).toEqual(['+OK']);
    await expect(redisLines(`redis://127.0.0.1:${server.port}`, ['GET secret-text'])).rejects.toThrow(/NOAUTH/);
    expect(commandLine(server.pid)).not.toContain('a-password');
    await server.stop();
    expect(readdirSync(folder).toSorted()).toEqual(['redis.conf', 'redis.log']);
    expect(readFileSync(join(folder, 'redis.log'), 'utf8')).not.toContain('secret-text');
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(await redisAnswers(server.url)).toBe(false);
  }, 60_000);
});

describe('the stores of several regions', () => {
  it('are none that were given, which would be one for all of them', async () => {
    const region = (code: string, position: number) => ({ code, position, suffix: position === 0 ? '' : `-${code}` });
    const starting = startStores({
      register,
      dataDir: dir,
      given: { redisUrl: 'redis://127.0.0.1:9', test: {} },
      regions: [region('sg', 0), region('eu', 1)],
      ownDatabaseServers: false,
      objectKeys: { accessKeyId: 'k', secretAccessKey: 's' },
      passwords: { postgres: 'p', redis: 'p' },
      appPasswords: byApp(() => 'p'),
      fast: true,
      port: () => Promise.resolve(0),
      log: () => undefined,
    });
    await expect(starting).rejects.toThrow(
      'REDIS_URL: names a store of one region, and there are 2 (sg, eu). Unset it: each region gets its own.',
    );
  });
});
