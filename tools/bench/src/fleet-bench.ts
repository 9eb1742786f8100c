/**
 * What many numbers cost: memory of live ones beside bare Baileys, bytes of sleeping ones, how soon a sleeping one
 * answers, how soon a worker with many is back.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { choosePort, type Stack } from '@dormouse/stack';
import pTimeout from 'p-timeout';
import pg from 'pg';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import { measure, summarize } from './latencies.js';
import { memoryAfterCollection, type Memory } from './process-figures.js';
import { measureSends } from './send-bench.js';
import { storedBytes } from './stored-bytes.js';
import { printTable } from './table.js';
import { untilAsleep } from './until-asleep.js';
import { World, type LinkedChannel } from './world.js';

/**
 * `memory` has a stack of its own: it begins with an empty worker, and its numbers are more and never asleep. So has
 * `send`, which is the benchmark of that name.
 */
const PARTS = ['restart', 'kill', 'asleep', 'wake', 'memory', 'send'] as const;
type Part = (typeof PARTS)[number];

const FLEET = 200;
const SLEEPERS = 20;
const WAKES_EACH = 5;
/** After it a process has done what it does once for every number. */
const SETTLE_MS = 10_000;
const WITHIN_MS = 120_000;

const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(2);
const kilobytes = (bytes: number): string => (bytes / 1024).toFixed(1);
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

interface Fleet {
  stack: Stack;
  database: pg.Client;
  dataDir: string;
  world: World;
  inspectPort: number;
  numbers: LinkedChannel[];
  /** Somebody to write to. */
  to: string;
}

async function grow(fleet: Fleet, count: number): Promise<void> {
  const missing = count - fleet.numbers.length;
  if (missing <= 0) return;
  progress(`linking ${missing} numbers`);
  fleet.numbers.push(...(await fleet.world.linkMany(missing)));
}

const workerPid = ({ stack }: Fleet): number => {
  const [pid] = stack.processes['session-worker'];
  if (pid === undefined) throw new Error('no session worker runs');
  return pid;
};

function within<T>(work: Promise<T>, what: string): Promise<T> {
  return pTimeout(work, { milliseconds: WITHIN_MS, message: `${what} took longer than ${WITHIN_MS / 1_000} s` });
}

/** Ends the worker cleanly and starts it again. @returns from its end until all numbers are logged in again */
async function restart({ stack, world, numbers }: Fleet): Promise<number> {
  let downAtMs = 0;
  await stack.restart('session-worker', {
    whileDown: () => {
      downAtMs = performance.now();
      return Promise.resolve();
    },
  });
  await within(world.untilOnline(numbers.length), 'opening all numbers');
  return performance.now() - downAtMs;
}

async function bareMemory({ world, dataDir }: Fleet, count: number): Promise<Memory> {
  const { socketUrl, control } = await world.network();
  const folder = join(dataDir, 'bare');
  await mkdir(folder, { recursive: true });
  const open = async (numbers: number) => {
    const child = fork(join(import.meta.dirname, 'bare-fleet.js'), [socketUrl, control, folder, String(numbers)], {
      execArgv: ['--expose-gc'],
    });
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`bare Baileys ended with ${String(code)}`);
    });
    failed.catch(() => undefined); // its end after its work is meant
    await Promise.race([once(child, 'message'), failed]);
    return child;
  };
  const memoryOf = async (numbers: number): Promise<Memory> => {
    const child = await open(numbers);
    await delay(SETTLE_MS);
    child.send('memory');
    const [memory] = (await once(child, 'message')) as [Memory];
    child.kill();
    await once(child, 'exit');
    return memory;
  };
  progress(`${count} numbers of bare Baileys`);
  const linking = await open(count);
  linking.kill();
  await once(linking, 'exit');
  const empty = await memoryOf(0);
  const full = await memoryOf(count);
  return { rssBytes: full.rssBytes - empty.rssBytes, heapBytes: full.heapBytes - empty.heapBytes };
}

async function memory(fleet: Fleet, sizes: readonly number[]): Promise<void> {
  await delay(SETTLE_MS);
  const empty = await memoryAfterCollection(workerPid(fleet), fleet.inspectPort);
  const rows = [['live numbers', 'who', 'RSS MB each', 'heap MB each', 'process before, MB']];
  const row = (count: number, who: string, { rssBytes, heapBytes }: Memory, before = ''): string[] => [
    String(count),
    who,
    megabytes(rssBytes / count),
    megabytes(heapBytes / count),
    before,
  ];
  for (const size of sizes) {
    await grow(fleet, size);
    await restart(fleet);
    progress(`${size} numbers are open in a fresh worker`);
    await delay(SETTLE_MS);
    const full = await memoryAfterCollection(workerPid(fleet), fleet.inspectPort);
    const ours = { rssBytes: full.rssBytes - empty.rssBytes, heapBytes: full.heapBytes - empty.heapBytes };
    rows.push(row(size, 'bare Baileys', await bareMemory(fleet, size)));
    rows.push(row(size, 'Dormouse', ours, megabytes(empty.rssBytes)));
  }
  printTable(rows);
  console.log('Goal: at most 0.2 MB RSS for each of 1,000 live idle numbers.\n');
}

async function restartMany(fleet: Fleet): Promise<void> {
  await grow(fleet, FLEET);
  const tookMs = await restart(fleet);
  console.log(
    `Restart of a worker with ${fleet.numbers.length} numbers: all open after ${seconds(tookMs)} s (goal 5 s)\n`,
  );
}

/** Kills the only worker, starts another at once, and sends from every tenth number until it is answered with 200. */
async function kill(fleet: Fleet): Promise<void> {
  await grow(fleet, FLEET);
  const { stack, world, numbers, to } = fleet;
  progress('killing the worker');
  await stack.killWorkers('SIGKILL');
  const killedAtMs = performance.now();
  const started = stack.startWorker();
  const served = numbers
    .filter((_, index) => index % 10 === 0)
    .map(async (number) => {
      while ((await world.send(number, to, 'after the kill')) !== 200) await delay(100);
      return performance.now() - killedAtMs;
    });
  const tookMs = await within(Promise.all(served), 'serving again');
  await started;
  await within(world.untilOnline(numbers.length), 'opening all numbers');
  const { p50Ms } = summarize(tookMs, 1);
  console.log(
    `SIGKILL of the only worker with ${numbers.length} numbers, another started at once: a send is answered after ` +
      `${seconds(p50Ms)} s (median of ${tookMs.length}), the last after ${seconds(Math.max(...tookMs))} s, ` +
      `all open after ${seconds(performance.now() - killedAtMs)} s (goals 5 and 10 s)\n`,
  );
}

/** Sets how long a number must be idle to sleep. */
async function sleepAfter({ stack, world }: Fleet, { id }: LinkedChannel, idleS: number): Promise<void> {
  await world.call(`${stack.urls.controlPlane}/api/v1/channels/${id}/sleep`, 'POST', { idle_after_s: idleS });
}

async function sleepers(fleet: Fleet): Promise<LinkedChannel[]> {
  await grow(fleet, SLEEPERS);
  const chosen = fleet.numbers.slice(0, SLEEPERS);
  // A first message opens the Signal session and makes the chat: what is measured are numbers that have been used.
  for (const number of chosen) await fleet.world.send(number, fleet.to, 'good night');
  return chosen;
}

async function asleep(fleet: Fleet): Promise<void> {
  const chosen = await sleepers(fleet);
  const ids = chosen.map(({ id }) => id);
  const awake = await storedBytes(fleet.stack, fleet.dataDir, ids);
  for (const number of chosen) await sleepAfter(fleet, number, 1);
  progress(`${chosen.length} numbers fall asleep`);
  await within(untilAsleep(fleet.database, chosen), 'falling asleep');
  const sleeping = await storedBytes(fleet.stack, fleet.dataDir, ids);
  const places = [...new Set([...awake.keys(), ...sleeping.keys()])].sort();
  printTable([
    ['kB for each number', 'awake', 'asleep'],
    ...places.map((place) => [
      place,
      ...[awake, sleeping].map((bytes) => kilobytes((bytes.get(place) ?? 0) / chosen.length)),
    ]),
  ]);
  console.log('Rows as PostgreSQL stores them, without indexes; a number that has sent one message.\n');
}

async function wake(fleet: Fleet): Promise<void> {
  const chosen = await sleepers(fleet);
  for (const number of chosen) await sleepAfter(fleet, number, 1);
  const latenciesMs: number[] = [];
  const startedAtMs = performance.now();
  for (let round = 1; round <= WAKES_EACH; round += 1) {
    await within(untilAsleep(fleet.database, chosen), 'falling asleep');
    progress(`wakes, round ${round} of ${WAKES_EACH}`);
    for (const [index, number] of chosen.entries()) {
      const { p50Ms } = await measure(
        async () => {
          const status = await fleet.world.send(number, fleet.to, `good morning ${round}`);
          if (status !== 200) throw new Error(`number ${index} answered ${status}`);
        },
        { total: 1, inFlight: 1 },
      );
      latenciesMs.push(p50Ms);
    }
  }
  const { count, p50Ms, p95Ms } = summarize(latenciesMs, performance.now() - startedAtMs);
  console.log(
    `A send of a sleeping number is answered after ${p50Ms.toFixed(0)} ms (median of ${count}), ` +
      `p95 ${p95Ms.toFixed(0)} ms (goals 60 and 120 ms)\n`,
  );
}

/** `npm run bench -- fleet [restart|kill|asleep|wake|memory|send ...] [--sizes 500,1000]` */
export async function benchFleet(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    allowPositionals: true,
    options: { sizes: { type: 'string', default: '500,1000' } },
  });
  const unknown = positionals.find((part) => !PARTS.some((known) => known === part));
  if (unknown !== undefined) throw new Error(`There is no part called ${unknown}: ${PARTS.join(', ')}.`);
  const chosen = PARTS.filter((part) => positionals.length === 0 || positionals.includes(part));
  const sizes = values.sizes.split(',').map(Number);
  const run: Record<Exclude<Part, 'send'>, (fleet: Fleet) => Promise<void>> = {
    memory: (fleet) => memory(fleet, sizes),
    restart: restartMany,
    kill,
    asleep,
    wake,
  };
  const inspectPort = await choosePort();
  const worker = { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectPort}`, SLEEP_CHECK_EVERY_MS: '250' };
  const onFleet = chosen.filter((part) => part !== 'send');
  for (const parts of [onFleet.filter((part) => part !== 'memory'), onFleet.filter((part) => part === 'memory')]) {
    if (parts.length === 0) continue;
    await onStack({ env: { 'edge-api': NO_RATE_LIMITS, 'session-worker': worker } }, async (stack, dataDir) => {
      const world = new World(stack);
      const database = new pg.Client({ connectionString: stack.databases.sg });
      database.on('error', () => undefined); // the query that runs fails with it
      await database.connect();
      const fleet: Fleet = { stack, database, dataDir, world, inspectPort, numbers: [], to: await world.newPhone() };
      for (const part of parts) {
        progress(part);
        await run[part](fleet);
      }
      await database.end();
    });
  }
  if (chosen.includes('send')) await measureSends();
}
