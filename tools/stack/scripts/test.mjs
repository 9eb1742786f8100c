// Builds, runs the tests of the tiers named (default: all three), and ends with one line: `N passed, N failed, N skipped`.
//   test.mjs [unit] [integration] [e2e] [-- options of Jest]
// Two files run side by side; each journey has a whole stack to itself, with ports and folders of its own.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, root, runScript } from './build.mjs';

const TIERS = ['unit', 'integration', 'e2e'];
const LIMIT_MS = { together: 15 * 60_000, e2e: 20 * 60_000 };

const split = process.argv.indexOf('--');
const named = process.argv.slice(2, split === -1 ? undefined : split);
const jestOptions = split === -1 ? [] : process.argv.slice(split + 1);
const unknown = named.filter((tier) => !TIERS.includes(tier));
if (unknown.length > 0) {
  console.error(`Which tier? ${TIERS.join(', ')}; options of Jest come after --`);
  process.exit(2);
}
const tiers = named.length > 0 ? named : TIERS;

/** Runs Jest on some tiers. @returns its counts; a run that left no report counts as one failure */
async function jest(selected, options, withinMs) {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-jest-'));
  const report = join(folder, 'report.json');
  try {
    const code = await runScript(
      join(root, 'node_modules/jest/bin/jest.js'),
      [
        ...['--selectProjects', ...selected],
        ...['--json', `--outputFile=${report}`, '--forceExit', '--passWithNoTests'],
        ...options,
        ...jestOptions,
      ],
      { nodeArgs: ['--experimental-vm-modules', '--no-warnings'], withinMs },
    );
    const result = JSON.parse(readFileSync(report, 'utf8'));
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    return {
      passed: result.numPassedTests,
      failed: failed === 0 && code !== 0 ? 1 : failed,
      skipped: result.numPendingTests + result.numTodoTests,
    };
  } catch (error) {
    console.error(`Jest left no report: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const WORKERS = '--maxWorkers=2';
const runs = [];
try {
  await build('all');
  const together = tiers.filter((tier) => tier !== 'e2e');
  if (together.length > 0) runs.push(await jest(together, [WORKERS], LIMIT_MS.together));
  if (tiers.includes('e2e')) runs.push(await jest(['e2e'], [WORKERS], LIMIT_MS.e2e));
} catch (error) {
  console.error(error.message);
  runs.push({ passed: 0, failed: 1, skipped: 0 });
}
const sum = (count) => runs.reduce((total, run) => total + run[count], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
process.exit(sum('failed') === 0 ? 0 : 1);
