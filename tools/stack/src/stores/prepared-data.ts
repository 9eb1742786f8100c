/**
 * A PostgreSQL data folder with both databases migrated, made once for each set of migrations and copied for every stack
 * that a test starts: making one takes seconds, copying it a tenth of one. It lies in the temporary folder; a copy that has not
 * been used for a day is deleted when the next is made.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, migrationsFolder } from '@dormouse/database';
import { ProcessRegister } from '../processes/process-register.js';
import { postgresDataFolder, postgresFolderOwner, startPostgres } from './postgres.js';

/** Names of the databases in a prepared folder, by scope. The regional one is copied for each region, and used by none. */
export const STACK_DATABASES = { global: 'dormouse_global', regional: 'dormouse_regional' } as const;

/** Name of a region's database on our own server. */
export function regionalDatabase(region: string): string {
  return `dormouse_${region}`;
}

const PREFIX = 'dormouse-prepared-data-';
const UNUSED_FOR_MS = 24 * 3_600_000;

/** Of everything that the content depends on: binaries (by the checkout that installed them), account, migrations. */
function contentHash(): string {
  const hash = createHash('sha256').update(`${import.meta.url} ${postgresFolderOwner()}`);
  hash.update(readFileSync(new URL('../../package.json', import.meta.url)));
  for (const scope of ['global', 'regional'] as const) {
    const folder = migrationsFolder(scope);
    for (const name of readdirSync(folder).toSorted()) {
      const file = join(folder, name, 'migration.sql');
      if (existsSync(file)) hash.update(`${scope} ${name} `).update(readFileSync(file));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function copyFolder(from: string, to: string): void {
  const sharing = process.platform === 'linux' ? ['--reflink=auto'] : [];
  const copied = spawnSync('cp', ['-a', ...sharing, from, to], { encoding: 'utf8' });
  if (copied.status === 0) return;
  rmSync(to, { recursive: true, force: true });
  throw new Error(`PostgreSQL's data folder could not be copied: ${copied.error?.message ?? copied.stderr}`);
}

function deleteUnused(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    try {
      if (Date.now() - statSync(folder).mtimeMs > UNUSED_FOR_MS) rmSync(folder, { recursive: true, force: true });
    } catch {
      // another process deletes it, or it is another account's
    }
  }
}

/** Makes the folder beside its place and renames it, so that several may do it at once. */
async function prepare(prepared: string): Promise<void> {
  deleteUnused();
  const making = mkdtempSync(join(tmpdir(), 'dormouse-preparing-'));
  const dir = join(making, 'postgres');
  const register = await ProcessRegister.open(making);
  try {
    const server = await startPostgres({ register, dir, durable: false });
    try {
      for (const scope of ['global', 'regional'] as const) {
        await migrate(await server.ensureDatabase(STACK_DATABASES[scope]), scope);
      }
    } finally {
      await server.stop();
    }
    const copy = `${prepared}.${process.pid}`;
    copyFolder(postgresDataFolder(dir), copy);
    try {
      renameSync(copy, prepared);
    } catch {
      rmSync(copy, { recursive: true, force: true }); // another process was first
    }
  } finally {
    register.close();
    rmSync(postgresDataFolder(dir), { recursive: true, force: true });
    rmSync(making, { recursive: true, force: true });
  }
}

/** The name is known to everybody on the machine: what another account put there is not used. */
function requireOwn(prepared: string): void {
  const status = lstatSync(prepared);
  if (status.isDirectory() && status.uid === postgresFolderOwner()) return;
  throw new Error(`${prepared} belongs to another account. Delete it, then start again.`);
}

/**
 * Fills the data folder of a server that has none yet: for `startPostgres` with the same `dir`, and not durable.
 * @throws when the folder cannot be made or copied
 */
export async function copyPreparedData(dir: string): Promise<void> {
  mkdirSync(dir, { recursive: true });
  const data = postgresDataFolder(dir);
  if (existsSync(data)) return;
  const prepared = join(tmpdir(), `${PREFIX}${contentHash()}`);
  if (!existsSync(prepared)) await prepare(prepared);
  requireOwn(prepared);
  utimesSync(prepared, new Date(), new Date());
  copyFolder(prepared, data);
}
