/** `npm run drill -- <name> [--short] [--from <commit>]`: does the damage in a sandbox of its own and follows the runbook. Alone it lists the drills. */
import { parseArgs } from 'node:util';
import { DRILLS } from './drills.js';
import { Report } from './report.js';

function list(): void {
  for (const [name, { about, runbook }] of Object.entries(DRILLS)) {
    console.log(`  npm run drill -- ${name.padEnd(16)} ${about} (infra/runbooks/${runbook})`);
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' }, from: { type: 'string' } },
});
const [name] = positionals;
const drill = name === undefined ? undefined : DRILLS[name];
if (name === undefined) {
  list();
} else if (!drill) {
  console.error(`There is no drill called ${name}.`);
  list();
  process.exitCode = 2;
} else {
  const report = new Report();
  report.step(`${name}: ${drill.about}; the steps are those of infra/runbooks/${drill.runbook}`);
  await drill.run({ isShort: values.short === true, report, from: values.from });
  report.print(name);
  if (!report.isKept) process.exitCode = 1;
}
