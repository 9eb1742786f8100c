/**
 * Traffic both ways for minutes: does any process grow? The heaps of worker and edge are read after a garbage
 * collection, so that their growth is what is in use.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { choosePort, type Stack } from '@dormouse/stack';
import { residentBytes } from '@dormouse/stack/process-memory';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import { memoryAfterCollection } from './process-figures.js';
import { printTable } from './table.js';
import { traffic } from './traffic.js';
import { World } from './world.js';

const SAMPLE_EVERY_MS = 30_000;
const MB = 2 ** 20;

interface Sample {
  atMs: number;
  rssBytes: number;
  heapBytes: number | undefined;
}

/** Growth of a series in its unit an hour: the slope of the line that fits best. */
export function growthPerHour(points: readonly { atMs: number; value: number }[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const atMs = mean(points.map((point) => point.atMs));
  const value = mean(points.map((point) => point.value));
  const spread = points.reduce((sum, point) => sum + (point.atMs - atMs) ** 2, 0);
  const slope = points.reduce((sum, point) => sum + (point.atMs - atMs) * (point.value - value), 0) / spread;
  return slope * 3_600_000;
}

interface Watched {
  name: string;
  pid: number;
  /** Where its metrics are. */
  metrics?: string;
  /** Where its garbage can be collected. */
  inspectPort?: number;
}

interface InspectPorts {
  worker: number;
  edge: number;
}

function watched({ processes, installation }: Stack, inspect: InspectPorts): Watched[] {
  const probe = (name: string): string => `http://127.0.0.1:${installation.facts.ports[name] ?? 0}/metrics`;
  const [worker] = processes['session-worker'];
  const all = [
    { name: 'session-worker', pid: worker, inspectPort: inspect.worker },
    { name: 'edge-api', pid: processes['edge-api'], inspectPort: inspect.edge },
    { name: 'webhook-dispatcher', pid: processes['webhook-dispatcher'], metrics: probe('webhook-dispatcher') },
    { name: 'control-plane', pid: processes['control-plane'], metrics: probe('control-plane-probes') },
    { name: 'network-simulator', pid: processes['network-simulator'] },
  ];
  return all.flatMap(({ pid, ...rest }) => (pid === undefined ? [] : [{ pid, ...rest }]));
}

async function sampleOf({ pid, metrics, inspectPort }: Watched): Promise<Sample> {
  const atMs = performance.now();
  if (inspectPort !== undefined) return { atMs, ...(await memoryAfterCollection(pid, inspectPort)) };
  return { atMs, rssBytes: await residentBytes(pid), heapBytes: await heapBytes(metrics) };
}

async function heapBytes(metrics: string | undefined): Promise<number | undefined> {
  if (metrics === undefined) return undefined;
  const text = await fetch(metrics).then((response) => response.text());
  const found = /^nodejs_heap_size_used_bytes(?:\{[^}]*\})? (\S+)/m.exec(text);
  return found ? Number(found[1]) : undefined;
}

/** `npm run bench -- soak [--minutes 10] [--numbers 50] [--rate 10]`: `--rate` messages a second each way. */
export async function benchSoak(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      minutes: { type: 'string', default: '10' },
      numbers: { type: 'string', default: '50' },
      rate: { type: 'string', default: '10' },
    },
  });
  const [minutes, count, rate] = [Number(values.minutes), Number(values.numbers), Number(values.rate)];
  const inspect = { worker: await choosePort(), edge: await choosePort() };
  const inspected = (port: number) => ({ NODE_OPTIONS: `--inspect=127.0.0.1:${port}` });
  const env = {
    'edge-api': { ...NO_RATE_LIMITS, ...inspected(inspect.edge) },
    'session-worker': inspected(inspect.worker),
  };
  await onStack({ env }, async (stack) => {
    const world = new World(stack);
    progress(`linking ${count} numbers`);
    const numbers = await world.linkMany(count);
    const other = await world.newPhone();
    const of = (index: number) => numbers[index % count] ?? numbers[0]!;
    const out = traffic(rate, async (index) => {
      const status = await world.send(of(index), other, `soak ${index}`);
      if (status !== 200) throw new Error(`answered ${status}`);
    });
    const into = traffic(rate, (index) => world.sendFromPhone(other, of(index).phone, `soak ${index}`));
    const series = new Map<string, Sample[]>(watched(stack, inspect).map(({ name }) => [name, []]));
    const endsAtMs = performance.now() + minutes * 60_000;
    while (performance.now() < endsAtMs) {
      await delay(Math.min(SAMPLE_EVERY_MS, endsAtMs - performance.now()));
      const line: string[] = [];
      for (const process of watched(stack, inspect)) {
        const { name } = process;
        const sample = await sampleOf(process);
        series.get(name)?.push(sample);
        const heap = sample.heapBytes === undefined ? '' : ` (heap ${(sample.heapBytes / MB).toFixed(0)})`;
        line.push(`${name} ${(sample.rssBytes / MB).toFixed(0)}${heap}`);
      }
      progress(`MB: ${line.join(', ')}; out ${out.figures().count}, in ${into.figures().count}`);
    }
    await Promise.all([out.stop(), into.stop()]);
    report(series);
    const [sent, received] = [out.figures(), into.figures()];
    console.log(
      `${sent.count} sends (${sent.failed} failed), ${received.count} messages of phones (${received.failed} failed).`,
    );
  });
}

/** The first half of the time is the way to the steady state. */
function report(series: ReadonlyMap<string, Sample[]>): void {
  const growth = (samples: readonly Sample[], read: (sample: Sample) => number | undefined): string => {
    const points = samples.flatMap((sample) => {
      const value = read(sample);
      return value === undefined ? [] : [{ atMs: sample.atMs, value: value / MB }];
    });
    return points.length < 3 ? '' : growthPerHour(points).toFixed(1);
  };
  printTable([
    ['process', 'RSS MB', 'heap MB', 'RSS MB an hour', 'heap MB an hour'],
    ...[...series].map(([name, samples]) => {
      const late = samples.slice(Math.floor(samples.length / 2));
      const last = samples.at(-1);
      return [
        name,
        ((last?.rssBytes ?? 0) / MB).toFixed(0),
        last?.heapBytes === undefined ? '' : (last.heapBytes / MB).toFixed(0),
        growth(late, (sample) => sample.rssBytes),
        growth(late, (sample) => sample.heapBytes),
      ];
    }),
  ]);
}
