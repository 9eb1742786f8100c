/** `npm run bench -- <name> [options]`: each benchmark measures the running stack beside bare Baileys in one run. */
import { benchAccounts } from './accounts-bench.js';
import { printCapacity } from './capacity-bench.js';
import { benchDashboard } from './dashboard-bench.js';
import { benchEvents } from './events-bench.js';
import { benchFleet } from './fleet-bench.js';
import { benchGroups } from './groups-bench.js';
import { benchHostile } from './hostile-bench.js';
import { benchKills } from './kills-bench.js';
import { benchLeases } from './leases-bench.js';
import { benchMedia } from './media-bench.js';
import { benchMoney } from './money-bench.js';
import { benchNetwork } from './network-bench.js';
import { benchReads } from './reads-bench.js';
import { benchRegions } from './regions-bench.js';
import { benchScale } from './scale-bench.js';
import { benchSend } from './send-bench.js';
import { benchSleeps } from './sleeps-bench.js';
import { benchSoak } from './soak-bench.js';
import { benchTraces } from './traces-bench.js';

const BENCHMARKS: Record<string, { about: string; run: () => Promise<void> }> = {
  accounts: { about: 'payments until they are served, sessions, sign-ins, a sweep of 10,000', run: benchAccounts },
  capacity: {
    about: 'what a region of many numbers needs and costs, computed from infra/capacity.json',
    run: printCapacity,
  },
  dashboard: { about: 'how long visitors of the dashboard wait, in a real browser', run: benchDashboard },
  events: { about: 'from a phone to a webhook: latency, sustained rate, drain of a backlog', run: benchEvents },
  groups: { about: 'sends to groups of up to 1,024, the first and the later ones', run: benchGroups },
  fleet: { about: 'many numbers: memory, bytes asleep, wakes, restarts, kills', run: benchFleet },
  hostile: { about: 'files that cost more than they weigh: memory of the worker, sends of others', run: benchHostile },
  kills: {
    about: 'the worker killed again and again while phones talk: what is lost, doubled, disordered',
    run: benchKills,
  },
  leases: { about: 'two workers while everything is busy: lost leases; one killed: served again', run: benchLeases },
  media: { about: 'memory of 100 MB, sends a second of every kind, transcoding of voice', run: benchMedia },
  money: { about: 'fourteen months of money while everything goes wrong, for several seeds', run: benchMoney },
  network: { about: 'the simulated network by itself: memory, linking, logging in, messages', run: benchNetwork },
  reads: { about: 'stored reads at 100 a second, a million messages', run: benchReads },
  regions: { about: 'a send, a read and files of 100 MB by way of another region, beside home', run: benchRegions },
  scale: { about: 'how cost grows with sleeping numbers, messages, webhooks, workers', run: benchScale },
  sleeps: { about: 'numbers asleep and awake, round after round: what is lost or unreadable', run: benchSleeps },
  send: { about: 'POST /messages/text through the whole stack, beside bare Baileys', run: benchSend },
  soak: { about: 'traffic both ways for minutes: does a process grow?', run: benchSoak },
  traces: { about: 'what a span costs, with traces and without', run: benchTraces },
};

const [name] = process.argv.slice(2);
const benchmark = name === undefined ? undefined : BENCHMARKS[name];
if (!benchmark) {
  console.error(name === undefined ? 'Which benchmark?' : `There is no benchmark called ${name}.`);
  for (const [known, { about }] of Object.entries(BENCHMARKS)) console.error(`  npm run bench -- ${known}   ${about}`);
  process.exit(2);
}
await benchmark.run();
// Bare Baileys leaves timers of up to a minute behind a socket that was ended.
process.exit(process.exitCode ?? 0);
