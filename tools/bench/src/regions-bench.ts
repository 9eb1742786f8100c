/** What it costs to ask the edge of another region than the channel's own, which passes the request on. */
import { Pool } from 'undici';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import { summarizeAll, time, type Timed } from './latencies.js';
import { download, printMemoryOf, upload } from './large-files.js';
import { processorTimes } from './processor-time.js';
import { printTable } from './table.js';
import { World } from './world.js';

/** The two ways take turns, so that a machine that becomes slower or faster does so for both. */
const TURNS = 20;
const REQUESTS_IN_TURN = 25;
const WARM_UP = 150;

type Request = (pool: Pool, index: number) => Promise<void>;

interface Measured {
  series: Timed[];
  /** Processor time of both edges together, in milliseconds. */
  edgesMs: number;
}

type BothWays = Record<'home' | 'other', Measured>;

/** One request after the other at home and by way of the other region, in turns. */
async function inTurns(
  pools: { home: Pool; other: Pool },
  edges: readonly number[],
  request: Request,
): Promise<BothWays> {
  const found: BothWays = { home: { series: [], edgesMs: 0 }, other: { series: [], edgesMs: 0 } };
  const spentMs = async (): Promise<number> => {
    const times = await processorTimes();
    return edges.reduce((sum, pid) => sum + (times.get(pid)?.ms ?? 0), 0);
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const way of ['home', 'other'] as const) {
      const beforeMs = await spentMs();
      const call = (index: number) => request(pools[way], turn * REQUESTS_IN_TURN + index);
      found[way].series.push(await time(call, { total: REQUESTS_IN_TURN, inFlight: 1 }));
      found[way].edgesMs += (await spentMs()) - beforeMs;
    }
  }
  return found;
}

function rowsOf(name: string, { home, other }: BothWays): string[][] {
  const [near, far] = [summarizeAll(home.series), summarizeAll(other.series)];
  const cpu = ({ edgesMs }: Measured) => (edgesMs / (TURNS * REQUESTS_IN_TURN)).toFixed(2);
  return [
    [name, 'at home', near.p50Ms.toFixed(2), near.p95Ms.toFixed(2), cpu(home)],
    ['', 'by way of the other', far.p50Ms.toFixed(2), far.p95Ms.toFixed(2), cpu(other)],
    ['', 'more', (far.p50Ms - near.p50Ms).toFixed(2), (far.p95Ms - near.p95Ms).toFixed(2), ''],
  ];
}

/** Latency of a send and of a read at home and by way of another region; memory of both edges while 100 MB pass. */
export async function benchRegions(): Promise<void> {
  await onStack({ regions: ['sg', 'eu'], env: { 'edge-api': NO_RATE_LIMITS } }, async (stack) => {
    const world = new World(stack);
    const channel = await world.link();
    const to = await world.newPhone();
    const { sg, eu } = stack.urls.edge;
    // Under its own address an edge passes nothing on.
    const pools = {
      home: new Pool(sg, { connections: 1 }),
      other: new Pool(eu.replace('127.0.0.1', 'localhost'), { connections: 1 }),
    };
    const call = async (pool: Pool, method: 'GET' | 'POST', path: string, body?: object): Promise<void> => {
      const headers = { authorization: `Bearer ${channel.token}`, 'content-type': 'application/json' };
      const response = await pool.request({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    };
    const send: Request = (pool, index) => call(pool, 'POST', '/messages/text', { to, body: `text ${index}` });
    const read: Request = (pool) => call(pool, 'GET', '/messages/list?count=20');
    const edges = { home: stack.processes.sg['edge-api'] ?? 0, other: stack.processes.eu['edge-api'] ?? 0 };
    progress('warming up');
    for (let index = 0; index < WARM_UP; index += 1) {
      for (const pool of [pools.home, pools.other]) for (const request of [send, read]) await request(pool, index);
    }
    progress('one request after the other, in turns');
    const pids = [edges.home, edges.other];
    const rows = [
      ...rowsOf('POST /messages/text', await inTurns(pools, pids, send)),
      ...rowsOf('GET /messages/list', await inTurns(pools, pids, read)),
    ];
    console.log(`\n${TURNS * REQUESTS_IN_TURN} requests each way, ms (goal: p50 at most 3 more)`);
    printTable([['request', 'asked', 'p50', 'p95', 'processor time of both edges'], ...rows]);
    const client = { pool: pools.other, channel };
    let id = '';
    const passUp = async (bytes: number) => void (id = await upload(client, bytes));
    const passDown = () => download(client, id);
    // The second time shows what a file costs a process whose garbage has had its room before.
    await printMemoryOf(edges, {
      'upload by way of the other': passUp,
      'download of it': passDown,
      'upload again': passUp,
      'download again': passDown,
    });
    await Promise.all([pools.home.close(), pools.other.close()]);
  });
}
