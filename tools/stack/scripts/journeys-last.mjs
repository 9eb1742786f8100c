// The order of Jest's test files: unit, then integration, then journeys. Of the journeys those that share a stack are the last,
// so that shared stacks run no longer than they are used; of each kind the longest come first, so that the workers end together:
// started last, a long file keeps one worker busy while the others wait. Otherwise it is Jest's own order: the longest first if
// an earlier run is remembered, else the largest.
import { readFileSync } from 'node:fs';
import TestSequencer from '@jest/test-sequencer';

const TIERS = ['unit', 'integration', 'e2e'];
/** Journeys of 40 s and more, the longest first. */
const LONG_JOURNEYS = [
  ...['drills', 'dashboard-billing', 'cut-off', 'fleet', 'rolling-upgrade', 'dashboard-newcomer', 'sleep'],
  ...['events', 'dashboard-people', 'dashboard-channels', 'docs-site', 'large-accounts'],
];

/** Where a file comes, before Jest's own order. */
function place({ path, context }) {
  const tier = TIERS.indexOf(context.config.displayName?.name);
  const shares = tier === TIERS.indexOf('e2e') && readFileSync(path, 'utf8').includes('RunningStack.shared(');
  const length = LONG_JOURNEYS.findIndex((name) => path.endsWith(`/${name}.e2e.spec.ts`));
  return [tier, Number(shares), length === -1 ? LONG_JOURNEYS.length : length];
}

export default class JourneysLast extends TestSequencer {
  sort(tests) {
    const placed = super.sort(tests).map((test) => ({ test, at: place(test) }));
    const order = (one, other) => one.at.map((own, index) => own - other.at[index]).find((step) => step !== 0) ?? 0;
    return placed.toSorted(order).map(({ test }) => test);
  }
}
