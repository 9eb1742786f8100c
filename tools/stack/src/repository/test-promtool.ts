import { spawnSync } from 'node:child_process';
import { inheritedEnvironment } from '../config.js';

const found = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0;

/** `describe` for specs that need promtool (Debian package `prometheus`): skipped without it, except in CI, where they fail. */
export function describeWithPromtool(name: string, specs: () => void): void {
  const present = found || inheritedEnvironment()['CI'] !== undefined;
  (present ? describe : describe.skip)(name, specs);
}

/** Runs promtool in a folder; `output` is everything it printed. */
export function promtool(folder: string, ...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
  if (error) throw new Error('promtool is needed: apt-get install prometheus', { cause: error });
  return { status, output: stdout + stderr };
}
