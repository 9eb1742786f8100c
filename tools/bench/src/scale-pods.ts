/** What a send costs in processor time as workers are added: a region grows by more of the same. */
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
const WARM_UP: Series = { total: 1_500, inFlight: 16 };
const SENDS: Series = { total: 3_000, inFlight: 16 };
const RECEIVED: Series = { total: 2_000, inFlight: 16 };
const WORKERS = [1, 2, 4];

type Measured = Pick<CapacityInput['measured'], 'sendMs' | 'receiveMs'>;

interface Numbers {
  readonly stack: Stack;
  readonly world: World;
  readonly hook: Receiver;
  readonly numbers: readonly LinkedChannel[];
  readonly friend: string;
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
      measured = await measureWorkers({ stack, world, hook, numbers: await world.linkMany(NUMBERS, hook.url), friend });
    });
  } finally {
    hook.close();
  }
  if (!measured) throw new Error('the measurement was interrupted');
  return measured;
}

async function measureWorkers(region: Numbers): Promise<Measured> {
  const { stack, world } = region;
  const head = ['workers', 'sends a second', 'p50 ms', 'p95 ms', 'all, ms', 'worker', 'edge', 'dispatcher', 'postgres'];
  const rows = [head];
  let sendMs: Measured['sendMs'] | undefined;
  let receiveMs: Measured['receiveMs'] | undefined;
  let running = 1;
  for (const workers of WORKERS) {
    for (; running < workers; running += 1) await stack.startWorker();
    await world.untilOnline(NUMBERS);
    progress(`${SENDS.total} sends, ${workers} workers`);
    await measure(sender(region), WARM_UP);
    const before = await processorTimes();
    const { perSecond, p50Ms, p95Ms } = await measure(sender(region), SENDS);
    const each = processorMsEach(processorMsBetween([[before, await processorTimes()]]), SENDS.total);
    const all = Object.values(each).reduce((sum, ms) => sum + ms, 0);
    rows.push([
      ...[String(workers), perSecond.toFixed(0), p50Ms.toFixed(1), p95Ms.toFixed(1)],
      ...[all, each.worker, each.edge, each.dispatcher, each.postgres].map((ms) => ms.toFixed(2)),
    ]);
    sendMs ??= each;
    receiveMs ??= await receive(region);
  }
  if (!sendMs || !receiveMs) throw new Error('nothing was measured');
  printTable(rows);
  console.log('Processor time of a send, ms, without the simulated network. Goal: at most 1.1 of that of one worker.');
  const received = Object.entries(receiveMs).map(([part, ms]) => `${part} ${ms.toFixed(2)}`);
  console.log(`Of a message received and delivered to a webhook, one worker: ${received.join(', ')}.\n`);
  return { sendMs, receiveMs };
}

const sender =
  ({ world, numbers, friend }: Numbers) =>
  async (index: number): Promise<void> => {
    const number = numbers[index % numbers.length];
    if (!number) return;
    const status = await world.send(number, friend, `text ${index}`);
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
