import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrate } from './migrate.js';

describe('migrate', () => {
  const serverUrl = process.env.TEST_REGIONAL_DATABASE_URL ?? '';
  const name = `migrate_spec_${randomBytes(6).toString('hex')}`;
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).toString();

  const on = async <T extends pg.QueryResultRow>(address: string, sql: string): Promise<T[]> => {
    const connection = new pg.Client({ connectionString: address });
    await connection.connect();
    try {
      return (await connection.query<T>(sql)).rows;
    } finally {
      await connection.end();
    }
  };

  beforeAll(() => on(serverUrl, `CREATE DATABASE "${name}" TEMPLATE template0`));
  afterAll(() => on(serverUrl, `DROP DATABASE "${name}" WITH (FORCE)`));

  it('applies each migration once, even when four processes start at the same time', async () => {
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(url, 'regional')));
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
    expect(await migrate(url, 'regional')).toEqual([]);
    expect(await on(url, 'SELECT 1 FROM shard_leases')).toEqual([]);
  });

  it('refuses a database whose applied migration was edited afterwards', async () => {
    await on(url, `UPDATE "_prisma_migrations" SET checksum = 'different'`);
    await expect(migrate(url, 'regional')).rejects.toThrow(/was edited after it was applied/);
  });

  it('refuses to go on after a migration that failed half-way', async () => {
    await on(url, `UPDATE "_prisma_migrations" SET finished_at = NULL`);
    await expect(migrate(url, 'regional')).rejects.toThrow(/failed before/);
  });
});
