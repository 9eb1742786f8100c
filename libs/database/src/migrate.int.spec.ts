import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

  describe('while the region serves', () => {
    const served = `${name}_served`;
    const servedUrl = Object.assign(new URL(serverUrl), { pathname: `/${served}` }).toString();
    const folder = mkdtempSync(join(tmpdir(), 'dormouse-migrations-'));
    const add = (migration: string, sql: string): void => {
      mkdirSync(join(folder, migration));
      writeFileSync(join(folder, migration, 'migration.sql'), sql);
    };
    const terms = { folder, lockTimeoutMs: 50, pauseMs: 10 };
    let reader: pg.Client;

    beforeAll(async () => {
      await on(serverUrl, `CREATE DATABASE "${served}" TEMPLATE template0`);
      add('1_first', 'CREATE TABLE shelves (id int PRIMARY KEY); INSERT INTO shelves SELECT generate_series(1, 100)');
      await migrate(servedUrl, 'regional', terms);
      reader = new pg.Client({ connectionString: servedUrl });
      await reader.connect();
    });
    afterAll(async () => {
      await reader.end();
      await on(serverUrl, `DROP DATABASE "${served}" WITH (FORCE)`);
      rmSync(folder, { recursive: true });
    });

    it('gives way to a transaction that holds a table, leaves nothing behind, and says what to do', async () => {
      add('2_column', 'ALTER TABLE shelves ADD COLUMN colour text');
      await reader.query('BEGIN; SELECT count(*) FROM shelves');
      const refused = expect(migrate(servedUrl, 'regional', { ...terms, retryWithinMs: 100 })).rejects.toThrow(
        /2_column could not lock its table within 100 ms.*Nothing was changed.*pg_stat_activity/,
      );
      // Queries wait behind it no longer than its timeout.
      await on(servedUrl, 'SET statement_timeout = 2000; SELECT count(*) FROM shelves');
      await refused;
      expect(await on(servedUrl, `SELECT 1 FROM _prisma_migrations WHERE migration_name = '2_column'`)).toEqual([]);
    });

    it('tries again until it gets the lock', async () => {
      const retries: string[] = [];
      const onRetry = (migration: string): void => {
        retries.push(migration);
        if (retries.length === 2) void reader.query('COMMIT');
      };
      expect(await migrate(servedUrl, 'regional', { ...terms, onRetry })).toEqual(['2_column']);
      expect(new Set(retries)).toEqual(new Set(['2_column']));
      expect(await on(servedUrl, 'SELECT colour FROM shelves LIMIT 1')).toEqual([{ colour: null }]);
    });

    it('builds an index CONCURRENTLY beside a transaction that has written, and beside another start that waits', async () => {
      add('3_index', 'CREATE INDEX CONCURRENTLY shelves_colour_idx ON shelves (colour);\n');
      await reader.query(`BEGIN; UPDATE shelves SET colour = 'red' WHERE id = 1`);
      const starts = Promise.all([migrate(servedUrl, 'regional', terms), migrate(servedUrl, 'regional', terms)]);
      const building = `SELECT 1 FROM pg_stat_activity WHERE datname = '${served}' AND query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock'`;
      while ((await on(serverUrl, building)).length === 0) continue;
      // It waits for the transaction, and others write meanwhile.
      await on(servedUrl, `SET lock_timeout = 1000; UPDATE shelves SET colour = 'blue' WHERE id = 2`);
      await reader.query('COMMIT');
      expect((await starts).flat()).toEqual(['3_index']);
      expect(
        await on(
          servedUrl,
          `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'shelves_colour_idx'::regclass`,
        ),
      ).toEqual([{ valid: true }]);
    });

    it('drops what a build that failed has left behind', async () => {
      add('4_index', 'CREATE UNIQUE INDEX CONCURRENTLY shelves_unique_idx ON shelves ((id / 50));\n');
      await expect(migrate(servedUrl, 'regional', terms)).rejects.toThrow(/could not create unique index/);
      expect(await on(servedUrl, 'SELECT 1 FROM pg_index WHERE NOT indisvalid')).toEqual([]);
    });
  });
});
