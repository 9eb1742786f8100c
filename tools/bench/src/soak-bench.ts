/**
 * Traffic both ways for minutes, with a webhook: does any process grow? All heaps are read after a garbage collection, so that
 * their growth is what is in use.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { choosePort, type Stack } from '@dormouse/stack';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import { memoryAfterCollection } from './process-figures.js';
import { growthOf, MAY_GROW_BYTES, type Sample } from './soak-verdict.js';
import { printTable } from './table.js';
import { traffic } from './traffic.js';
import { Receiver } from './webhook-receiver.js';
import { World } from './world.js';

const SAMPLE_EVERY_MS = 30_000;
const MB = 2 ** 20;

/** Processes of the product, which the goal is of. */
const PRODUCT = ['session-worker', 'edge-api', 'webhook-dispatcher', 'control-plane'] as const;
const WATCHED = [...PRODUCT, 'network-simulator'] as const;
type Watched = (typeof WATCHED)[number];

function processIdOf(name: Watched, { processes }: Stack): number {
  const pid = name === 'session-worker' ? processes['session-worker'][0] : processes[name];
  if (pid === undefined) throw new Error(`the stack has no ${name}`);
  return pid;
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
  const ports = new Map<Watched, number>();
  for (const name of WATCHED) ports.set(name, await choosePort());
  const inspected = (name: Watched) => ({ NODE_OPTIONS: `--inspect=127.0.0.1:${ports.get(name) ?? 0}` });
  const env = {
    ...Object.fromEntries(WATCHED.map((name) => [name, inspected(name)])),
    'edge-api': { ...NO_RATE_LIMITS, ...inspected('edge-api') },
  };
  const receiver = await Receiver.start();
  try {
    await onStack({ env }, async (stack) => {
      const world = new World(stack);
      progress(`linking ${count} numbers`);
      const numbers = await world.linkMany(count, receiver.url);
      const other = await world.newPhone();
      const of = (index: number) => numbers[index % count] ?? numbers[0]!;
      const out = traffic(rate, async (index) => {
        const status = await world.send(of(index), other, `soak ${index}`);
        if (status !== 200) throw new Error(`answered ${status}`);
      });
      const into = traffic(rate, (index) => world.sendFromPhone(other, of(index).phone, `soak ${index}`));
      const traffics = () => `out ${out.figures().count}, in ${into.figures().count}`;
      const samples = await sample(stack, ports, minutes * 60_000, traffics);
      await Promise.all([out.stop(), into.stop()]);
      report(samples);
      const [sent, received] = [out.figures(), into.figures()];
      console.log(
        `${sent.count} sends (${sent.failed} failed), ${received.count} messages of phones (${received.failed} failed).`,
      );
    });
  } finally {
    receiver.close();
  }
}

/** What every process holds, each half minute of this time. */
async function sample(
  stack: Stack,
  ports: ReadonlyMap<Watched, number>,
  forMs: number,
  traffics: () => string,
): Promise<Map<Watched, Sample[]>> {
  const series = new Map<Watched, Sample[]>(WATCHED.map((name) => [name, []]));
  const fromMs = performance.now();
  while (performance.now() - fromMs < forMs) {
    await delay(Math.min(SAMPLE_EVERY_MS, forMs - (performance.now() - fromMs)));
    const line: string[] = [];
    for (const name of WATCHED) {
      const memory = await memoryAfterCollection(processIdOf(name, stack), ports.get(name) ?? 0);
      series.get(name)?.push({ atMs: performance.now() - fromMs, ...memory });
      line.push(`${name} ${inMb(memory.heapBytes)} + ${inMb(memory.bufferBytes)} of ${inMb(memory.rssBytes)}`);
    }
    progress(`MB, heap + buffers of RSS: ${line.join(', ')}; ${traffics()}`);
  }
  return series;
}

/** Sets the exit status: 1 when a process of the product has grown. */
function report(series: ReadonlyMap<Watched, Sample[]>): void {
  const product: readonly string[] = PRODUCT;
  const rows = [...series].map(([name, samples]) => {
    const growth = growthOf(samples);
    if (!growth) return [name];
    const { warm, end, grownBytes } = growth;
    const hasGrown = grownBytes > MAY_GROW_BYTES;
    if (hasGrown && product.includes(name)) process.exitCode = 1;
    return [
      name,
      `${(warm.atMs / 60_000).toFixed(0)}`,
      ...[warm.heapBytes, end.heapBytes, grownBytes, warm.bufferBytes, end.bufferBytes, end.rssBytes].map(inMb),
      product.includes(name) ? (hasGrown ? 'grows' : 'holds') : '',
    ];
  });
  printTable([
    [
      'process',
      'warm at minute',
      'heap warm, MB',
      'at the end',
      'more',
      'buffers warm',
      'at the end',
      'RSS at the end',
      `goal: ${MAY_GROW_BYTES / MB} MB more`,
    ],
    ...rows,
  ]);
}

const inMb = (bytes: number): string => (bytes / MB).toFixed(1);
