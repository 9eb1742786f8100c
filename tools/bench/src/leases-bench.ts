/**
 * Do workers keep their shards while everything is busy? Two workers under traffic both ways, processes that take all the
 * processors beside them, and pauses of a whole worker as a machine that swaps has them. Every change of owner raises an
 * epoch, so that the sum of the epochs shows each lost lease. In the end one worker is killed: how soon are its numbers
 * served again?
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Stack } from '@dormouse/stack';
import pg from 'pg';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import { summarize } from './latencies.js';
import { ownersIn, untilShared } from './shard-owners.js';
import { traffic } from './traffic.js';
import { World, type LinkedChannel } from './world.js';

const PROGRESS_EVERY_MS = 30_000;
const PAUSE_EVERY_MS = 20_000;
const WORKERS = 2;

/** Takes as many processors as there are, at the priority of everything else. */
function takeProcessors(): () => void {
  const spinning = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  );
  return () => spinning.forEach((child) => child.kill('SIGKILL'));
}

/** Pauses one worker after the other for `forMs`, every `everyMs`, until it is stopped. */
function pauseInTurns({ processes }: Stack, everyMs: number, forMs: number): () => Promise<number> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let pauses = 0;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await delay(everyMs - forMs, undefined, { signal }).catch(() => undefined);
      const workers = processes['session-worker'];
      const pid = workers[pauses % workers.length];
      if (signal.aborted || pid === undefined) return;
      process.kill(pid, 'SIGSTOP');
      await delay(forMs);
      process.kill(pid, 'SIGCONT');
      pauses += 1;
    }
  };
  const running = run();
  return async () => {
    stopping.abort();
    await running;
    return pauses;
  };
}

/** Kills one of the two workers. @returns how long after it each number was served, in milliseconds */
async function killOne(stack: Stack, world: World, numbers: readonly LinkedChannel[], to: string): Promise<number[]> {
  const [pid] = stack.processes['session-worker'];
  if (pid === undefined) throw new Error('no session worker runs');
  const killedAtMs = performance.now();
  await stack.killWorker(pid, 'SIGKILL');
  return Promise.all(
    numbers.map(async (number) => {
      while ((await world.send(number, to, 'after the kill')) !== 200) await delay(100);
      return performance.now() - killedAtMs;
    }),
  );
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

interface Busy {
  readonly stack: Stack;
  readonly world: World;
  readonly database: pg.Client;
  readonly numbers: readonly LinkedChannel[];
  /** Somebody to write to. */
  readonly to: string;
}

/** Traffic, taken processors and pauses for that long. @returns how many leases were lost */
async function keepBusy(
  { stack, world, database, numbers, to }: Busy,
  { minutes, rate, pauseMs }: { minutes: number; rate: number; pauseMs: number },
): Promise<number> {
  const before = await untilShared(database, WORKERS);
  const of = (index: number) => numbers[index % numbers.length] ?? numbers[0]!;
  const release = takeProcessors();
  const out = traffic(rate, async (index) => {
    const status = await world.send(of(index), to, `lease ${index}`);
    if (status !== 200) throw new Error(`answered ${status}`);
  });
  const into = traffic(rate, (index) => world.sendFromPhone(to, of(index).phone, `lease ${index}`));
  const stopPauses = pauseMs > 0 ? pauseInTurns(stack, PAUSE_EVERY_MS, pauseMs) : () => Promise.resolve(0);
  const lostUntilNow = async (): Promise<number> => (await ownersIn(database)).changes - before.changes;
  const endsAtMs = performance.now() + minutes * 60_000;
  while (performance.now() < endsAtMs) {
    await delay(Math.min(PROGRESS_EVERY_MS, endsAtMs - performance.now()));
    progress(`${await lostUntilNow()} lost leases; out ${out.figures().count}, in ${into.figures().count}`);
  }
  const pauses = await stopPauses();
  await Promise.all([out.stop(), into.stop()]);
  release();
  const lost = await lostUntilNow();
  const [sent, received] = [out.figures(), into.figures()];
  console.log(
    `${minutes} minutes, two workers, processors taken, ${pauses} pauses of ${seconds(pauseMs)} s: ${lost} lost leases ` +
      `(goal 0); ${sent.count} sends (${sent.failed} failed), ${received.count} messages of phones (${received.failed} failed).`,
  );
  return lost;
}

/**
 * `npm run bench -- leases [--minutes 20] [--numbers 40] [--rate 20] [--pause 3000]`: ends with status 1 when a lease was
 * lost. `--rate` messages a second each way; `--pause` in milliseconds, one every 20 s, 0: none.
 */
export async function benchLeases(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      minutes: { type: 'string', default: '20' },
      numbers: { type: 'string', default: '40' },
      rate: { type: 'string', default: '20' },
      pause: { type: 'string', default: '3000' },
    },
  });
  const load = { minutes: Number(values.minutes), rate: Number(values.rate), pauseMs: Number(values.pause) };
  await onStack({ workers: WORKERS, env: { 'edge-api': NO_RATE_LIMITS } }, async (stack) => {
    const world = new World(stack);
    const to = await world.newPhone();
    const database = new pg.Client({ connectionString: stack.databases.sg });
    await database.connect();
    const numbers: LinkedChannel[] = [];
    try {
      await untilShared(database, WORKERS); // a shard that moves ends the codes of its channels
      progress(`linking ${values.numbers} numbers`);
      numbers.push(...(await world.linkMany(Number(values.numbers))));
      const lost = await keepBusy({ stack, world, database, numbers, to }, load);
      if (lost > 0) process.exitCode = 1;
    } finally {
      await database.end();
    }
    const overlaps = await world.overlaps();
    const tookMs = await killOne(stack, world, numbers, to);
    const { p50Ms } = summarize(tookMs, 1);
    console.log(
      `SIGKILL of one of the two: each of ${numbers.length} numbers is served after ${seconds(p50Ms)} s (median), the last ` +
        `after ${seconds(Math.max(...tookMs))} s (goal 5 s); two sockets of one number at once: ${(await world.overlaps()) - overlaps}`,
    );
  });
}
