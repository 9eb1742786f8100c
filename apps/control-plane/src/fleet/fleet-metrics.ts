/**
 * The figures of every region as metrics, so that alerts work even when no worker is alive. They are queried at most once
 * in {@link FRESH_FOR_MS}, however often metrics are scraped. A region that does not answer in time counts as away and
 * does not delay the others.
 */
import type { RegionFigures } from '@dormouse/management-contract';
import { Gauge, type Registry } from 'prom-client';
import pTimeout from 'p-timeout';

/** How long figures are cached. */
const FRESH_FOR_MS = 5_000;
/** Timeout of the query for one region's figures. */
const TIMEOUT_MS = 3_000;

/** One value of a gauge with its labels beside the region. */
type Sample = [labels: Record<string, string>, value: number];

interface RegionGauge {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: (figures: RegionFigures) => Sample[];
}

const GAUGES: readonly RegionGauge[] = [
  {
    name: 'workers',
    help: 'Live workers of a region, and those of them that take no shards',
    labels: ['state'],
    read: ({ workers }) => [
      [{ state: 'living' }, workers.living],
      [{ state: 'draining' }, workers.draining],
    ],
  },
  {
    name: 'shards',
    help: 'Shards of a region with a valid lease, and without one',
    labels: ['state'],
    read: ({ shards }) => [
      [{ state: 'owned' }, shards.total - shards.without_owner],
      [{ state: 'without_owner' }, shards.without_owner],
    ],
  },
  {
    name: 'sessions',
    help: 'Channels of a region by the state of their session',
    labels: ['state'],
    read: ({ sessions }) => Object.entries(sessions).map(([state, count]) => [{ state }, count]),
  },
  {
    name: 'wakes_overdue',
    help: 'Sleeping channels that should have been woken more than a minute ago',
    read: ({ sleeping }) => [[{}, sleeping.overdue]],
  },
  {
    name: 'commands',
    help: "Commands in a region's queues: waiting for a worker, and running; absent while Redis is away",
    labels: ['state'],
    read: ({ commands }) =>
      commands
        ? [
            [{ state: 'waiting' }, commands.waiting],
            [{ state: 'running' }, commands.running],
          ]
        : [],
  },
  {
    name: 'command_age_seconds',
    help: 'Age of the oldest command that waits for a worker',
    read: ({ commands }) => (commands ? [[{}, commands.oldest_age_s]] : []),
  },
  {
    name: 'event_backlog',
    help: 'Events not yet delivered to webhooks',
    read: ({ events }) => [[{}, events.backlog]],
  },
  {
    name: 'event_age_seconds',
    help: 'Age of the oldest event not yet delivered',
    read: ({ events }) => [[{}, events.oldest_age_s]],
  },
  {
    name: 'dead_letters',
    help: 'Events that a webhook did not accept within 72 h',
    read: ({ events }) => [[{}, events.dead_letters]],
  },
];

/** Source of the figures. */
export interface FigureSource {
  readonly names: readonly string[];
  /** @throws when the region does not answer */
  readonly region: (name: string) => Promise<RegionFigures>;
}

type Figures = ReadonlyMap<string, RegionFigures | undefined>;

/** Registers a gauge for each figure; scraping them queries the regions. @param now monotonic clock in milliseconds */
export function measureFleet(
  registry: Registry,
  source: FigureSource,
  now: () => number = () => performance.now(),
): void {
  const registers = [registry];
  let latest: { figures: Promise<Figures>; atMs: number } | undefined;
  const read = (): Promise<Figures> => {
    if (!latest || now() - latest.atMs > FRESH_FOR_MS) latest = { figures: readAll(source), atMs: now() };
    return latest.figures;
  };
  new Gauge({
    name: 'dormouse_region_up',
    help: "1 when a region's database answered",
    labelNames: ['region'],
    registers,
    async collect() {
      for (const [region, figures] of await read()) this.set({ region }, figures ? 1 : 0);
    },
  });
  for (const { name, help, labels = [], read: samples } of GAUGES) {
    new Gauge({
      name: `dormouse_region_${name}`,
      help,
      labelNames: ['region', ...labels],
      registers,
      async collect() {
        const all = await read();
        this.reset(); // a region that is away has no figures, rather than old ones
        for (const [region, figures] of all) {
          if (figures)
            for (const [sampleLabels, value] of samples(figures)) this.set({ region, ...sampleLabels }, value);
        }
      },
    });
  }
}

async function readAll({ names, region }: FigureSource): Promise<Figures> {
  const read = names.map(async (name) => [name, await within(TIMEOUT_MS, region(name))] as const);
  return new Map(await Promise.all(read));
}

/** The result of `work`; undefined when it fails or takes longer than `timeoutMs`. */
function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
  return pTimeout(work, { milliseconds: timeoutMs, fallback: () => undefined }).catch(() => undefined);
}
