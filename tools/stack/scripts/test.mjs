// Builds, runs the tests of the tiers named (default: all three), and ends with one line: `N passed, N failed, N skipped`.
//   test.mjs [short] [unit] [integration] [e2e] [-- options of Jest]
// `short` runs all of unit and, of the other tiers, what a version of Node is most likely to break: for a second version.
// A run that hangs because something was left open is ended by the limit.
// Three files run side by side: with four, waits of journeys end in vain on a busy machine.
// Journeys stand alone: `test.mjs e2e -- --randomize` runs those of each file in a random order.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, root, runScript } from './build.mjs';

const TIERS = ['unit', 'integration', 'e2e'];
/** Of one run of Jest. */
const LIMIT_MS = 40 * 60_000;

/** Jest's path patterns of the short list: the network library with its patches, queues, servers; the basic journeys. */
const SHORT = {
  integration: [
    'session-worker/src/media/media-process',
    'session-worker/src/([^/]+|(auth-state|sessions|socket)/.*)\\.int',
    'libs/(bootstrap|queues|redis)/',
  ],
  e2e: ['(link-and-talk|media|sleep|worker-crash)\\.e2e'],
};

const split = process.argv.indexOf('--');
const words = process.argv.slice(2, split === -1 ? undefined : split);
const isShort = words.includes('short');
const named = words.filter((word) => word !== 'short');
const jestOptions = split === -1 ? [] : process.argv.slice(split + 1);
const unknown = named.filter((tier) => !TIERS.includes(tier));
if (unknown.length > 0) {
  console.error(`Which tier? ${TIERS.join(', ')}, or short; options of Jest come after --`);
  process.exit(2);
}
const tiers = named.length > 0 ? named : TIERS;

/** Runs Jest on some tiers. @returns its counts; a run that left no report counts as one failure */
async function jest(selected, options) {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-jest-'));
  const report = join(folder, 'report.json');
  try {
    const code = await runScript(
      join(root, 'node_modules/jest/bin/jest.js'),
      [
        ...['--selectProjects', ...selected],
        ...['--json', `--outputFile=${report}`, '--passWithNoTests'],
        ...options,
        ...jestOptions,
      ],
      { nodeArgs: ['--no-warnings'], withinMs: LIMIT_MS },
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

/** The tiers share their workers, so that none waits for the last file of another. Of the short list each has its own paths. */
const planned = isShort ? tiers.map((tier) => ({ tiers: [tier], patterns: SHORT[tier] })) : [{ tiers }];

const runs = [];
try {
  await build('all');
  for (const { tiers, patterns = [] } of planned) {
    const only = patterns.length > 0 ? ['--testPathPatterns', ...patterns] : [];
    runs.push(await jest(tiers, ['--maxWorkers=3', ...only]));
  }
} catch (error) {
  console.error(error.message);
  runs.push({ passed: 0, failed: 1, skipped: 0 });
}
const sum = (count) => runs.reduce((total, run) => total + run[count], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
process.exit(sum('failed') === 0 ? 0 : 1);
