import { readFileSync } from 'node:fs';
import type { Declaration, DatabaseScope } from '@dormouse/database';
import pg from 'pg';
import { DATABASE_APPS, databaseRole as role, ROOT_FOLDER, type StoreApp } from '../app-names.js';
import { createTestDatabase, type TestStore } from '../testing/test-stores.js';
import {
  addRights,
  addRightsOfTriggers,
  rightsOf,
  statementsByProject,
  statementsOf,
  type Rights,
} from './test-declared-rights.js';

const VERBS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** The tables that an app owns: it may do everything with them, by Prisma too. Apps of the installation own none of a region's. */
function ownedBy(app: StoreApp, scope: DatabaseScope): string[] {
  if (DATABASE_APPS.global.some((name) => name === app) !== (scope === 'global')) return [];
  const readme = readFileSync(`${ROOT_FOLDER}libs/database/README.md`, 'utf8');
  return [...readme.matchAll(/^\| (`.*?) +\| `([\w/-]+)`/gm)]
    .filter(([, , owner]) => owner === `apps/${app}`)
    .flatMap(([, tables = '']) => [...tables.matchAll(/`(\w+)`/g)].map(([, table = '']) => table));
}

const sqlOf = (scope: DatabaseScope): string =>
  readFileSync(`${ROOT_FOLDER}infra/postgres/${scope}-rights.sql`, 'utf8');

describe('the rights of apps in PostgreSQL', () => {
  const databases = new Map<DatabaseScope, { store: TestStore; client: pg.Client; tables: string[] }>();
  let byProject: Map<string, Declaration[]>;

  beforeAll(async () => {
    byProject = await statementsByProject();
    for (const scope of ['regional', 'global'] as const) {
      const store = await createTestDatabase(scope);
      const client = new pg.Client({ connectionString: store.url });
      await client.connect();
      await client.query(sqlOf(scope));
      const { rows } = await client.query<{ name: string }>(
        `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`,
      );
      databases.set(scope, { store, client, tables: rows.map(({ name }) => name) });
    }
  }, 60_000);
  afterAll(async () => {
    for (const { client, store } of databases.values()) {
      await client.end();
      await store.drop();
    }
  });

  const of = (scope: DatabaseScope): { client: pg.Client; tables: string[] } => {
    const database = databases.get(scope);
    if (!database) throw new Error(`there is no database ${scope}`);
    return database;
  };
  /** What PostgreSQL answers when the app runs a statement: nothing, or why not. Nothing is run in fact. */
  const attempt = async (scope: DatabaseScope, app: StoreApp, text: string): Promise<string> => {
    const { client } = of(scope);
    await client.query(`SET ROLE ${role(app)}`);
    try {
      // A lock has no plan: it is taken, and ends at once.
      await client.query(
        text.trimStart().startsWith('LOCK') ? `BEGIN; ${text}; COMMIT` : `EXPLAIN (GENERIC_PLAN) ${text}`,
      );
      return '';
    } catch (error) {
      return String(error);
    } finally {
      await client.query('ROLLBACK');
      await client.query('RESET ROLE');
    }
  };
  const declared = async (scope: DatabaseScope, app: StoreApp): Promise<Rights> => {
    const { client, tables } = of(scope);
    const rights: Rights = new Map();
    for (const { text } of statementsOf(app, scope, byProject)) addRights(rights, rightsOf(text, tables));
    const own = new Set(ownedBy(app, scope));
    for (const table of tables.filter((name) => own.has(name))) addRights(rights, new Map([[table, new Set(VERBS)]]));
    await addRightsOfTriggers(rights, client, tables);
    return rights;
  };
  const grants = (app: StoreApp, rights: Rights): string[] =>
    [...rights]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([table, verbs]) =>
          `GRANT ${VERBS.filter((verb) => verbs.has(verb)).join(', ')} ON "${table}" TO ${role(app)};`,
      );

  /** Of tables that the app inserts into, the counters that number their rows. */
  const sequenceGrants = async (scope: DatabaseScope, app: StoreApp, rights: Rights): Promise<string[]> => {
    const { rows } = await of(scope).client.query<{ sequence: string; table: string }>(
      `SELECT s.relname AS sequence, d.refobjid::regclass::text AS table FROM pg_class s
       JOIN pg_depend d ON d.objid = s.oid AND d.deptype IN ('a', 'i') WHERE s.relkind = 'S' ORDER BY 1`,
    );
    return rows
      .filter(({ table }) => rights.get(table)?.has('INSERT'))
      .map(({ sequence }) => `GRANT USAGE ON SEQUENCE "${sequence}" TO ${role(app)};`);
  };

  const cases = (['regional', 'global'] as const).flatMap((scope) =>
    DATABASE_APPS[scope].map((app) => [scope, app] as const),
  );

  it.each(cases)('are those of its statements, and no more (%s: %s)', async (scope, app) => {
    const written = sqlOf(scope)
      .split('\n')
      .filter(
        (line) => line.startsWith('GRANT ') && line.endsWith(` TO ${role(app)};`) && / ON (?:SEQUENCE )?"/.test(line),
      );
    const rights = await declared(scope, app);
    expect(written).toEqual([...grants(app, rights), ...(await sequenceGrants(scope, app, rights))]);
  });

  it.each(cases)('are enough for every statement that it may run (%s: %s)', async (scope, app) => {
    const statements = statementsOf(app, scope, byProject);
    expect(statements.length).toBeGreaterThan(0);
    const refused: string[] = [];
    for (const { name, text } of statements) {
      const answer = await attempt(scope, app, text);
      if (answer !== '') refused.push(`${name}: ${answer}`);
    }
    expect(refused).toEqual([]);
  });

  it.each([
    ['regional', 'edge-api', 'SELECT * FROM auth_keys'],
    ['regional', 'edge-api', 'SELECT * FROM auth_creds'],
    ['regional', 'edge-api', 'SELECT * FROM channel_keys'],
    ['regional', 'webhook-dispatcher', 'SELECT * FROM channel_keys'],
    ['regional', 'webhook-dispatcher', 'DELETE FROM messages'],
    ['regional', 'webhook-dispatcher', 'SELECT * FROM messages'],
    ['regional', 'control-plane', 'SELECT * FROM messages'],
    ['regional', 'control-plane', 'SELECT * FROM auth_keys'],
    ['regional', 'billing', 'SELECT * FROM messages'],
    ['regional', 'billing', 'SELECT * FROM auth_creds'],
    ['regional', 'edge-api', 'SELECT * FROM _prisma_migrations'],
    ['regional', 'session-worker', 'DELETE FROM _prisma_migrations'],
    ['regional', 'control-plane', 'DELETE FROM channels'],
    ['global', 'billing', 'SELECT * FROM user_sessions'],
    ['global', 'billing', 'SELECT * FROM user_credentials'],
    ['global', 'control-plane', 'DELETE FROM stripe_events'],
  ] as const)('refuse (%s) %s: %s', async (scope, app, text) => {
    expect(await attempt(scope, app, text)).toMatch(/permission denied for/);
  });
});
