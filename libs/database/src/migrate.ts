/**
 * The migration runner of every start.
 *
 * Guarantees:
 * - Each migration is applied once, in order, whole or not at all. Many processes may run it at once: one works, the others wait.
 * - It does not stop a region that serves. A migration waits for a table's lock no longer than {@link DDL_LOCK_TIMEOUT_MS}, as all later
 *   queries of the table wait behind it; then it is undone and tried again after a pause, for {@link DDL_WITHIN_MS}.
 * - A file of one statement runs outside of a transaction, so that it can build an index CONCURRENTLY. That waits for transactions that
 *   began before, without holding anybody up; what a failed build leaves behind is dropped.
 * PostgreSQL away: it rejects; what was applied stays applied.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** Prisma's own advisory lock id: its CLI and this runner exclude each other. */
const PRISMA_MIGRATE_LOCK = 72707369;

/** Longest time that a migration waits for a lock, and with it every query behind it. */
const DDL_LOCK_TIMEOUT_MS = 2_000;
/** For how long a migration is tried again while something else holds its lock. */
const DDL_WITHIN_MS = 120_000;
const DDL_PAUSE_MS = 1_000;
/** Interval between two attempts to become the one that migrates. */
const TURN_POLL_MS = 250;
const LOCK_NOT_AVAILABLE = '55P03';

const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`;

export type DatabaseScope = 'global' | 'regional';

/** Where the migrations of a scope lie in the source tree and in the image. */
export function migrationsFolder(scope: DatabaseScope): string {
  return fileURLToPath(new URL(`../../../prisma/${scope}/migrations`, import.meta.url));
}

export interface MigrateOptions {
  /** Default: that of this version. */
  folder?: string;
  /** Timeout of the wait for another process that migrates. Default: 60 s. */
  turnWithinMs?: number;
  /** Defaults: {@link DDL_LOCK_TIMEOUT_MS}, {@link DDL_WITHIN_MS}, {@link DDL_PAUSE_MS}. */
  lockTimeoutMs?: number;
  retryWithinMs?: number;
  pauseMs?: number;
  /** Called when a migration could not get a lock and will be tried again. */
  onRetry?: (migration: string) => void;
}

interface AppliedMigration {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

/**
 * Applies every migration that the database has not seen, in order, each as one implicit transaction. Safe to run by
 * many processes at once: one works, the others wait and find nothing left to do.
 * @returns the names applied by this call
 * @throws when an earlier migration failed half-way, an applied file was edited, or a lock could not be had in time
 */
export async function migrate(url: string, scope: DatabaseScope, options: MigrateOptions = {}): Promise<string[]> {
  const connection = new pg.Client({ connectionString: url, application_name: 'migrate' });
  await connection.connect();
  try {
    await takeTurn(connection, options.turnWithinMs ?? 60_000);
    await connection.query(MIGRATIONS_TABLE);
    return await applyMissing(connection, { folder: migrationsFolder(scope), ...options });
  } finally {
    await connection.end(); // ending the connection frees the advisory lock
  }
}

/** Polls: a statement that waited for its turn would keep an index from being built CONCURRENTLY by the one that works. */
async function takeTurn(connection: pg.Client, withinMs: number): Promise<void> {
  const until = Date.now() + withinMs;
  for (;;) {
    const { rows } = await connection.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      PRISMA_MIGRATE_LOCK,
    ]);
    if (rows[0]?.taken) return;
    if (Date.now() > until) throw new Error(`another process has been migrating for ${withinMs} ms: try again later`);
    await delay(TURN_POLL_MS);
  }
}

type Terms = MigrateOptions & { folder: string };

async function applyMissing(connection: pg.Client, terms: Terms): Promise<string[]> {
  const { rows } = await connection.query<AppliedMigration>(
    'SELECT migration_name, checksum, finished_at FROM "_prisma_migrations" WHERE rolled_back_at IS NULL',
  );
  const failed = rows.find((row) => row.finished_at === null);
  if (failed)
    throw new Error(`Migration ${failed.migration_name} failed before; resolve it by hand, then start again.`);
  const checksums = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  const entries = await readdir(terms.folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const applied: string[] = [];
  for (const name of names.sort()) {
    const sql = await readFile(join(terms.folder, name, 'migration.sql'), 'utf8');
    const checksum = createHash('sha256').update(sql).digest('hex');
    const known = checksums.get(name);
    if (known === undefined) {
      await applyPatiently(connection, { name, sql, checksum }, terms);
      applied.push(name);
    } else if (known !== checksum) {
      throw new Error(`Migration ${name} was edited after it was applied.`);
    }
  }
  return applied;
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** Tries again while a lock is not to be had: nothing of the attempt before is left. */
async function applyPatiently(connection: pg.Client, migration: Migration, terms: Terms): Promise<void> {
  const { lockTimeoutMs = DDL_LOCK_TIMEOUT_MS, retryWithinMs = DDL_WITHIN_MS, pauseMs = DDL_PAUSE_MS } = terms;
  const until = Date.now() + retryWithinMs;
  // An index that is built CONCURRENTLY holds nobody up while it waits.
  const timeoutMs = isBuiltConcurrently(migration.sql) ? 0 : lockTimeoutMs;
  for (;;) {
    await connection.query(`SET lock_timeout = ${timeoutMs}`);
    try {
      await applyOne(connection, migration);
      return;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
      await connection.query('DELETE FROM "_prisma_migrations" WHERE migration_name = $1', [migration.name]);
      if (Date.now() > until) throw lockHeld(migration.name, retryWithinMs, error);
    }
    terms.onRetry?.(migration.name);
    await delay(pauseMs);
  }
}

function lockHeld(name: string, withinMs: number, cause: Error): Error {
  return new Error(
    `Migration ${name} could not lock its table within ${withinMs} ms: a transaction has held it for all that time. ` +
      'Nothing was changed. Find the transaction in pg_stat_activity (the oldest xact_start), end it, and start again.',
    { cause },
  );
}

function isBuiltConcurrently(sql: string): boolean {
  return /\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\b/i.test(sql);
}

async function applyOne(connection: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  const id = randomUUID();
  await connection.query('INSERT INTO "_prisma_migrations" (id, checksum, migration_name) VALUES ($1, $2, $3)', [
    id,
    checksum,
    name,
  ]);
  try {
    await connection.query(sql); // the simple protocol runs a script as one implicit transaction
  } catch (error) {
    await connection.query('UPDATE "_prisma_migrations" SET logs = $2 WHERE id = $1', [id, String(error)]);
    if (isBuiltConcurrently(sql)) await dropInvalidIndexes(connection);
    throw error;
  }
  await connection.query(
    'UPDATE "_prisma_migrations" SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = $1',
    [id],
  );
}

/** Those of builds that failed: nothing uses them, and a second build under their name would fail. */
async function dropInvalidIndexes(connection: pg.Client): Promise<void> {
  const { rows } = await connection.query<{ name: string }>(
    'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid',
  );
  for (const { name } of rows) await connection.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}
