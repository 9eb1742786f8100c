import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@dormouse/database';
import { ProcessRegister } from '../processes/process-register.js';
import { postgresDataFolder, startPostgres, withConnection } from './postgres.js';
import { copyPreparedData, STACK_DATABASES } from './prepared-data.js';

const SYSTEM = 'SELECT system_identifier::text AS id FROM pg_control_system()';

describe('a prepared data folder', () => {
  let dir: string;
  let register: ProcessRegister;

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'prepared-data-'));
    register = await ProcessRegister.open(dir);
  });

  afterEach(() => {
    register.close();
    for (const name of ['one', 'two']) rmSync(postgresDataFolder(join(dir, name)), { recursive: true, force: true });
    rmSync(dir, { recursive: true, force: true });
  });

  it('is copied with both databases migrated, to be the same server twice, each with rows of its own', async () => {
    const servers = [];
    for (const name of ['one', 'two']) {
      await copyPreparedData(join(dir, name));
      servers.push(await startPostgres({ register, dir: join(dir, name), durable: false, password: `of ${name}` }));
    }
    const systems = new Set<string>();
    for (const server of servers) {
      expect(await migrate(server.url(STACK_DATABASES.global), 'global')).toEqual([]);
      expect(await migrate(server.url(STACK_DATABASES.regional), 'regional')).toEqual([]);
      const rows = await withConnection(server.url('postgres'), async (connection) => {
        await connection.query('CREATE TABLE own (n int)'); // fails where it is there
        return (await connection.query<{ id: string }>(SYSTEM)).rows;
      });
      systems.add(rows[0]?.id ?? '');
    }
    expect(systems.size).toBe(1);
    await Promise.all(servers.map((server) => server.stop()));
  }, 60_000);

  it('is not copied over data that is there', async () => {
    await copyPreparedData(join(dir, 'one'));
    const first = await startPostgres({ register, dir: join(dir, 'one'), durable: false });
    const url = await first.ensureDatabase('kept');
    await first.stop();
    await copyPreparedData(join(dir, 'one'));
    const second = await startPostgres({ register, dir: join(dir, 'one'), durable: false });
    const kept = await withConnection(second.url('postgres'), (connection) =>
      connection.query("SELECT 1 FROM pg_database WHERE datname = 'kept'"),
    );
    expect([url.endsWith('/kept'), kept.rowCount]).toEqual([true, 1]);
    await second.stop();
  }, 60_000);
});
