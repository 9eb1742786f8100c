/** What a send costs in processor time as workers are added: a region grows by more of the same. */
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import { measure, type Series } from './latencies.js';
import { processorMsBetween, processorTimes } from './processor-time.js';
import { printTable } from './table.js';
import { World } from './world.js';

const NUMBERS = 48;
const WARM_UP: Series = { total: 1_500, inFlight: 16 };
const SENDS: Series = { total: 3_000, inFlight: 16 };
const WORKERS = [1, 2, 4];

export async function measurePods(): Promise<void> {
  await onStack({ env: { 'edge-api': NO_RATE_LIMITS } }, async (stack) => {
    const world = new World(stack);
    const friend = await world.newPhone();
    progress(`linking ${NUMBERS} numbers`);
    const numbers = await world.linkMany(NUMBERS);
    const send = async (index: number): Promise<void> => {
      const number = numbers[index % numbers.length];
      if (!number) return;
      const status = await world.send(number, friend, `text ${index}`);
      if (status !== 200) throw new Error(`a send was answered ${status}`);
    };
    const rows = [
      ['workers', 'sends a second', 'p50 ms', 'p95 ms', 'all, ms', 'session-worker', 'edge-api', 'postgres'],
    ];
    let running = 1;
    for (const workers of WORKERS) {
      for (; running < workers; running += 1) await stack.startWorker();
      await world.untilOnline(NUMBERS);
      progress(`${SENDS.total} sends, ${workers} workers`);
      await measure(send, WARM_UP);
      const before = await processorTimes();
      const { perSecond, p50Ms, p95Ms } = await measure(send, SENDS);
      const used = processorMsBetween([[before, await processorTimes()]]);
      const each = (ms: number): string => (ms / SENDS.total).toFixed(2);
      const all = [...used].filter(([name]) => name !== 'network-simulator').reduce((sum, [, ms]) => sum + ms, 0);
      const of = (name: string): string => each(used.get(name) ?? 0);
      rows.push([
        ...[String(workers), perSecond.toFixed(0), p50Ms.toFixed(1), p95Ms.toFixed(1)],
        ...[each(all), of('session-worker'), of('edge-api'), of('postgres')],
      ]);
    }
    printTable(rows);
    console.log('Processor time of a send, without the simulated network. Goal: at most 1.1 of that of one worker.\n');
  });
}
