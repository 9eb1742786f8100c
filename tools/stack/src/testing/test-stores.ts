/**
 * Real stores for integration specs. Jest's global setup (`jest-stores.ts`) brings up one PostgreSQL and one Redis for
 * the whole run; a spec that must not see other specs' rows takes a fresh copy of a migrated database and a Redis
 * database of its own from here.
 */
import { randomBytes } from 'node:crypto';
import { readEnvironment } from '../config.js';
import { ensureDatabase, withConnection } from '../stores/postgres.js';
import { redisLines } from '../stores/redis-wire.js';

export type TestScope = 'global' | 'regional';

/** A database or a Redis database that belongs to one spec. */
export interface TestStore {
  readonly url: string;
  /** Deletes it, closing the connections that are still open. */
  drop(): Promise<void>;
}

/** How many Redis databases the test server has; number 0 is the shared one behind TEST_REDIS_URL. */
export const TEST_REDIS_DATABASES = 1024;

/** The migrated database that copies are made from; nothing connects to it, as a copy needs it unused. */
export function templateName(scope: TestScope): string {
  return `dormouse_template_${scope}`;
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`${name} is not set: run this spec in Jest's integration project.`);
  return value;
}

/** Address of the shared migrated database of a scope. Its rows are seen by every spec. */
export function sharedTestDatabaseUrl(scope: TestScope): string {
  const { test } = readEnvironment();
  return scope === 'global'
    ? required(test.globalDatabaseUrl, 'TEST_GLOBAL_DATABASE_URL')
    : required(test.regionalDatabaseUrl, 'TEST_REGIONAL_DATABASE_URL');
}

/** A fresh, migrated, empty database of the scope (some 50 ms). */
export function createTestDatabase(scope: TestScope): Promise<TestStore> {
  return copyOf(templateName(scope), scope);
}

/** A fresh database on the scope's server, without a single table. */
export function createBareTestDatabase(scope: TestScope): Promise<TestStore> {
  return copyOf('template0', scope);
}

async function copyOf(template: string, scope: TestScope): Promise<TestStore> {
  const server = sharedTestDatabaseUrl(scope);
  const name = `spec_${scope}_${randomBytes(6).toString('hex')}`;
  await ensureDatabase(server, name, template);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.toString(),
    drop: () =>
      withConnection(server, async (connection) => {
        await connection.query(`DROP DATABASE IF EXISTS ${connection.escapeIdentifier(name)} WITH (FORCE)`);
      }),
  };
}

/**
 * Records from now on in which mode PostgreSQL plans for those that write to a table of a database of one's own.
 * @returns gives the modes of all connections with this name
 */
export async function recordPlanModes(url: string, table: string): Promise<(application: string) => Promise<string[]>> {
  await withConnection(url, (connection) =>
    connection.query(`
      CREATE TABLE recorded_plan_modes (application text, mode text);
      CREATE FUNCTION record_plan_mode() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO recorded_plan_modes VALUES (current_setting('application_name'), current_setting('plan_cache_mode'));
        RETURN NULL;
      END $$;
      CREATE TRIGGER record_plan_mode AFTER INSERT OR UPDATE ON ${connection.escapeIdentifier(table)}
        FOR EACH STATEMENT EXECUTE FUNCTION record_plan_mode()`),
  );
  const text = 'SELECT DISTINCT mode FROM recorded_plan_modes WHERE application = $1';
  return (application) =>
    withConnection(url, async (connection) => {
      const { rows } = await connection.query<{ mode: string }>(text, [application]);
      return rows.map(({ mode }) => mode);
    });
}

/** What a node of an executed plan reports. */
interface PlanNode {
  'Rows Removed by Filter'?: number;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: PlanNode[];
}

/** Executes a statement of PostgreSQL. @returns how many rows it found, and how many its plan read to find them */
export async function rowsOfPlan(
  connection: { query<Row extends object>(text: string, values: unknown[]): Promise<{ rows: Row[] }> },
  text: string,
  values: readonly unknown[],
): Promise<{ found: number; read: number }> {
  const explained = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`;
  const { rows } = await connection.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explained, [...values]);
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  if (plan === undefined) throw new Error('PostgreSQL returned no plan.');
  return { found: plan['Actual Rows'], read: readBy(plan) };
}

/** Rows that the nodes of a plan have passed on, or read and thrown away. */
function readBy(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + readBy(child), 0);
  return below + ((node['Rows Removed by Filter'] ?? 0) + node['Actual Rows']) * node['Actual Loops'];
}

/**
 * An empty Redis database of its own. Keys are apart from other specs; published messages are not, as Redis publishes
 * across databases: use channel names that are yours.
 */
export async function claimTestRedis(): Promise<TestStore> {
  const server = required(readEnvironment().test.redisUrl, 'TEST_REDIS_URL');
  const [reply] = await redisLines(server, ['INCR test-stores:claimed']);
  const number = (Number(reply?.slice(1)) % (TEST_REDIS_DATABASES - 1)) + 1;
  const url = new URL(server);
  url.pathname = `/${number}`;
  const flush = async (): Promise<void> => {
    await redisLines(server, [`SELECT ${number}`, 'FLUSHDB']);
  };
  await flush();
  return { url: url.toString(), drop: flush };
}
