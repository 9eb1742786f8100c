/** How many scheduled wakes a worker makes in a second when many are due, and what they cost. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@dormouse/stack';
import pg from 'pg';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import type { CapacityInput } from './capacity.js';
import { processorMsEach } from './measured-constants.js';
import { readMetric } from './metrics-page.js';
import { processorMsBetween, processorTimes } from './processor-time.js';
import { printTable } from './table.js';
import { World, type LinkedChannel } from './world.js';

const NUMBERS = 120;
const TURNS = 2;

/** Wakes counted by all workers. */
async function wakesSoFar({ probes }: Stack): Promise<number> {
  const counts = await Promise.all(
    probes['session-worker'].map((origin) => readMetric(origin, 'dormouse_wake_seconds_count').catch(() => 0)),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

type Measured = Pick<CapacityInput['measured'], 'wakeMs'>;

interface Rate extends Measured {
  perSecond: number;
}

/** Their states are read where they are stored: for customers, a number that wakes is still asleep. */
async function untilAllSleep(client: pg.Client, count: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ asleep: string }>(
      "SELECT count(*) AS asleep FROM channels WHERE session_state = 'hibernated'",
    );
    if (Number(rows[0]?.asleep) === count) return;
    await delay(50);
  }
}

/** All numbers are due at once; each was woken when as many wakes were counted. */
async function drainAll(stack: Stack, numbers: readonly LinkedChannel[], client: pg.Client): Promise<Rate> {
  await untilAllSleep(client, numbers.length);
  const before = await wakesSoFar(stack);
  const processors = await processorTimes();
  const beganMs = performance.now();
  await client.query("UPDATE channels SET wake_at = now() WHERE session_state = 'hibernated'");
  while ((await wakesSoFar(stack)) - before < numbers.length) await delay(50);
  const tookMs = performance.now() - beganMs;
  // Falling asleep again is part of what a wake costs.
  await untilAllSleep(client, numbers.length);
  const used = processorMsBetween([[processors, await processorTimes()]]);
  return { perSecond: (numbers.length / tookMs) * 1_000, wakeMs: processorMsEach(used, numbers.length) };
}

/** @returns processor time of a wake by one worker */
export async function measureWakes(): Promise<Measured> {
  let measured: Measured | undefined;
  const worker = { SLEEP_CHECK_EVERY_MS: '500', SLEEP_QUIET_IDLE_AFTER_MS: '1000' };
  await onStack({ env: { 'edge-api': NO_RATE_LIMITS, 'session-worker': worker } }, async (stack) => {
    const world = new World(stack);
    const friend = await world.newPhone();
    progress(`linking ${NUMBERS} numbers`);
    const numbers = await world.linkMany(NUMBERS);
    for (const number of numbers) await world.send(number, friend, 'good night');
    const client = new pg.Client({ connectionString: stack.databases.sg });
    await client.connect();
    const rows = [
      ['workers', 'wakes a second', 'worker, ms each', 'postgres, ms each', "a second of the worker's core"],
    ];
    for (const workers of [1, 2]) {
      if (workers === 2) await stack.startWorker();
      for (let turn = 1; turn <= TURNS; turn += 1) {
        progress(`${NUMBERS} wakes are due, ${workers} worker${workers === 1 ? '' : 's'}, turn ${turn}`);
        const { perSecond, wakeMs } = await drainAll(stack, numbers, client);
        const figures = [perSecond, wakeMs.worker, wakeMs.postgres, 1_000 / wakeMs.worker];
        rows.push([String(workers), ...figures.map((figure) => figure.toFixed(1))]);
        measured ??= { wakeMs };
      }
    }
    await client.end();
    printTable(rows);
    console.log(
      'A wake ends when the number has received what had arrived, and sleeps again. Goal: 15 a second of one core.\n',
    );
  });
  if (!measured) throw new Error('the measurement was interrupted');
  return measured;
}
