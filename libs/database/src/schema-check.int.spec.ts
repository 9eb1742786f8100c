import pg from 'pg';
import { openRegionalDatabase } from './open-database.js';
import { missingMigrations, requireMigrations, SchemaBehindError } from './schema-check.js';

const URLS = { regional: process.env.TEST_REGIONAL_DATABASE_URL, global: process.env.TEST_GLOBAL_DATABASE_URL };

describe.each(['regional', 'global'] as const)('the schema of a %s database', (scope) => {
  let client: pg.Client;

  beforeAll(async () => {
    client = new pg.Client({ connectionString: URLS[scope] });
    await client.connect();
  });
  afterAll(() => client.end());
  // The database is that of all specs: nothing is committed.
  beforeEach(() => client.query('BEGIN'));
  afterEach(() => client.query('ROLLBACK'));

  it('is enough when it has every migration of this version, and also when it is of a later one', async () => {
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
       VALUES ('later', '', '29990101000000_later', now())`,
    );
    expect(await missingMigrations(client, scope)).toEqual([]);
    await requireMigrations(client, scope);
  });

  it('is refused while a migration is missing or has failed half-way, in a sentence that names it', async () => {
    const { rows } = await client.query<{ name: string }>(
      `UPDATE _prisma_migrations SET finished_at = NULL
       WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations) RETURNING migration_name AS name`,
    );
    const refused = requireMigrations(client, scope);
    await expect(refused).rejects.toBeInstanceOf(SchemaBehindError);
    const sentence = `the ${scope} database lacks the migration ${rows[0]?.name}: apply the migrations of this version`;
    await expect(refused).rejects.toThrow(sentence);
  });

  it('is not waited for while the database is away', async () => {
    const away = openRegionalDatabase({ url: 'postgresql://nobody@127.0.0.1:9/x', applicationName: 'spec' });
    await requireMigrations(away.pool, scope);
    await away.close();
  });
});
