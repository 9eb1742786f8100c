/**
 * Events, from a phone that sends a text to the webhook that receives it: latency at 20 messages a second, the rate
 * that 200 channels sustain, and how fast a backlog drains in order.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Stack } from '@dormouse/stack';
import pg from 'pg';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import { summarize, type Summary } from './latencies.js';
import { processorMsBetween, processorTimes, type ProcessorTimes } from './processor-time.js';
import { printTable } from './table.js';
import { Receiver } from './webhook-receiver.js';
import { World, type LinkedChannel } from './world.js';

const LATENCY = { perSecond: 20, seconds: 40 };
/** Messages before any is measured: as many as processes have seen that have been up for a few minutes. */
const WARM_UP = 4_000;
const SUSTAINED_MESSAGES = 4_000;
const SENDING_AT_ONCE = 64;
const BACKLOG = 10_000;
/** Channels of the measurement of latency. */
const FEW_CHANNELS = 10;

/** Sends texts at a steady pace. @returns how long each took to the webhook */
async function latency(
  world: World,
  from: string,
  channels: readonly LinkedChannel[],
  hook: Receiver,
): Promise<Summary> {
  const sentAtMs = new Map<string, number>();
  const startedAtMs = performance.now();
  const total = LATENCY.perSecond * LATENCY.seconds;
  const sends: Promise<string>[] = [];
  for (let index = 0; index < total; index += 1) {
    await delay(Math.max(0, startedAtMs + (index * 1_000) / LATENCY.perSecond - performance.now()));
    const text = `paced ${index}`;
    sentAtMs.set(text, performance.now());
    sends.push(world.sendFromPhone(from, channels[index % channels.length]?.phone ?? '', text));
  }
  await Promise.all(sends);
  await hook.received(total);
  const latenciesMs = [...sentAtMs].map(([text, atMs]) => (hook.receivedAtMs.get(text) ?? Number.NaN) - atMs);
  return summarize(latenciesMs, performance.now() - startedAtMs);
}

/** Sends that many texts as fast as they are received, over all channels. */
async function sustained(
  world: World,
  from: string,
  channels: readonly LinkedChannel[],
  hook: Receiver,
  total = SUSTAINED_MESSAGES,
): Promise<Summary> {
  const sentAtMs = new Map<string, number>();
  const startedAtMs = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < total; index = next++) {
      const text = `rush ${index}`;
      sentAtMs.set(text, performance.now());
      await world.sendFromPhone(from, channels[index % channels.length]?.phone ?? '', text);
      // Sending faster than receiving would measure a queue.
      while (sentAtMs.size - hook.receivedAtMs.size > 2 * SENDING_AT_ONCE) await delay(5);
    }
  };
  await Promise.all(Array.from({ length: SENDING_AT_ONCE }, lane));
  await hook.received(total);
  const latenciesMs = [...sentAtMs].map(([text, atMs]) => (hook.receivedAtMs.get(text) ?? Number.NaN) - atMs);
  return summarize(latenciesMs, performance.now() - startedAtMs);
}

/** Lays a backlog into the outbox and lets it drain. */
async function drain(world: World, databaseUrl: string, channel: LinkedChannel, hook: Receiver): Promise<Summary> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query('BEGIN');
  await database.query(
    `INSERT INTO events (channel_id, seq, id, type, method, payload)
     SELECT $1, s.last_seq + n, gen_random_uuid(), 'messages', 'post',
            jsonb_build_object('messages', jsonb_build_array(jsonb_build_object('id', 'backlog ' || n)))
     FROM event_sequences s, generate_series(1, $2::int) AS n WHERE s.channel_id = $1`,
    [channel.id, BACKLOG],
  );
  await database.query('UPDATE event_sequences SET last_seq = last_seq + $2 WHERE channel_id = $1', [
    channel.id,
    BACKLOG,
  ]);
  const startedAtMs = performance.now();
  await database.query('COMMIT');
  await database.end();
  await world.wake(channel);
  await hook.received(BACKLOG + 1); // and the test event that woke it
  const latenciesMs = [...hook.receivedAtMs.values()].map((atMs) => atMs - startedAtMs);
  return summarize(latenciesMs, performance.now() - startedAtMs);
}

/** Processor time of everything so far; this process sends from the phones and receives as the webhook. */
async function allProcessorTimes(): Promise<ProcessorTimes> {
  const { user, system } = process.cpuUsage();
  return new Map([...(await processorTimes()), [process.pid, { name: 'this process', ms: (user + system) / 1_000 }]]);
}

function row(what: string, goal: string, summary: Summary): string[] {
  const { count, p50Ms, p95Ms, perSecond } = summary;
  return [what, String(count), p50Ms.toFixed(0), p95Ms.toFixed(0), perSecond.toFixed(0), goal];
}

type Part = 'latency' | 'backlog' | 'channels';

/** `npm run bench -- events [--channels 200] [latency] [backlog] [channels]` */
export async function benchEvents(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    options: { channels: { type: 'string', default: '200' } },
    allowPositionals: true,
  });
  const has = (part: Part): boolean => positionals.length === 0 || positionals.includes(part);
  await onStack({ env: { 'edge-api': NO_RATE_LIMITS } }, (stack) => measureParts(stack, Number(values.channels), has));
}

async function measureParts(stack: Stack, channelCount: number, has: (part: Part) => boolean): Promise<void> {
  const hook = await Receiver.start();
  try {
    const world = new World(stack);
    const from = await world.newPhone();
    const rows: string[][] = [];
    const used: string[][] = [];
    const measure = async (what: string, goal: string, work: () => Promise<Summary>): Promise<void> => {
      progress(`measuring: ${what}`);
      const before = await allProcessorTimes();
      const summary = await work();
      const processors = processorMsBetween([[before, await allProcessorTimes()]]);
      const busiest = [...processors].sort(([, a], [, b]) => b - a).slice(0, 6);
      used.push([what, ...busiest.map(([name, ms]) => `${name} ${(ms / summary.count).toFixed(2)}`)]);
      rows.push(row(what, goal, summary));
      progress(rows.at(-1)?.join('  ') ?? '');
      hook.forget();
    };
    /** The first message of a pair opens its Signal session; that is not what is measured. */
    const link = async (count: number): Promise<LinkedChannel[]> => {
      const linked = await world.linkMany(count, hook.url);
      for (const { phone } of linked) await world.sendFromPhone(from, phone, `first to ${phone}`);
      await hook.received(linked.length);
      hook.forget();
      return linked;
    };
    const few = await link(FEW_CHANNELS);
    const [first] = few;
    if (!first) throw new Error('no channel');
    progress('warming up');
    await sustained(world, from, few, hook, WARM_UP);
    hook.forget();
    const { perSecond } = LATENCY;
    if (has('latency'))
      await measure(`phone to webhook, ${perSecond}/s`, 'p95 20 ms', () => latency(world, from, few, hook));
    if (has('backlog'))
      await measure('backlog of one webhook', '3,000/s', () => drain(world, stack.databases.sg, first, hook));
    if (has('channels')) {
      const channels = [...few, ...(await link(channelCount - few.length))];
      await measure(`phone to webhook, ${channels.length} channels`, '-', () => sustained(world, from, channels, hook));
    }
    printTable([['what', 'events', 'p50 ms', 'p95 ms', 'per second', 'goal'], ...rows]);
    printTable([['processor ms per event', '1', '2', '3', '4', '5', '6'], ...used]);
  } finally {
    hook.close();
  }
}
