import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, type Stack } from '@dormouse/stack';
import { measure, type Summary } from './latencies.js';
import { printTable } from './table.js';
import { World } from './world.js';

/** Members of the groups that are written to, the channel's own number among them; the network allows 1,024. */
const SIZES = [16, 256, 1_024];
const WARM_SENDS = 30;
const PHONES_AT_ONCE = 32;

interface Measured {
  size: number;
  /** The first send: a Signal session with every member begins. */
  coldMs: number;
  warm: Summary;
}

/** POST /messages/text to groups, the first time and when everything is known. */
export async function benchGroups(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-bench-'));
  console.error('Starting the stack ...');
  const stack = await startStack({
    dataDir,
    network: 'simulator',
    logs: 'silent',
    env: { 'edge-api': { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' } },
  });
  try {
    const world = new World(stack);
    const measured: Measured[] = [];
    for (const size of SIZES) measured.push(await benchSize(stack, world, size));
    report(measured);
  } finally {
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function benchSize(stack: Stack, world: World, size: number): Promise<Measured> {
  console.error(`A group of ${size} ...`);
  const channel = await world.link('https://example.invalid/');
  const group = await world.newGroup(channel.phone, await phones(world, size - 1));
  const send = async (body: string): Promise<void> => {
    await world.call(`${stack.urls.edge.sg}/messages/text`, 'POST', { to: group, body }, channel.token);
  };
  await world.untilFound(`${stack.urls.edge.sg}/groups/${group}`, channel.token);
  const startedAt = performance.now();
  await send('first');
  const coldMs = performance.now() - startedAt;
  const warm = await measure((index) => send(`text ${index}`), { inFlight: 1, total: WARM_SENDS });
  return { size, coldMs, warm };
}

async function phones(world: World, count: number): Promise<string[]> {
  const made: string[] = [];
  while (made.length < count) {
    const some = Math.min(PHONES_AT_ONCE, count - made.length);
    made.push(...(await Promise.all(Array.from({ length: some }, () => world.newPhone()))));
  }
  return made;
}

function report(measured: readonly Measured[]): void {
  const ms = (value: number) => value.toFixed(0);
  printTable([
    ['members', 'first send ms', 'sends', 'p50 ms', 'p95 ms', 'p99 ms'],
    ...measured.map(({ size, coldMs, warm }) => [
      String(size),
      ms(coldMs),
      String(warm.count),
      ms(warm.p50Ms),
      ms(warm.p95Ms),
      ms(warm.p99Ms),
    ]),
  ]);
}
