import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startStack } from '@dormouse/stack';
import { Pool } from 'undici';
import { steadily, summarize, type Summary } from './latencies.js';
import { fillChannel, GROUPS, type FilledChannel } from './filled-channel.js';
import { printTable } from './table.js';

const PER_SECOND = 100;
const MEASURED_FOR_S = 30;
/** Prepared statements, caches and connections are made by the first requests. */
const WARMED_FOR_S = 5;

/** The requests, in turn; the usual ones several times. */
function requests({
  chatIds,
  groupIds,
  contactIds,
  messageIds,
}: FilledChannel): Record<string, (turn: number) => string> {
  const pick = (ids: readonly string[], turn: number): string => ids[(turn * 7919) % ids.length] ?? '';
  return {
    'GET /health': () => '/health',
    'GET /settings': () => '/settings',
    'GET /messages/list': (turn) => `/messages/list?count=100&offset=${(turn % 20) * 100}`,
    'GET /messages/list, a day of it': (turn) => `/messages/list?count=100&time_from=${DAY_AGO_S - (turn % 7) * 3_600}`,
    'GET /messages/list/{ChatID}': (turn) => `/messages/list/${pick(chatIds, turn)}?count=100`,
    'GET /messages/list/{ChatID}, a group': (turn) => `/messages/list/${pick(groupIds, turn)}?count=100`,
    'GET /messages/{MessageID}': (turn) => `/messages/${pick(messageIds, turn)}`,
    'GET /statuses/{MessageID}': (turn) => `/statuses/${pick(messageIds, turn)}`,
    'GET /chats': (turn) => `/chats?count=100&offset=${(turn % 20) * 100}`,
    'GET /chats/{ChatID}': (turn) => `/chats/${pick(chatIds, turn)}`,
    'GET /contacts': (turn) => `/contacts?count=100&offset=${(turn % 200) * 100}`,
    'GET /contacts/{ContactID}': (turn) => `/contacts/${pick(contactIds, turn)}`,
    'GET /groups/{GroupID}': (turn) => `/groups/${pick(groupIds, turn)}`,
  };
}

const DAY_AGO_S = Math.floor(Date.now() / 1_000) - 86_400;

/** `--messages`: how many the channel has. */
function readOptions(): { messages: number } {
  const { values } = parseArgs({
    options: { messages: { type: 'string', default: '1000000' } },
    allowPositionals: true,
  });
  return { messages: Number(values.messages) };
}

/** Kernel ticks are hundredths of a second on every Linux that Node runs on. */
const TICK_MS = 10;

/** What processes have used so far. */
async function cpuMs(pids: readonly number[]): Promise<number> {
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8')));
  return stats.reduce((sum, stat) => {
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }, 0);
}

/** Stored reads at 100 requests a second of one channel that has a million messages. */
export async function benchReads(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-bench-'));
  console.error('Starting the stack ...');
  const stack = await startStack({
    dataDir,
    network: 'simulator',
    logs: 'silent',
    env: { 'edge-api': { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' } },
  });
  try {
    const { messages } = readOptions();
    console.error(`Writing ${messages} messages ...`);
    const channel = await fillChannel(stack, messages);
    const pool = new Pool(stack.urls.edge.sg, { connections: 64 });
    const byEndpoint = requests(channel);
    console.error(`${PER_SECOND} requests a second ...`);
    await inTurn(pool, channel.token, byEndpoint, WARMED_FOR_S);
    const edge = [stack.processes['edge-api'] ?? []].flat();
    const before = await cpuMs(edge);
    const measured = await inTurn(pool, channel.token, byEndpoint, MEASURED_FOR_S);
    const perRequest = ((await cpuMs(edge)) - before) / (MEASURED_FOR_S * PER_SECOND);
    const groups = await wholeGroupList(pool, channel.token);
    await pool.close();
    report(measured, groups);
    console.log(
      `CPU of the edge: ${perRequest.toFixed(2)} ms a request; load of the machine: ${loadavg()[0]?.toFixed(1)}`,
    );
  } finally {
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Requests of all endpoints in turn. @returns milliseconds from when each was due, by endpoint */
async function inTurn(
  pool: Pool,
  token: string,
  byEndpoint: Record<string, (turn: number) => string>,
  seconds: number,
): Promise<Map<string, number[]>> {
  const endpoints = Object.entries(byEndpoint);
  const latencies = new Map(endpoints.map(([name]): [string, number[]] => [name, []]));
  const { latenciesMs } = await steadily(
    (index) => {
      const [, path] = endpoints[index % endpoints.length] ?? ['', () => ''];
      return get(pool, token, path(Math.floor(index / endpoints.length)));
    },
    { perSecond: PER_SECOND, seconds },
  );
  latenciesMs.forEach((ms, index) => latencies.get(endpoints[index % endpoints.length]?.[0] ?? '')?.push(ms));
  return latencies;
}

async function wholeGroupList(pool: Pool, token: string): Promise<Summary> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  for (let turn = 0; turn < 50; turn++) {
    const requestedAt = performance.now();
    await get(pool, token, `/groups?count=${GROUPS}`);
    latencies.push(performance.now() - requestedAt);
  }
  return summarize(latencies, performance.now() - startedAt);
}

async function get(pool: Pool, token: string, path: string): Promise<void> {
  const response = await pool.request({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`GET ${path}: ${response.statusCode} ${text.slice(0, 200)}`);
}

function report(measured: ReadonlyMap<string, number[]>, groups: Summary): void {
  const elapsedMs = MEASURED_FOR_S * 1_000;
  const row = (name: string, { count, p50Ms, p95Ms, p99Ms }: Summary): string[] => [
    name,
    String(count),
    ...[p50Ms, p95Ms, p99Ms].map((value) => value.toFixed(1)),
  ];
  const all = [...measured.values()].flat();
  printTable([
    ['endpoint', 'requests', 'p50 ms', 'p95 ms', 'p99 ms'],
    ...[...measured].map(([name, latencies]) => row(name, summarize(latencies, elapsedMs))),
    row(`all, at ${PER_SECOND} a second`, summarize(all, elapsedMs)),
    row(`GET /groups, all ${GROUPS}, one at a time`, groups),
  ]);
}
