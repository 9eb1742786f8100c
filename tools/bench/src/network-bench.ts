/**
 * The simulated network by itself: what an idle linked device costs it, and linking, logging in again and messages, in the
 * simulator's own processor time. The devices are light, see `light-client.ts`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { LightClient } from './light-client.js';
import { printTable } from './table.js';

const SIMULATOR = join(import.meta.dirname, '..', '..', '..', 'apps', 'network-simulator', 'dist', 'main.js');
const AT_ONCE = 10;
const MESSAGES = 2000;
const PHONE_MESSAGES = 500;

interface Usage {
  rssBytes: number;
  heapBytes: number;
  cpuMs: number;
}

class Network {
  constructor(
    private readonly process: ChildProcess,
    private readonly control: string,
    readonly socketUrl: string,
  ) {}

  static async start(): Promise<Network> {
    const env = { PORT: '0', LOG_LEVEL: 'error' };
    const child = spawn(process.execPath, ['--expose-gc', SIMULATOR], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    process.once('exit', () => child.kill('SIGTERM'));
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { listening } = JSON.parse(line) as { listening: { control: string; socketUrl: string } };
    return new Network(child, listening.control, listening.socketUrl);
  }

  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.control + path, { method, ...(body && { headers, body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Processor time and memory so far; `collect` frees what nobody holds first, which itself costs time. */
  usage(collect = false): Promise<Usage> {
    return this.call('GET', collect ? '/usage?collect=true' : '/usage');
  }

  async stop(): Promise<void> {
    this.process.kill('SIGTERM');
    if (this.process.exitCode === null) await once(this.process, 'exit');
  }
}

/** Runs a job for every item, some at once; resolves with wall and simulator time per item. */
async function timed<T>(
  network: Network,
  items: T[],
  job: (item: T) => Promise<unknown>,
): Promise<{ wallMs: number; cpuMs: number }> {
  const before = await network.usage();
  const started = performance.now();
  const queue = [...items];
  const lane = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await job(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const wallMs = performance.now() - started;
  const after = await network.usage();
  return { wallMs: wallMs / items.length, cpuMs: (after.cpuMs - before.cpuMs) / items.length };
}

async function measure(count: number): Promise<string[]> {
  const network = await Network.start();
  return measureOn(network, count).finally(() => network.stop());
}

async function measureOn(network: Network, count: number): Promise<string[]> {
  const clients = Array.from({ length: count }, () => new LightClient(network.socketUrl));
  const empty = await network.usage(true);
  const linking = await timed(network, clients, async (client) => {
    await client.link((qr) => network.call('POST', '/admin/mock-phone/scan-qr', { qr }));
  });
  const firstLogin = await timed(network, clients, (client) => client.login());
  const idle = await network.usage(true);
  for (const client of clients) client.close();
  const login = await timed(network, clients, (client) => client.login());
  const [first, second] = clients;
  if (!first || !second) throw new Error('Two devices are needed.');
  const routed = await timed(
    network,
    Array.from({ length: MESSAGES }, (_, index) => clients[index % count] ?? first),
    (client) => client.message(second === client ? first.jid : second.jid, Buffer.alloc(200, 7)),
  );
  const talker = await network.call<{ phone: string }>('POST', '/phones', {});
  const digits = second.jid.split(':')[0] ?? '';
  const spoken = await timed(
    network,
    Array.from({ length: PHONE_MESSAGES }, (_, index) => `message ${index}`),
    (text) => network.call('POST', `/phones/${talker.phone}/messages`, { to: digits, text }),
  );
  for (const client of clients) client.close();
  const perDevice = (bytes: number): string => `${Math.round(bytes / count / 1024)} KiB`;
  const time = ({ wallMs, cpuMs }: { wallMs: number; cpuMs: number }): string =>
    `${wallMs.toFixed(1)} / ${cpuMs.toFixed(2)}`;
  return [
    String(count),
    perDevice(idle.rssBytes - empty.rssBytes),
    perDevice(idle.heapBytes - empty.heapBytes),
    time(linking),
    time(firstLogin),
    time(login),
    `${time(routed)} (${Math.round(1000 / routed.wallMs)}/s)`,
    `${time(spoken)} (${Math.round(1000 / spoken.wallMs)}/s)`,
  ];
}

/** Prints a row per size; times are wall / simulator processor milliseconds each, ten at once. */
export async function benchNetwork(): Promise<void> {
  const sizes = process.argv
    .slice(3)
    .map(Number)
    .filter((size) => size > 1);
  const head = ['devices', 'RSS each', 'heap each', 'link', 'first login', 'login', 'message routed', 'phone message'];
  const rows: string[][] = [];
  for (const size of sizes.length > 0 ? sizes : [500, 2000]) rows.push(await measure(size));
  printTable([head, ...rows]);
  console.log(
    '\nwall ms / simulator CPU ms each, ten at once. Goals: login at most 5, a 1:1 message at most 1.5 CPU ms.',
  );
  console.log(
    'A prototype of this network measured about 7 CPU ms for a login, and clients 270 to 450 KiB of RSS each.',
  );
}
