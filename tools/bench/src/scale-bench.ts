/**
 * How cost grows as a region grows: the same figures at sizes that are ten times more in each column. The rows are as
 * years of use leave them; what is measured are real numbers among them.
 */
import { parseArgs } from 'node:util';
import { choosePort, type Stack } from '@dormouse/stack';
import pg from 'pg';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import type { CapacityInput } from './capacity.js';
import { addBacklog, addMessages, copyChannel } from './region-filling.js';
import { writeMeasured } from './measured-constants.js';
import { measurePods } from './scale-pods.js';
import { measureRegion, type Figures, type Region } from './scale-figures.js';
import { measureWakes } from './scale-wakes.js';
import { printTable } from './table.js';
import { untilAsleep } from './until-asleep.js';
import { Receiver } from './webhook-receiver.js';
import { World } from './world.js';

const PARTS = ['sleepers', 'messages', 'webhooks', 'wakes', 'pods'] as const;
type Part = (typeof PARTS)[number];

const LIVE = 10;
const SLEEPERS = 10;
/** Channels of the stored messages, the measured ones among them. */
const MESSAGE_CHANNELS = 1_000;
/** Events that wait for each webhook whose receiver is away. */
const WAITING_EVENTS = 10;
const CREATED_AT_ONCE = 16;
/** Numbers without a webhook fall asleep at once; those that listen do not within a benchmark. */
const SLEEP_SOON = { SLEEP_CHECK_EVERY_MS: '500', SLEEP_QUIET_IDLE_AFTER_MS: '1000' };

interface Sized {
  readonly sizes: readonly number[];
  readonly unit: string;
  /** Fills the region from one size to the next. */
  readonly fill: (region: Region, from: number, to: number) => Promise<void>;
}

const SIZED: Record<'sleepers' | 'messages' | 'webhooks', Sized> = {
  sleepers: {
    sizes: [1_000, 10_000, 100_000],
    unit: 'sleeping numbers',
    fill: ({ database, sleepers: [template] }, before, upTo) =>
      copyChannel(database, { template: template?.id ?? '', before, upTo }),
  },
  messages: {
    sizes: [100_000, 1_000_000, 10_000_000],
    unit: 'messages',
    fill: async ({ database, live, sleepers: [template] }, before, upTo) => {
      const copies = MESSAGE_CHANNELS - live.length;
      if (before === 0) await copyChannel(database, { template: template?.id ?? '', before: 0, upTo: copies });
      const { rows } = await database.query<{ id: string }>(
        "SELECT id FROM channels WHERE id LIKE 'COPY-%' ORDER BY id",
      );
      const channelIds = [...live.map(({ id }) => id), ...rows.map(({ id }) => id)];
      await addMessages(database, { channelIds, before, upTo });
    },
  },
  webhooks: {
    sizes: [1_000, 10_000],
    unit: 'webhooks with a backlog',
    fill: async (region, before, upTo) => {
      const ids = await createListening(region, upTo - before);
      await addBacklog(region.database, ids, WAITING_EVENTS);
    },
  },
};

/** Channels with a webhook whose receiver is away. @returns their ids */
async function createListening({ stack, world }: Region, count: number): Promise<string[]> {
  const away = `http://127.0.0.1:${await choosePort()}/`;
  const ids: string[] = [];
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun++ < count) {
      const { channel, token } = await world.call<{ channel: { id: string }; token: string }>(
        `${stack.urls.controlPlane}/api/v1/channels`,
        'POST',
        { name: 'listens', region: 'sg' },
      );
      await world.call(`${stack.urls.edge.sg}/settings`, 'PATCH', { webhooks: [{ url: away }] }, token);
      ids.push(channel.id);
      if (ids.length % 1_000 === 0) progress(`${ids.length} webhooks`);
    }
  };
  await Promise.all(Array.from({ length: CREATED_AT_ONCE }, lane));
  return ids;
}

/** Links the numbers that are measured: each has sent and received; those that sleep do. */
async function linkMeasured(
  stack: Stack,
  { database, hook, inspectPort }: Pick<Region, 'database' | 'hook' | 'inspectPort'>,
): Promise<Region> {
  const world = new World(stack);
  const friend = await world.newPhone();
  progress(`linking ${LIVE + SLEEPERS} numbers`);
  const live = await world.linkMany(LIVE, hook.url);
  const sleepers = await world.linkMany(SLEEPERS);
  for (const number of [...live, ...sleepers]) {
    await world.sendFromPhone(friend, number.phone, 'hello');
    await world.untilReceived(number.phone, 'hello');
    await world.send(number, friend, 'hello to you');
  }
  await untilAsleep(database, sleepers);
  return { stack, database, world, hook, live, sleepers, friend, inspectPort };
}

/** The table of one part: a column for each size, and the last beside the first. */
async function measureSizes({ sizes, unit, fill }: Sized): Promise<void> {
  const hook = await Receiver.start();
  const inspectPort = await choosePort();
  const worker = { ...SLEEP_SOON, NODE_OPTIONS: `--inspect=127.0.0.1:${inspectPort}` };
  try {
    await onStack({ env: { 'edge-api': NO_RATE_LIMITS, 'session-worker': worker } }, async (stack) => {
      const database = new pg.Client({ connectionString: stack.databases.sg });
      database.on('error', () => undefined); // the query that runs fails with it
      await database.connect();
      const region = await linkMeasured(stack, { database, hook, inspectPort });
      const columns: Figures[] = [];
      let before = 0;
      for (const size of sizes) {
        progress(`filling the region up to ${size} ${unit}`);
        await fill(region, before, size);
        before = size;
        await database.query('VACUUM ANALYZE');
        await database.query('CHECKPOINT'); // otherwise it writes what was filled in while it is measured
        progress(`measuring at ${size} ${unit}`);
        columns.push(await measureRegion(region, String(size)));
      }
      await database.end();
      printColumns(
        sizes.map((size) => `${size.toLocaleString('en')} ${unit}`),
        columns,
      );
    });
  } finally {
    hook.close();
  }
}

function printColumns(heads: readonly string[], columns: readonly Figures[]): void {
  const names = [...(columns[0]?.keys() ?? [])];
  printTable([
    ['milliseconds, where no other unit is named', ...heads, 'last : first'],
    ...names.map((name) => {
      const values = columns.map((figures) => figures.get(name) ?? Number.NaN);
      const [first = Number.NaN] = values;
      return [name, ...values.map((value) => value.toFixed(1)), ((values.at(-1) ?? Number.NaN) / first).toFixed(2)];
    }),
  ]);
  console.log();
}

/** `npm run bench -- scale [sleepers|messages|webhooks|wakes|pods ...] [--share 0.1] [--write infra/capacity.json]` */
export async function benchScale(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    allowPositionals: true,
    options: { share: { type: 'string', default: '1' }, write: { type: 'string' } },
  });
  const unknown = positionals.find((part) => !PARTS.some((known) => known === part));
  if (unknown !== undefined) throw new Error(`There is no part called ${unknown}: ${PARTS.join(', ')}.`);
  const share = Number(values.share);
  if (!(share > 0 && share <= 1)) throw new Error(`--share ${values.share}: a number above 0, at most 1.`);
  const run = async (part: Part): Promise<Partial<CapacityInput['measured']>> => {
    if (part === 'wakes') return measureWakes();
    if (part === 'pods') return measurePods();
    const sized = SIZED[part];
    await measureSizes({ ...sized, sizes: sized.sizes.map((size) => Math.round(size * share)) });
    return {};
  };
  for (const part of PARTS.filter((known) => positionals.length === 0 || positionals.includes(known))) {
    progress(part);
    const measured = await run(part);
    if (values.write !== undefined) await writeMeasured(values.write, measured);
  }
  console.log(
    'Goals: send and read at the last size at most 1.25 of the first; a worker serves within 10 s of its start.',
  );
}
