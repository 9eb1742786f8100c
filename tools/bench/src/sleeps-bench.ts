/**
 * Puts numbers to sleep and wakes them again, round after round, with traffic on both sides: a send before, a message
 * that arrives while the number sleeps, a send that wakes it. Counts what was lost, doubled, or could not be decrypted
 * at first sight on either side: a ratchet that was damaged mends itself by another request, so every such request counts.
 */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startStack } from '@dormouse/stack';
import { summarize } from './latencies.js';
import { printTable } from './table.js';
import { World, type LinkedChannel } from './world.js';

const QUICK_SLEEP = { SLEEP_CHECK_EVERY_MS: '200', SLEEP_LISTENING_IDLE_AFTER_MS: '1000' };
const NO_LIMITS = { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' };
const ASLEEP_WITHIN_MS = 60_000;
const ARRIVES_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 50;

/** What clients log when a message does not decrypt: as the library, and the simulated phone, write it. */
const UNDECRYPTED = { number: 'failed to decrypt message', phone: 'a message is unreadable' };

interface DeliveredMessage {
  id: string;
  from_me: boolean;
  text?: { body: string };
}

/** A webhook that accepts everything: the ids under which each text was delivered. */
async function openHook(): Promise<{ url: string; delivered: Map<string, Set<string>>; close: () => void }> {
  const delivered = new Map<string, Set<string>>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(200).end();
      const { messages = [] } = JSON.parse(Buffer.concat(chunks).toString()) as { messages?: DeliveredMessage[] };
      for (const { id, from_me: own, text } of messages) {
        if (!own && text) delivered.set(text.body, (delivered.get(text.body) ?? new Set()).add(id));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, delivered, close };
}

async function until(what: string, withinMs: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > deadlineMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(LOOK_EVERY_MS);
  }
}

/** One number and its friend over all rounds. */
class Sleeper {
  /** From the call to its answer, of sends that found the number asleep. */
  readonly wakingMs: number[] = [];
  readonly sent: string[] = [];
  readonly incoming: string[] = [];

  constructor(
    private readonly world: World,
    private readonly edge: string,
    private readonly channel: LinkedChannel,
    readonly friend: string,
  ) {}

  async round(count: number): Promise<void> {
    const { phone, token } = this.channel;
    await this.send(`before ${count}`);
    await until(`${phone} sleeps`, ASLEEP_WITHIN_MS, async () => {
      const { status } = await this.world.call<{ status: { hibernated?: boolean } }>(
        `${this.edge}/health`,
        'GET',
        undefined,
        token,
      );
      return status.hibernated === true;
    });
    const text = `to ${phone}: while it slept ${count}`;
    await this.world.sendFromPhone(this.friend, phone, text);
    this.incoming.push(text);
    const startedMs = performance.now();
    await this.send(`after ${count}`);
    this.wakingMs.push(performance.now() - startedMs);
  }

  private async send(name: string): Promise<void> {
    const { phone, token } = this.channel;
    const text = `from ${phone}: ${name}`;
    await this.world.call(`${this.edge}/messages/text`, 'POST', { to: this.friend, body: text }, token);
    this.sent.push(text);
  }
}

/** `npm run bench -- sleeps [--rounds 100] [--numbers 4]`: ends with status 1 when anything was lost, doubled or unreadable. */
export async function benchSleeps(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { rounds: { type: 'string', default: '100' }, numbers: { type: 'string', default: '4' } },
  });
  const [rounds, numbers] = [Number(values.rounds), Number(values.numbers)];
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-bench-'));
  const env = {
    'session-worker': { ...QUICK_SLEEP, LOG_LEVEL: 'debug' },
    'edge-api': NO_LIMITS,
    'network-simulator': { LOG_LEVEL: 'debug' },
  };
  const stack = await startStack({ dataDir, network: 'simulator', fast: true, logs: 'silent', env });
  const hook = await openHook();
  try {
    const world = new World(stack);
    const channels = await world.linkMany(numbers, hook.url);
    const sleepers = await Promise.all(
      channels.map(async (channel) => new Sleeper(world, stack.urls.edge.sg, channel, await world.newPhone())),
    );
    const startedMs = performance.now();
    await Promise.all(
      sleepers.map(async (sleeper) => {
        for (let count = 1; count <= rounds; count += 1) await sleeper.round(count);
      }),
    );
    const elapsedMs = performance.now() - startedMs;
    const incoming = sleepers.flatMap((sleeper) => sleeper.incoming);
    const isComplete = (): boolean => incoming.every((text) => hook.delivered.has(text));
    await until('everything is delivered', ARRIVES_WITHIN_MS, isComplete).catch(() => undefined);

    let [arrived, doubled] = [0, 0];
    for (const { friend, sent } of sleepers) {
      const messages = await world.call<{ text?: string }[]>(`${stack.urls.simulator}/phones/${friend}/messages`);
      const times = sent.map((text) => messages.filter((message) => message.text === text).length);
      arrived += times.filter((count) => count > 0).length;
      doubled += times.filter((count) => count > 1).length;
    }
    const sent = sleepers.reduce((sum, sleeper) => sum + sleeper.sent.length, 0);
    const delivered = incoming.filter((text) => hook.delivered.has(text)).length;
    const deliveredTwice = incoming.filter((text) => (hook.delivered.get(text)?.size ?? 0) > 1).length;
    const log = (await readFile(join(dataDir, 'stack.log'), 'utf8')).split('\n');
    const [atNumber, atPhone] = [UNDECRYPTED.number, UNDECRYPTED.phone].map(
      (words) => log.filter((line) => line.includes(words)).length,
    );
    const wakes = summarize(
      sleepers.flatMap(({ wakingMs }) => wakingMs),
      elapsedMs,
    );
    printTable([
      ['', 'messages', 'arrived', 'doubled', 'undecryptable at first'],
      ['from the numbers', String(sent), String(arrived), String(doubled), String(atPhone)],
      ['to the numbers', String(incoming.length), String(delivered), String(deliveredTwice), String(atNumber)],
    ]);
    console.log(
      `${numbers} numbers, ${rounds} rounds each in ${Math.round(elapsedMs / 1_000)} s; ` +
        `a send that wakes: p50 ${Math.round(wakes.p50Ms)} ms, p95 ${Math.round(wakes.p95Ms)} ms`,
    );
    const broken =
      sent - arrived + doubled + (incoming.length - delivered) + deliveredTwice + (atNumber ?? 0) + (atPhone ?? 0);
    if (broken > 0) process.exitCode = 1;
  } finally {
    hook.close();
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
