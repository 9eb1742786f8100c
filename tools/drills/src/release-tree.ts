/** A checkout of a release with what it needs to run: what an image of that release is, where there are no images. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { startStack } from '@dormouse/stack';
import { z } from 'zod';
import type { Report } from './report.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
const released = z.object({ commit: z.string() });

export interface ReleaseTree {
  readonly folder: string;
  readonly commit: string;
  /** The release's own launcher. */
  readonly startStack: typeof startStack;
  /** Removes the checkout. */
  remove(): Promise<void>;
}

/** The commit of the last release: `prisma/released`. */
async function lastRelease(): Promise<string> {
  return released.parse(JSON.parse(await readFile(join(ROOT, 'prisma/released/migrations.json'), 'utf8'))).commit;
}

/**
 * Checks out a commit beside this repository, installs what its lock file names, and builds it: some minutes.
 * @param from the commit; default: the last release
 * @throws when this is no git checkout with that commit, or the release does not build
 */
export async function checkOutRelease(report: Report, from?: string): Promise<ReleaseTree> {
  const commit = from ?? (await lastRelease());
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-release-'));
  const remove = async (): Promise<void> => {
    await run('git', ['worktree', 'remove', '--force', folder], { cwd: ROOT }).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    report.step(`release ${commit.slice(0, 7)} is checked out, installed and built`);
    await run('git', ['worktree', 'add', '--detach', folder, commit], { cwd: ROOT });
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, maxBuffer: 2 ** 26 });
    await run('npm', ['run', 'build'], { cwd: folder, maxBuffer: 2 ** 26 });
    const launcher = (await import(join(folder, 'tools/stack/dist/index.js'))) as Pick<ReleaseTree, 'startStack'>;
    return { folder, commit, startStack: launcher.startStack, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
