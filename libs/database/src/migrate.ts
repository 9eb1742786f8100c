import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** Prisma's own advisory lock id: its CLI and this runner exclude each other. */
const PRISMA_MIGRATE_LOCK = 72707369;

const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`;

export type DatabaseScope = 'global' | 'regional';

/** Where the migrations of a scope lie in the source tree and in the image. */
export function migrationsFolder(scope: DatabaseScope): string {
  return fileURLToPath(new URL(`../../../prisma/${scope}/migrations`, import.meta.url));
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
 * @throws when an earlier migration failed half-way or an applied file was edited
 */
export async function migrate(
  url: string,
  scope: DatabaseScope,
  options: { lockTimeoutMs?: number } = {},
): Promise<string[]> {
  const connection = new pg.Client({ connectionString: url, application_name: 'migrate' });
  await connection.connect();
  try {
    await connection.query(`SET lock_timeout = ${options.lockTimeoutMs ?? 60_000}`);
    await connection.query('SELECT pg_advisory_lock($1)', [PRISMA_MIGRATE_LOCK]);
    await connection.query('SET lock_timeout = 0');
    await connection.query(MIGRATIONS_TABLE);
    return await applyMissing(connection, migrationsFolder(scope));
  } finally {
    await connection.end(); // ending the connection frees the advisory lock
  }
}

async function applyMissing(connection: pg.Client, folder: string): Promise<string[]> {
  const { rows } = await connection.query<AppliedMigration>(
    'SELECT migration_name, checksum, finished_at FROM "_prisma_migrations" WHERE rolled_back_at IS NULL',
  );
  const failed = rows.find((row) => row.finished_at === null);
  if (failed)
    throw new Error(`Migration ${failed.migration_name} failed before; resolve it by hand, then start again.`);
  const checksums = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const applied: string[] = [];
  for (const name of names.sort()) {
    const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8');
    const checksum = createHash('sha256').update(sql).digest('hex');
    const known = checksums.get(name);
    if (known === undefined) {
      await applyOne(connection, name, sql, checksum);
      applied.push(name);
    } else if (known !== checksum) {
      throw new Error(`Migration ${name} was edited after it was applied.`);
    }
  }
  return applied;
}

async function applyOne(connection: pg.Client, name: string, sql: string, checksum: string): Promise<void> {
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
    throw error;
  }
  await connection.query(
    'UPDATE "_prisma_migrations" SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = $1',
    [id],
  );
}
