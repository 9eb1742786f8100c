/** What is measured at one size of a region. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@dormouse/stack';
import type pg from 'pg';
import { measure, steadily, summarize } from './latencies.js';
import { readMetric } from './metrics-page.js';
import { memoryAfterCollection } from './process-figures.js';
import { untilShared } from './shard-owners.js';
import { untilAsleep } from './until-asleep.js';
import type { Receiver } from './webhook-receiver.js';
import type { LinkedChannel, World } from './world.js';

/** A region that is being filled. */
export interface Region {
  readonly stack: Stack;
  readonly database: pg.Client;
  readonly world: World;
  readonly hook: Receiver;
  /** Linked numbers that are always awake. */
  readonly live: readonly LinkedChannel[];
  /** Linked numbers that fall asleep as soon as they can. */
  readonly sleepers: readonly LinkedChannel[];
  /** Somebody to write to, and who writes. */
  readonly friend: string;
  /** Of the worker's inspector. */
  readonly inspectPort: number;
}

/** Rounds of the search for sessions that fall asleep or wake, in the measurement of one. */
const ROUNDS_FOR_MS = 10_000;
const SENDS = 400;
const WAKES_EACH = 4;
const DELIVERIES = { perSecond: 10, seconds: 8 };

/** Figures by name, in the order of the table; milliseconds unless the name has another unit. */
export type Figures = Map<string, number>;

export async function measureRegion(region: Region, column: string): Promise<Figures> {
  const { stack, inspectPort, live } = region;
  const [first] = live;
  if (!first) throw new Error('no live number');
  const figures: Figures = new Map();
  const { endedMs, servesMs } = await restart(region, first);
  figures.set('a worker ends', endedMs);
  figures.set('and serves again, from its start', servesMs);
  figures.set('drain of one worker of two, until its live numbers send', await drain(region));
  const sentMs = await sends(region, `live ${column}`);
  figures.set('send of a live number, p50', sentMs.p50Ms);
  figures.set('p95', sentMs.p95Ms);
  figures.set('page of 50 messages, p50', await pages(region));
  figures.set('phone to webhook, p50', await deliveries(region, column));
  figures.set('send of a sleeping number, p50', await wakes(region, column));
  figures.set('round of falling asleep and waking', await round(region));
  const [pid] = stack.processes['session-worker'];
  if (pid === undefined) throw new Error('no worker runs');
  const { rssBytes, heapBytes } = await memoryAfterCollection(pid, inspectPort);
  figures.set('memory of the worker, MB', rssBytes / 2 ** 20);
  figures.set('of it heap, MB', heapBytes / 2 ** 20);
  return figures;
}

/** Ends the worker cleanly and starts it: how long its end takes, and from its start until a number of it sends. */
async function restart({ stack, world, friend }: Region, number: LinkedChannel) {
  const beganMs = performance.now();
  let downAtMs = 0;
  const restarted = stack.restart('session-worker', {
    whileDown: () => {
      downAtMs = performance.now();
      return Promise.resolve();
    },
  });
  while (downAtMs === 0) await delay(1);
  while ((await world.send(number, friend, 'after the start')) !== 200) await delay(10);
  const servesMs = performance.now() - downAtMs;
  await restarted;
  return { endedMs: downAtMs - beganMs, servesMs };
}

/** A second worker takes its share of the shards and is drained: from the signal until every live number sends again. */
async function drain({ stack, world, live, friend, database }: Region): Promise<number> {
  const second = await stack.startWorker({ NODE_OPTIONS: '' }); // the first one has the port of the inspector
  await untilShared(database, 2);
  await Promise.all(live.map((number) => untilSent(world, number, friend)));
  const beganMs = performance.now();
  const ended = stack.killWorker(second, 'SIGTERM');
  await untilShared(database, 1);
  await Promise.all(live.map((number) => untilSent(world, number, friend)));
  const tookMs = performance.now() - beganMs;
  await ended;
  return tookMs;
}

async function untilSent(world: World, number: LinkedChannel, to: string): Promise<void> {
  while ((await world.send(number, to, 'a worker comes or goes')) !== 200) await delay(10);
}

async function sends({ world, live, friend }: Region, text: string) {
  const send = async (index: number): Promise<void> => {
    const number = live[index % live.length];
    if (!number) return;
    const status = await world.send(number, friend, `${text} ${index}`);
    if (status !== 200) throw new Error(`a send of a live number was answered ${status}`);
  };
  await measure(send, { total: SENDS / 2, inFlight: 1 });
  return measure(send, { total: SENDS, inFlight: 1 });
}

async function pages({ world, stack, live }: Region): Promise<number> {
  const read = async (index: number): Promise<void> => {
    // Each live number has more than that since the sends of the first column.
    await world.call(
      `${stack.urls.edge.sg}/messages/list?count=50`,
      'GET',
      undefined,
      live[index % live.length]?.token,
    );
  };
  await measure(read, { total: SENDS / 4, inFlight: 1 });
  return (await measure(read, { total: SENDS, inFlight: 1 })).p50Ms;
}

/** A phone writes to the live numbers, at a steady pace. */
async function deliveries({ world, live, friend, hook }: Region, column: string): Promise<number> {
  const sentAtMs = new Map<string, number>();
  hook.forget();
  await steadily(async (index) => {
    const text = `to the webhook ${column} ${index}`;
    sentAtMs.set(text, performance.now());
    await world.sendFromPhone(friend, live[index % live.length]?.phone ?? '', text);
  }, DELIVERIES);
  for (const text of sentAtMs.keys()) while (!hook.receivedAtMs.has(text)) await delay(5);
  const latenciesMs = [...sentAtMs].map(([text, atMs]) => (hook.receivedAtMs.get(text) ?? Number.NaN) - atMs);
  return summarize(latenciesMs, 1).p50Ms;
}

async function wakes({ world, database, sleepers, friend }: Region, column: string): Promise<number> {
  const latenciesMs: number[] = [];
  for (let turn = 1; turn <= WAKES_EACH; turn += 1) {
    for (const number of sleepers) {
      await untilAsleep(database, [number]);
      const beganMs = performance.now();
      const status = await world.send(number, friend, `good morning ${column} ${turn}`);
      if (status !== 200) throw new Error(`a send of a sleeping number was answered ${status}`);
      latenciesMs.push(performance.now() - beganMs);
    }
  }
  return summarize(latenciesMs, 1).p50Ms;
}

/** Average of the rounds that the worker ran meanwhile. */
async function round({ stack }: Region): Promise<number> {
  const [probes = ''] = stack.probes['session-worker'];
  const read = async () => ({
    sum: await readMetric(probes, 'dormouse_sleep_round_seconds_sum'),
    count: await readMetric(probes, 'dormouse_sleep_round_seconds_count'),
  });
  const before = await read();
  await delay(ROUNDS_FOR_MS);
  const after = await read();
  return ((after.sum - before.sum) / (after.count - before.count)) * 1_000;
}
