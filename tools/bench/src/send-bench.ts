import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Stack } from '@dormouse/stack';
import pg from 'pg';
import { Pool } from 'undici';
import { linkBareNumber, silenceLibsignal, type BareNumber } from './bare-baileys.js';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import { summarizeAll, time, type Series, type Summary, type Timed } from './latencies.js';
import { processorMsBetween, processorTimes, type ProcessorTimes } from './processor-time.js';
import { queryRedis } from './stored-bytes.js';
import { printTable } from './table.js';
import { World, type LinkedChannel } from './world.js';

/** How many numbers send, how many sends are under way at once, and how many are sent in all. */
const ROUNDS = [
  { numbers: 1, inFlight: 1, total: 1_000 },
  { numbers: 10, inFlight: 10, total: 1_000 },
  { numbers: 50, inFlight: 50, total: 6_000 },
];
type Round = (typeof ROUNDS)[number];
/** The two take turns, so that a machine that becomes slower or faster does so for both. */
const TURNS = 10;

/**
 * Sends that are not measured, of either side. They open Signal sessions, and let the compilers see the code as often as
 * in processes that have been up for a few minutes: before that, a send takes one and a half times as long.
 */
const WARM_UP = 8_000;
const LINKING_AT_ONCE = 4;
/** PostgreSQL's own counters are published with a delay. */
const COUNTERS_AFTER_MS = 1_500;

async function sendThroughGateway(
  edge: string,
  numbers: readonly LinkedChannel[],
  to: string,
  series: Series,
): Promise<Timed> {
  const pool = new Pool(edge, { connections: series.inFlight });
  const timed = await time(async (index) => {
    const number = numbers[index % numbers.length];
    const response = await pool.request({
      method: 'POST',
      path: '/messages/text',
      headers: { authorization: `Bearer ${number?.token ?? ''}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, body: `text ${index}` }),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
  }, series);
  await pool.close();
  return timed;
}

function sendBare(numbers: readonly BareNumber[], to: string, series: Series): Promise<Timed> {
  return time(async (index) => numbers[index % numbers.length]?.sendText(to, `text ${index}`), series);
}

async function linkBareNumbers(world: World, count: number): Promise<BareNumber[]> {
  const { socketUrl, control } = await world.network();
  const numbers: BareNumber[] = [];
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun++ < count) {
      const phone = await world.newPhone();
      numbers.push(
        await linkBareNumber(socketUrl, (qr) => world.call(`${control}/phones/${phone}/scan`, 'POST', { qr })),
      );
    }
  };
  await Promise.all(Array.from({ length: LINKING_AT_ONCE }, lane));
  return numbers;
}

/** Work of the stores so far, and processor time of every process. */
interface Counted {
  transactions: number;
  commands: number;
  processors: ProcessorTimes;
}

/** Work of the stores, and processor time in milliseconds by name of the process. */
interface Work {
  transactions: number;
  commands: number;
  processorMs: ReadonlyMap<string, number>;
}

async function onDatabase<T>({ databases }: Stack, work: (connection: pg.Client) => Promise<T>): Promise<T> {
  const connection = new pg.Client({ connectionString: databases.sg });
  connection.on('error', () => undefined); // the query that runs fails with it
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

/**
 * What PostgreSQL does by itself once a minute: a region is older than that when its speed matters, and its plans are not
 * those of empty tables any more.
 */
async function gatherStatistics(stack: Stack): Promise<void> {
  await onDatabase(stack, (connection) => connection.query('VACUUM ANALYZE'));
}

async function countedOf(stack: Stack): Promise<Counted> {
  await delay(COUNTERS_AFTER_MS);
  const { rows } = await onDatabase(stack, (connection) =>
    connection.query<{ count: string }>(
      'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
    ),
  );
  const stats = await queryRedis(stack.redis.sg, ['INFO', 'stats']);
  const commands = Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]);
  return { transactions: Number(rows[0]?.count), commands, processors: await processorTimes() };
}

/** The work between the first and the second of each pair, in all. */
function workBetween(pairs: readonly (readonly [Counted, Counted])[]): Work {
  const between = (what: 'transactions' | 'commands') =>
    pairs.reduce((sum, [before, after]) => sum + after[what] - before[what], 0);
  return {
    transactions: between('transactions'),
    commands: between('commands'),
    processorMs: processorMsBetween(pairs.map(([before, after]) => [before.processors, after.processors])),
  };
}

interface Result {
  round: Round;
  bare: Summary;
  gateway: Summary;
  work: Work;
}

const ms = (value: number) => value.toFixed(1);
const ratio = (ours: number, bare: number) => `${(ours / bare).toFixed(2)}x`;

function report(results: readonly Result[]): void {
  printTable([
    ['numbers', 'who', 'sends', 'p50 ms', 'p95 ms', 'p99 ms', 'per second'],
    ...results.flatMap(({ round, bare, gateway }) => [
      ...[['bare Baileys', bare] as const, ['Dormouse', gateway] as const].map(([who, summary]) => [
        String(round.numbers),
        who,
        String(summary.count),
        ms(summary.p50Ms),
        ms(summary.p95Ms),
        ms(summary.p99Ms),
        summary.perSecond.toFixed(0),
      ]),
      [
        '',
        'ratio',
        '',
        ratio(gateway.p50Ms, bare.p50Ms),
        ratio(gateway.p95Ms, bare.p95Ms),
        ratio(gateway.p99Ms, bare.p99Ms),
        ratio(gateway.perSecond, bare.perSecond),
      ],
    ]),
  ]);
  console.log('\nGoals: 3 ms more than bare Baileys over 1 number, at least its rate over 50.');
  for (const { round, gateway, work } of results) {
    const each = (count: number): string => (count / gateway.count).toFixed(1);
    console.log(
      `${round.numbers} numbers: ${each(work.transactions)} PostgreSQL transactions and ${each(work.commands)} Redis ` +
        'commands a send, of all processes, receipts included.',
    );
    const busiest = [...work.processorMs].filter(([, ms]) => ms / gateway.count >= 0.1).sort(([, a], [, b]) => b - a);
    if (busiest.length === 0) continue;
    console.log(`  processor time a send, ms: ${busiest.map(([name, ms]) => `${name} ${each(ms)}`).join(', ')}.`);
  }
}

async function benchRound(
  stack: Stack,
  numbers: { bare: readonly BareNumber[]; gateway: readonly LinkedChannel[] },
  to: string,
  round: Round,
): Promise<Result> {
  const gateway = (series: Series) => sendThroughGateway(stack.urls.edge.sg, numbers.gateway, to, series);
  const warmUp = { ...round, total: WARM_UP };
  await sendBare(numbers.bare, to, warmUp);
  await gateway(warmUp);
  await gatherStatistics(stack);
  const turns: { bare: Timed; gateway: Timed; counted: readonly [Counted, Counted] }[] = [];
  while (turns.length < TURNS) {
    const series = { ...round, total: round.total / TURNS };
    const bare = await sendBare(numbers.bare, to, series);
    const before = await countedOf(stack);
    const sent = await gateway(series);
    turns.push({ bare, gateway: sent, counted: [before, await countedOf(stack)] });
  }
  return {
    round,
    bare: summarizeAll(turns.map((turn) => turn.bare)),
    gateway: summarizeAll(turns.map((turn) => turn.gateway)),
    work: workBetween(turns.map(({ counted }) => counted)),
  };
}

/** `npm run bench -- send [--numbers 1,10,50]` */
export async function benchSend(): Promise<void> {
  const { values } = parseArgs({ args: process.argv.slice(3), options: { numbers: { type: 'string' } } });
  const wanted = values.numbers?.split(',').map(Number);
  await measureSends(ROUNDS.filter(({ numbers }) => wanted === undefined || wanted.includes(numbers)));
}

/**
 * POST /messages/text through the whole of a stack of its own, beside the same sends by bare Baileys (keys in memory) to
 * the same simulator.
 */
export async function measureSends(rounds: readonly Round[] = ROUNDS): Promise<void> {
  const most = Math.max(...rounds.map(({ numbers }) => numbers));
  silenceLibsignal();
  await onStack({ env: { 'edge-api': NO_RATE_LIMITS } }, async (stack) => {
    const world = new World(stack);
    const to = await world.newPhone();
    progress(`linking ${most} numbers each`);
    const gatewayNumbers = await world.linkMany(most);
    const bareNumbers = await linkBareNumbers(world, most);
    const results: Result[] = [];
    for (const round of rounds) {
      progress(`${round.total} sends over ${round.numbers}`);
      const numbers = { bare: bareNumbers.slice(0, round.numbers), gateway: gatewayNumbers.slice(0, round.numbers) };
      results.push(await benchRound(stack, numbers, to, round));
    }
    for (const number of bareNumbers) number.end();
    report(results);
  });
}
