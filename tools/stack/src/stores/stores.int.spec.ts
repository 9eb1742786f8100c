import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessRegister } from '../process-register.js';
import { postgresDataFolder, startPostgres, withConnection } from './postgres.js';
import { startRedis } from './redis.js';
import { redisAnswers, redisLines } from './redis-wire.js';

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

const startServer = (ports: number[] = []) =>
  startPostgres({ register, dir: join(dir, 'postgres'), ports, durable: false });

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
    const server = await startServer();
    const data = postgresDataFolder(join(dir, 'postgres'));
    await server.stop();
    expect(existsSync(data)).toBe(true);
    rmSync(join(dir, 'postgres'), { recursive: true });
    postgresDataFolder(dir); // whoever looks for a place next cleans up
    expect(existsSync(data)).toBe(false);
  }, 60_000);

  it('takes another port if the wanted one is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const taken = typeof address === 'object' && address !== null ? address.port : 0;
    const server = await startServer([taken]);
    expect(server.port).not.toBe(taken);
    await server.stop();
    await new Promise((resolve) => other.close(resolve));
  }, 60_000);

  it('starts on the folder of a server that was killed', async () => {
    const first = await startServer();
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const second = await startServer();
    expect(second.pid).not.toBe(first.pid);
    await second.stop();
  }, 60_000);
});

describe('Redis of our own', () => {
  it('keeps its data over a restart', async () => {
    const options = { register, dir: join(dir, 'redis'), durable: true, say: () => undefined };
    const first = await startRedis(options);
    await redisLines(first.url, ['SET kept yes']);
    await first.stop();
    expect(await redisAnswers(first.url)).toBe(false);
    const second = await startRedis({ ...options, ports: [first.port] });
    expect(second.port).toBe(first.port);
    expect(await redisLines(second.url, ['EXISTS kept'])).toEqual([':1']);
    await second.stop();
  }, 60_000);
});
