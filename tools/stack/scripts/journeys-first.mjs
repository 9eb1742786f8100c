// The order of Jest's test files: journeys, then integration, then unit. Within a tier it is Jest's own order: the longest
// first if an earlier run is remembered, else the largest. Journeys are the longest files and specs without I/O the shortest,
// so that the workers end together; started last, a long file keeps one worker busy while the others wait.
import TestSequencer from '@jest/test-sequencer';

const TIERS = ['e2e', 'integration', 'unit'];

const place = (test) => TIERS.indexOf(test.context.config.displayName?.name);

export default class JourneysFirst extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => place(one) - place(other));
  }
}
