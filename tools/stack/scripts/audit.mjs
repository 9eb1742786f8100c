// Fails if an installed package has a known vulnerability of severity high or critical for which there is a fix.
// A registry that does not answer is reported and is no failure: that is no fault of the change under test.
import { spawnSync } from 'node:child_process';

const FAILING = new Set(['high', 'critical']);

const { stdout, stderr } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8', maxBuffer: 64 << 20 });
let report;
try {
  report = JSON.parse(stdout);
} catch {
  report = undefined;
}
if (report?.vulnerabilities === undefined) {
  const reason = report?.message ?? report?.error?.summary ?? (stderr.trim().split('\n').at(-1) || 'no answer');
  console.log(`NOT CHECKED: the registry gave no list of vulnerabilities (${reason}).`);
  process.exit(0);
}
const found = Object.values(report.vulnerabilities).filter(({ severity }) => FAILING.has(severity));
for (const { name, severity, range, fixAvailable, via } of found) {
  const titles = via.flatMap((one) => (typeof one === 'string' ? [] : [`${one.title} ${one.url}`]));
  console.log(`${severity} ${name} ${range}: ${fixAvailable ? 'fix available' : 'no fix yet'}. ${titles.join('; ')}`);
}
const failing = found.filter(({ fixAvailable }) => fixAvailable);
console.log(`${found.length} of severity high or critical, ${failing.length} of them with a fix.`);
process.exit(failing.length === 0 ? 0 : 1);
