/**
 * Checks that a database has the migrations that this version was built with.
 *
 * Guarantees: an app does not start on a schema that is older than itself, so that what it would store is stored whole or by the last
 * release. A schema that is newer is no fault: migrations come first, and the last release runs on them (docs/versions.md).
 * PostgreSQL away: not checked, as servers start without it; their queries fail until it is back.
 */
import { readdir } from 'node:fs/promises';
import pTimeout from 'p-timeout';
import { migrationsFolder, type DatabaseScope } from './migrate.js';
import { defineStatement, type Queryable } from './statement.js';

const text = `SELECT migration_name::text AS migration_name FROM _prisma_migrations
  WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`;
const row = { migration_name: 'text' } as const;
const APPLIED = {
  regional: defineStatement({ name: 'applied-regional-migrations', text, parameters: [], row }),
  global: defineStatement({ name: 'applied-global-migrations', text, parameters: [], row, scope: 'global' }),
};

const ANSWER_WITHIN_MS = 3_000;

/** The database is older than this version; the text says what to do. */
export class SchemaBehindError extends Error {
  constructor(
    readonly scope: DatabaseScope,
    readonly missing: readonly string[],
  ) {
    super(
      `the ${scope} database lacks ${missing.length === 1 ? 'the migration' : 'the migrations'} ${missing.join(', ')}: ` +
        'apply the migrations of this version first (tools/stack/dist/commands/prepare.js), then start it',
    );
    this.name = 'SchemaBehindError';
  }
}

/** Names of the migrations of this version, in order. */
export async function ownMigrations(scope: DatabaseScope): Promise<string[]> {
  const entries = await readdir(migrationsFolder(scope), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

/** Those of this version that the database has not got. @throws the driver's errors */
export async function missingMigrations(on: Queryable, scope: DatabaseScope): Promise<string[]> {
  const [own, rows] = await Promise.all([ownMigrations(scope), APPLIED[scope].all(on)]);
  const applied = new Set(rows.map(({ migration_name: name }) => name));
  return own.filter((name) => !applied.has(name));
}

/**
 * Resolves when the database has them, and when it does not answer.
 * @throws {SchemaBehindError} when it lacks one
 */
export async function requireMigrations(on: Queryable, scope: DatabaseScope): Promise<void> {
  const unknown = (): string[] => [];
  const missing = await pTimeout(missingMigrations(on, scope).catch(unknown), {
    milliseconds: ANSWER_WITHIN_MS,
    fallback: unknown,
  });
  if (missing.length > 0) throw new SchemaBehindError(scope, missing);
}
