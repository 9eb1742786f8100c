/** The folder that everything is stored in: private, and emptied on request. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { postgresDataFolder } from '../stores/postgres.js';

/** Deletes all but what names the holder of the folder. */
export function emptyFolder(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (name === 'launcher.lock' || name === 'processes.json') continue;
    if (name.startsWith('postgres')) rmSync(postgresDataFolder(join(dataDir, name)), { recursive: true, force: true });
    rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

/** Deletes the folder with all in it, once what ran on it has ended. */
export function deleteFolder(dataDir: string): void {
  emptyFolder(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}

/** What is stored is for the account that runs us alone: keys, messages, files. Children inherit the mask. */
export function keepPrivate(dataDir: string): void {
  process.umask(0o077);
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  const log = join(dataDir, 'stack.log');
  if (existsSync(log)) chmodSync(log, 0o600);
}
