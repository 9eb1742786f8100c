/**
 * Where what tests store lies: in memory where the system has a folder for that with enough room, else below the temporary
 * folder. A run creates and deletes a database for most of its files, each of some hundred files, for which a file system on
 * disk takes several times as long as the tests themselves need PostgreSQL.
 */
import { mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteFolder } from '../launch/data-folder.js';
import { ProcessRegister } from '../processes/process-register.js';
import { IN_MEMORY } from '../stores/postgres.js';

/** Several times what a whole run holds at any time. */
const ROOM_BYTES = 6 * 2 ** 30;
const CLAIMED_WITHIN_MS = 60_000;

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** The folder of all runs of this account, made if missing. */
function testFolder(): string {
  const account = process.getuid?.() ?? 'user';
  const folder = join(hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir(), `dormouse-test-${account}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A new, private folder for the data of stores or of a stack; `deleteFolder` deletes it. */
export function createTestFolder(): Promise<string> {
  return mkdtemp(join(testFolder(), 'run-'));
}

/**
 * Stops and deletes what runs that were killed have left behind.
 * @param all the folder of all runs
 * @param claimedWithinMs younger ones are left alone: a run claims its folder once it has made it
 */
export async function sweepTestFolders(all = testFolder(), claimedWithinMs = CLAIMED_WITHIN_MS): Promise<void> {
  for (const folder of readdirSync(all).map((name) => join(all, name))) {
    try {
      if (Date.now() - statSync(folder).ctimeMs < claimedWithinMs) continue;
      if (ProcessRegister.holder(folder) !== undefined) continue;
      (await ProcessRegister.open(folder)).close();
      deleteFolder(folder);
    } catch {
      // another run sweeps it
    }
  }
}
