/** What a send costs in processor time as workers and edges are added: a region grows by more of the same. */
import type { Stack } from '@dormouse/stack';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import type { CapacityInput } from './capacity.js';
import { measure, type Series } from './latencies.js';
import { processorMsEach } from './measured-constants.js';
import { processorMsBetween, processorTimes } from './processor-time.js';
import { printTable } from './table.js';
import { Receiver } from './webhook-receiver.js';
import { World, type LinkedChannel } from './world.js';

const NUMBERS = 48;
const WARM_UP = 1_500;
const SENDS = 3_000;
/** Of each worker: a region that grows has more that send, not the same ones spread thinner. */
const IN_FLIGHT = 12;
const RECEIVED: Series = { total: 2_000, inFlight: 16 };
const PODS = [
  { workers: 1, edges: 1 },
  { workers: 2, edges: 1 },
  { workers: 4, edges: 1 },
  { workers: 4, edges: 2 },
] as const;

type Measured = Pick<CapacityInput['measured'], 'sendMs' | 'receiveMs'>;

interface Numbers {
  readonly stack: Stack;
  readonly world: World;
  readonly hook: Receiver;
  readonly numbers: readonly LinkedChannel[];
  readonly friend: string;
  /** Addresses of the edges; sends take them in turns. */
  readonly edges: readonly string[];
}

/** @returns processor time of a send and of a received message over one worker, events and webhooks included */
export async function measurePods(): Promise<Measured> {
  const hook = await Receiver.start();
  let measured: Measured | undefined;
  try {
    await onStack({ env: { 'edge-api': NO_RATE_LIMITS } }, async (stack) => {
      const world = new World(stack);
      const friend = await world.newPhone();
      progress(`linking ${NUMBERS} numbers`);
      const numbers = await world.linkMany(NUMBERS, hook.url);
      measured = await measureEach({ stack, world, hook, numbers, friend, edges: [stack.urls.edge.sg] });
    });
  } finally {
    hook.close();
  }
  if (!measured) throw new Error('the measurement was interrupted');
  return measured;
}

async function measureEach(first: Numbers): Promise<Measured> {
  const { stack, world } = first;
  const parts = ['worker', 'edge', 'dispatcher', 'postgres'];
  const rows = [['workers', 'edges', 'sends a second', 'p50 ms', 'p95 ms', 'all, ms', ...parts, 'all : one of each']];
  let region = first;
  let sendMs: Measured['sendMs'] | undefined;
  let receiveMs: Measured['receiveMs'] | undefined;
  let running = 1;
  for (const { workers, edges } of PODS) {
    for (; running < workers; running += 1) await stack.startWorker();
    while (region.edges.length < edges) {
      const { url } = await stack.startAnother('edge-api', NO_RATE_LIMITS);
      region = { ...region, edges: [...region.edges, url] };
    }
    await world.untilOnline(NUMBERS);
    progress(`${SENDS} sends, workers ${workers}, edges ${edges}`);
    const inFlight = workers * IN_FLIGHT;
    await measure(sender(region), { total: WARM_UP, inFlight });
    const before = await processorTimes();
    const { perSecond, p50Ms, p95Ms } = await measure(sender(region), { total: SENDS, inFlight });
    const each = processorMsEach(processorMsBetween([[before, await processorTimes()]]), SENDS);
    sendMs ??= each;
    rows.push([
      ...[String(workers), String(edges), perSecond.toFixed(0), p50Ms.toFixed(1), p95Ms.toFixed(1)],
      ...[sumOf(each), each.worker, each.edge, each.dispatcher, each.postgres].map((ms) => ms.toFixed(2)),
      (sumOf(each) / sumOf(sendMs)).toFixed(2),
    ]);
    receiveMs ??= await receive(region);
  }
  if (!sendMs || !receiveMs) throw new Error('nothing was measured');
  printTable(rows);
  console.log('Processor time of a send, ms, without the simulated network. Goal: at most 1.1 of that of one of each.');
  const received = Object.entries(receiveMs).map(([part, ms]) => `${part} ${ms.toFixed(2)}`);
  console.log(`Of a message received and delivered to a webhook, one worker: ${received.join(', ')}.\n`);
  return { sendMs, receiveMs };
}

const sumOf = (each: Measured['sendMs']): number => Object.values(each).reduce((sum, ms) => sum + ms, 0);

const sender =
  ({ world, numbers, friend, edges }: Numbers) =>
  async (index: number): Promise<void> => {
    const number = numbers[index % numbers.length];
    if (!number) return;
    const status = await world.send(number, friend, `text ${index}`, edges[index % edges.length]);
    if (status !== 200) throw new Error(`a send was answered ${status}`);
  };

/** Messages of a phone, each awaited at the webhook. */
async function receive({ world, hook, numbers, friend }: Numbers): Promise<Measured['receiveMs']> {
  progress(`${RECEIVED.total} messages are received`);
  const send = async (index: number): Promise<void> => {
    await world.sendFromPhone(friend, numbers[index % numbers.length]?.phone ?? '', `received ${index}`);
  };
  hook.forget();
  const before = await processorTimes();
  await measure(send, RECEIVED);
  await hook.received(RECEIVED.total);
  return processorMsEach(processorMsBetween([[before, await processorTimes()]]), RECEIVED.total);
}
