/**
 * Every region's figures as metrics, so that alerts need no worker to be alive. Asked for at most every few seconds,
 * however many scrape; a region that takes too long counts as away and does not hold the others up.
 */
import type { RegionFigures } from '@dormouse/management-contract';
import { Gauge, type Registry } from 'prom-client';

const FRESH_FOR_MS = 5_000;
const WITHIN_MS = 3_000;

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
    help: 'Workers of a region: living ones, and those of them that take no shards',
    labels: ['state'],
    read: ({ workers }) => [
      [{ state: 'living' }, workers.living],
      [{ state: 'draining' }, workers.draining],
    ],
  },
  {
    name: 'shards',
    help: 'Shards of a region: with a lease that holds, and without',
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
    help: 'Sleeping channels whose time to be woken passed more than a minute ago',
    read: ({ sleeping }) => [[{}, sleeping.overdue]],
  },
  {
    name: 'commands',
    help: "Commands in a region's queues: not taken yet, and taken but not answered; none while Redis is away",
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
    help: 'How long the oldest command that no worker has taken waits',
    read: ({ commands }) => (commands ? [[{}, commands.oldest_age_s]] : []),
  },
  {
    name: 'event_backlog',
    help: 'Events that webhooks have not passed yet',
    read: ({ events }) => [[{}, events.backlog]],
  },
  {
    name: 'event_age_seconds',
    help: 'Age of the oldest of them',
    read: ({ events }) => [[{}, events.oldest_age_s]],
  },
  {
    name: 'dead_letters',
    help: 'Events that no webhook took in 72 h',
    read: ({ events }) => [[{}, events.dead_letters]],
  },
];

/** Where figures come from. */
export interface FigureSource {
  readonly names: readonly string[];
  /** @throws when the region does not answer */
  readonly region: (name: string) => Promise<RegionFigures>;
}

type Figures = ReadonlyMap<string, RegionFigures | undefined>;

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
        this.reset(); // nothing is said of a region that is away
        for (const [region, figures] of all) {
          if (figures) for (const [given, value] of samples(figures)) this.set({ region, ...given }, value);
        }
      },
    });
  }
}

async function readAll({ names, region }: FigureSource): Promise<Figures> {
  const read = names.map(async (name) => [name, await within(WITHIN_MS, region(name))] as const);
  return new Map(await Promise.all(read));
}

/** Undefined when it fails or takes too long. */
async function within<T>(withinMs: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, withinMs, undefined)));
  try {
    return await Promise.race([work, tooLong]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
