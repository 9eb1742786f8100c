// The order of Jest's test files: unit, then integration, then journeys, whose shared stacks so run no longer than journeys do.
// Of the journeys the longest come first, so that the workers end together: started last, a long file keeps one worker busy
// while the others wait. Otherwise it is Jest's own order: the longest first if an earlier run is remembered, else the largest.
import TestSequencer from '@jest/test-sequencer';

const TIERS = ['unit', 'integration', 'e2e'];
/** Journeys of 40 s and more, the longest first. */
const LONG_JOURNEYS = [
  ...['events', 'drills', 'dashboard-people', 'dashboard-billing', 'cut-off', 'dashboard-channels', 'fleet'],
  ...['rolling-upgrade', 'dashboard-newcomer', 'sleep', 'docs-site', 'large-accounts', 'contract-samples'],
];

const tier = (test) => TIERS.indexOf(test.context.config.displayName?.name);

function length(test) {
  const place = LONG_JOURNEYS.findIndex((name) => test.path.endsWith(`/${name}.e2e.spec.ts`));
  return place === -1 ? LONG_JOURNEYS.length : place;
}

export default class JourneysLast extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => tier(one) - tier(other) || length(one) - length(other));
  }
}
