import { createHash } from 'node:crypto';
import { missingMigrations, requireMigrations, SchemaBehindError, type DatabaseScope } from '@dormouse/database';
import pg from 'pg';
import { createBareTestDatabase, createTestDatabase, type TestStore } from '../testing/test-stores.js';
import { statementsByProject } from './test-declared-rights.js';
import { Describe } from './test-described-statement.js';
import { migrationText, releasedMigrations, releasedStatements } from './test-released.js';
import { incompatibilities, shapeOf } from './test-schema-shape.js';

/** What an incompatible change may do all the same, with the reason: `<table>.<column> …` as the spec prints it. */
const ALLOWED: readonly string[] = [];

const SCOPES = ['regional', 'global'] as const;

/** Applies the migrations of the last release alone. */
async function applyReleased(client: pg.Client, scope: DatabaseScope): Promise<void> {
  const released = Object.keys(releasedMigrations()[scope]);
  await client.query(
    'CREATE TABLE _prisma_migrations (migration_name text, finished_at timestamptz, rolled_back_at timestamptz)',
  );
  for (const migration of released) await client.query(migrationText(scope, migration));
  await client.query('INSERT INTO _prisma_migrations SELECT unnest($1::text[]), now()', [released]);
}

describe('the last release', () => {
  const opened: { client: pg.Client; store: TestStore }[] = [];
  const open = async (store: TestStore): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: store.url });
    await client.connect();
    opened.push({ client, store });
    return client;
  };
  const clients = new Map<string, pg.Client>();
  const on = (which: 'released' | 'present', scope: DatabaseScope): pg.Client => {
    const client = clients.get(`${which} ${scope}`);
    if (!client) throw new Error(`there is no ${which} ${scope} database`);
    return client;
  };

  beforeAll(async () => {
    for (const scope of SCOPES) {
      const bare = await open(await createBareTestDatabase(scope));
      await applyReleased(bare, scope);
      clients.set(`released ${scope}`, bare);
      clients.set(`present ${scope}`, await open(await createTestDatabase(scope)));
    }
  }, 60_000);
  afterAll(async () => {
    for (const { client, store } of opened) {
      await client.end();
      await store.drop();
    }
  });

  /** Parameters and columns as PostgreSQL sees them, or why it refuses the statement. */
  const described = async (client: pg.Client, text: string): Promise<string> => {
    const answer = await client.query(new Describe(text)).done.catch((error: unknown) => String(error));
    if (typeof answer === 'string') return answer;
    return `(${String(answer.parameters)}) ${answer.columns.map(({ name, dataTypeID }) => `${name} ${dataTypeID}`).join(', ')}`;
  };

  it.each(SCOPES)('has its migrations unchanged in this tree (%s)', (scope) => {
    const present = Object.fromEntries(
      Object.keys(releasedMigrations()[scope]).map((name) => [
        name,
        createHash('sha256').update(migrationText(scope, name)).digest('hex'),
      ]),
    );
    expect(present).toEqual(releasedMigrations()[scope]);
  });

  it.each(SCOPES)(
    'runs on the present schema: each of its statements, with the same parameters and columns (%s)',
    async (scope) => {
      const statements = releasedStatements().filter((statement) => statement.scope === scope);
      expect(statements.length).toBeGreaterThan(50);
      const faults: string[] = [];
      for (const { name, text } of statements) {
        const [was, is] = [await described(on('released', scope), text), await described(on('present', scope), text)];
        if (was !== is) faults.push(`${name}: was ${was}, is ${is}`);
      }
      expect(faults).toEqual([]);
    },
    30_000,
  );

  it.each(SCOPES)(
    'finds on the present schema every column it knows, and may write what it wrote (%s)',
    async (scope) => {
      const faults = incompatibilities(await shapeOf(on('released', scope)), await shapeOf(on('present', scope)));
      expect(faults.filter((fault) => !ALLOWED.includes(fault))).toEqual([]);
    },
  );

  it.each(SCOPES)(
    'has a schema on which the present code runs, or does not start and names what is missing (%s)',
    async (scope) => {
      const client = on('released', scope);
      const missing = await missingMigrations(client, scope);
      const declared = [...(await statementsByProject()).values()].flat();
      const refused: string[] = [];
      for (const { name, text } of declared.filter((statement) => (statement.scope ?? 'regional') === scope)) {
        const answer = await described(client, text);
        if (!answer.startsWith('(')) refused.push(`${name}: ${answer}`);
      }
      if (missing.length === 0) expect(refused).toEqual([]);
      const start = requireMigrations(client, scope);
      await (missing.length === 0 ? start : expect(start).rejects.toEqual(new SchemaBehindError(scope, missing)));
    },
    30_000,
  );

  it.each([
    ['ALTER TABLE channels DROP COLUMN phone', 'channels.phone is gone: the last release reads and writes it'],
    [
      'ALTER TABLE channels RENAME COLUMN phone TO number',
      'channels.phone is gone: the last release reads and writes it',
    ],
    [
      'ALTER TABLE channels ALTER COLUMN phone TYPE varchar(20)',
      'channels.phone was text and is character varying(20)',
    ],
    [
      'ALTER TABLE channels ADD COLUMN colour text NOT NULL',
      'channels.colour is new and has no default: inserts of the last release fail',
    ],
    [
      'ALTER TABLE channels ALTER COLUMN phone SET NOT NULL',
      'channels.phone takes null no longer: the last release may write it',
    ],
    [
      'ALTER TABLE channels ALTER COLUMN account_id DROP NOT NULL',
      'channels.account_id may be null now: the last release reads it as never null',
    ],
    [
      'CREATE UNIQUE INDEX x ON channels (phone)',
      'channels: CREATE UNIQUE INDEX ON public.channels USING btree (phone) is new: it may refuse what the last release writes',
    ],
    [
      "ALTER TABLE channels ADD CHECK (phone <> '')",
      "channels: CHECK ((phone <> ''::text)) is new: it may refuse what the last release writes",
    ],
  ])('would not run after %s, and that is found', async (change, fault) => {
    const client = on('released', 'regional');
    const before = await shapeOf(client);
    await client.query('BEGIN');
    await client.query(change);
    expect(incompatibilities(before, await shapeOf(client))).toEqual([fault]);
    await client.query('ROLLBACK');
  });

  it('runs after what expands a schema: a table, a column with a default or that may be null, an index', async () => {
    const client = on('released', 'regional');
    const before = await shapeOf(client);
    await client.query(`BEGIN; CREATE TABLE shelves (id text PRIMARY KEY); CREATE INDEX y ON channels (phone);
      ALTER TABLE channels ADD COLUMN a text, ADD COLUMN b text NOT NULL DEFAULT ''`);
    expect(incompatibilities(before, await shapeOf(client))).toEqual([]);
    await client.query('ROLLBACK');
  });
});
