/**
 * Where what tests store lies: in memory where the system has a folder for that with enough room, else below the temporary
 * folder. A run creates and deletes a database for most of its files, each of some hundred files, for which a file system on
 * disk takes several times as long as the tests themselves need PostgreSQL.
 */
import { lstatSync, readdirSync, statfsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteFolder } from '../launch/data-folder.js';
import { ProcessRegister } from '../processes/process-register.js';
import { IN_MEMORY } from '../stores/postgres.js';

/** Several times what a whole run holds at any time. */
const ROOM_BYTES = 6 * 2 ** 30;
const PREFIX = 'dormouse-test-';
const CLAIMED_WITHIN_MS = 60_000;

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

function base(): string {
  return hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir();
}

/** A new, private folder for the data of stores or of a stack; `deleteFolder` deletes it. */
export function createTestFolder(): Promise<string> {
  return mkdtemp(join(base(), PREFIX));
}

/**
 * Stops and deletes what runs that were killed have left behind.
 * @param all the folder that those of all runs are in
 * @param claimedWithinMs younger ones are left alone: a run claims its folder once it has made it
 */
export async function sweepTestFolders(all = base(), claimedWithinMs = CLAIMED_WITHIN_MS): Promise<void> {
  for (const name of readdirSync(all).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = join(all, name);
    try {
      const { ctimeMs, uid } = lstatSync(folder);
      if (Date.now() - ctimeMs < claimedWithinMs || uid !== (process.getuid?.() ?? uid)) continue;
      if (ProcessRegister.holder(folder) !== undefined) continue;
      (await ProcessRegister.open(folder)).close();
      deleteFolder(folder);
    } catch {
      // another run sweeps it
    }
  }
}
