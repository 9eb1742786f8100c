// The order of Jest's test files: those of the simulated network first, before a spec of the worker patches the network library
// of its process (`native-runtime.cjs` refuses another order); then unit; then integration, with the journeys that start a stack of their own spread evenly
// among them; at last the journeys that share stacks, so that shared stacks run no longer than they are used. A journey waits
// much and an integration spec computes much: side by side they keep the processor busy, and no three stacks start at once.
// Of each kind the longest come first, so that Jest's workers end together: started last, a long file keeps one busy while the
// others wait. Otherwise it is Jest's own order: the longest first if an earlier run is remembered, else the largest.
import { readFileSync } from 'node:fs';
import TestSequencer from '@jest/test-sequencer';

/** Journeys of 35 s and more, the longest first. */
const LONG_JOURNEYS = (
  'cut-off fleet sleep contract-samples rolling-upgrade dashboard-newcomer regions events-outages two-workers ' +
  'events dashboard-people dashboard-channels docs-site large-accounts'
).split(' ');

const tierOf = ({ context }) => context.config.displayName?.name;
const ofTheNetwork = ({ path }) => path.includes('/apps/network-simulator/');
const shares = ({ path }) => readFileSync(path, 'utf8').includes('RunningStack.shared(');

/** Where a journey comes among its kind, before Jest's own order. */
function place({ path }) {
  const length = LONG_JOURNEYS.findIndex((name) => path.endsWith(`/${name}.e2e.spec.ts`));
  return length === -1 ? LONG_JOURNEYS.length : length;
}

/** The fewer among the others, at even distances, the first of them at once. */
function spread(few, others) {
  const every = Math.max(1, Math.floor(others.length / Math.max(1, few.length)));
  const groups = few.map((one, index) => [one, ...others.slice(index * every, (index + 1) * every)]);
  return [...groups.flat(), ...others.slice(few.length * every)];
}

export default class FileOrder extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const [first, others] = [true, false].map((first) => sorted.filter((test) => ofTheNetwork(test) === first));
    const of = (tier) => others.filter((test) => tierOf(test) === tier);
    const journeys = of('e2e').toSorted((one, other) => place(one) - place(other));
    const sharing = new Set(journeys.filter(shares));
    const alone = journeys.filter((test) => !sharing.has(test));
    return [...first, ...of('unit'), ...spread(alone, of('integration')), ...sharing];
  }
}
