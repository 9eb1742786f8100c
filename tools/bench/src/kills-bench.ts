/**
 * Kills the session worker with SIGKILL at random moments while phones talk to its channel, again and again, and counts
 * what the webhook was told: every text whose sender's phone has it on the way must be told, once by message id, in order.
 * Meanwhile the owner archives chats on the phone and writes from there to somebody who reads it: every chat must end as
 * archived, every such text as read.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startStack } from '@dormouse/stack';
import { World, type LinkedChannel } from './world.js';

const PHONES = 3;
const PAUSE_MS = 25;
/** So long nobody owns what a killed worker owned: kills, not waiting, are what takes the time here. */
const LEASE = { LEASE_TTL_MS: '5000' };
/** A worker that hears is killed within this time; one in five is killed before it hears anything. */
const KILL_WITHIN_MS = 1_500;
const HEARS_WITHIN_MS = 60_000;
/** Phones wait while so many texts have not been told: what is measured are kills, not the draining of a queue. */
const MOST_UNTOLD = 100;
const TOLD_WITHIN_MS = 120_000;
const OWNER_PAUSE_MS = 150;
const PAGE = 500;
/** How the owner's texts begin, which are read, not counted at the webhook. */
const OWNERS = 'owner: ';

/** The same moments for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Told {
  messageId: string;
  eventId: string;
  text: string;
}

/** A webhook that takes everything; calls in the order they came. */
async function openHook(): Promise<{ url: string; told: Told[]; close: () => void }> {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as {
        messages: { id: string; text?: { body: string } }[];
      };
      const [message] = body.messages;
      const text = message?.text?.body;
      if (message && text !== undefined && !text.startsWith(OWNERS)) {
        told.push({ messageId: message.id, eventId: String(request.headers['webhook-id']), text });
      }
      response.writeHead(200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, told, close };
}

const distinct = (told: readonly Told[]): number => new Set(told.map(({ text }) => text)).size;

/** What is wrong with what was told, given what each phone said in its order. */
function faults(said: readonly string[][], told: readonly Told[]): string[] {
  const first = new Map<string, Told>();
  const found: string[] = [];
  for (const each of told) {
    const before = first.get(each.text);
    if (!before) first.set(each.text, each);
    else if (before.messageId !== each.messageId || before.eventId !== each.eventId) {
      found.push(`told twice under other ids: ${each.text}`);
    }
  }
  for (const texts of said) {
    const missing = texts.filter((text) => !first.has(text));
    found.push(...missing.map((text) => `never told: ${text}`));
    const order = [...first.keys()].filter((text) => texts.includes(text));
    const wanted = texts.filter((text) => first.has(text));
    const at = order.findIndex((text, index) => text !== wanted[index]);
    if (at >= 0) found.push(`out of order: ${order[at]} in the place of ${wanted[at]}`);
  }
  return found;
}

/** What the owner did on the phone. */
interface OwnersActs {
  /** Chats that were archived there. */
  readonly archived: string[];
  /** Texts that were written there, and read by who got them. */
  readonly read: string[];
}

async function actAsOwner(
  world: World,
  channel: LinkedChannel,
  acts: OwnersActs,
  isOver: () => boolean,
): Promise<void> {
  const reader = await world.newPhone();
  for (let count = 0; !isOver(); count += 1) {
    const chat = await world.newPhone();
    await world.archive(channel.phone, chat);
    acts.archived.push(`${chat}@s.whatsapp.net`);
    const text = `${OWNERS}${count}`;
    const id = await world.write(channel.phone, reader, text);
    await world.read(reader, channel.phone, [id]);
    acts.read.push(text);
    await delay(OWNER_PAUSE_MS);
  }
}

/** All items of a list of the channel's API. */
async function listed<Item>(world: World, url: string, name: string, token: string): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const page = await world.call<Record<string, Item[]>>(
      `${url}count=${PAGE}&offset=${items.length}`,
      'GET',
      undefined,
      token,
    );
    const found = page[name] ?? [];
    items.push(...found);
    if (found.length < PAGE) return items;
  }
}

/** What of the owner's acts the channel does not show. */
async function ownersFaults(
  world: World,
  edge: string,
  token: string,
  { archived, read }: OwnersActs,
): Promise<string[]> {
  const chats = await listed<{ id: string; archive?: boolean }>(world, `${edge}/chats?`, 'chats', token);
  const messages = await listed<{ status?: string; text?: { body: string } }>(
    world,
    `${edge}/messages/list?from_me=true&`,
    'messages',
    token,
  );
  const shownArchived = new Set(chats.filter(({ archive }) => archive).map(({ id }) => id));
  const shownRead = new Set(messages.filter(({ status }) => status === 'read').map(({ text }) => text?.body));
  return [
    ...archived.filter((id) => !shownArchived.has(id)).map((id) => `not archived: ${id}`),
    ...read.filter((text) => !shownRead.has(text)).map((text) => `not read: ${text}`),
  ];
}

/** `npm run bench -- kills [--times 100] [--seed 1]`: ends with status 1 when something was lost, doubled or disordered. */
export async function benchKills(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { times: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
  });
  const random = seeded(Number(values.seed));
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-bench-'));
  // Not restarted by the stack: this does it, so that there is exactly one worker.
  const stack = await startStack({
    dataDir,
    network: 'simulator',
    fast: true,
    logs: 'silent',
    env: { 'session-worker': LEASE },
  });
  const hook = await openHook();
  try {
    const world = new World(stack);
    const channel = await world.link(hook.url);
    const phones = await Promise.all(Array.from({ length: PHONES }, () => world.newPhone()));
    const said: string[][] = phones.map(() => []);
    let isOver = false;
    const talkers = phones.map(async (phone, index) => {
      for (let count = 0; !isOver; count += 1) {
        const text = `${index}: ${count}`;
        await world.say(phone, channel.phone, text);
        said[index]?.push(text);
        do await delay(PAUSE_MS);
        while (!isOver && said.flat().length - distinct(hook.told) > MOST_UNTOLD);
      }
    });
    const acts: OwnersActs = { archived: [], read: [] };
    talkers.push(actAsOwner(world, channel, acts, () => isOver));
    for (let kill = 1; kill <= Number(values.times); kill += 1) {
      const before = hook.told.length;
      const hearsSoon = random() < 0.8;
      for (let waitedMs = 0; hearsSoon && hook.told.length === before && waitedMs < HEARS_WITHIN_MS; waitedMs += 20) {
        await delay(20);
      }
      await delay(random() * KILL_WITHIN_MS);
      await stack.killWorkers('SIGKILL');
      await stack.startWorker();
      if (kill % 10 === 0) console.error(`${kill} kills, ${said.flat().length} texts, ${hook.told.length} calls`);
    }
    isOver = true;
    await Promise.all(talkers);
    const total = said.flat().length;
    for (let waitedMs = 0; waitedMs < TOLD_WITHIN_MS; waitedMs += 200) {
      if (distinct(hook.told) >= total) break;
      await delay(200);
    }
    const found = faults(said, hook.told);
    let owners = await ownersFaults(world, stack.urls.edge.sg, channel.token, acts);
    for (let waitedMs = 0; owners.length > 0 && waitedMs < TOLD_WITHIN_MS; waitedMs += 1_000) {
      await delay(1_000);
      owners = await ownersFaults(world, stack.urls.edge.sg, channel.token, acts);
    }
    found.push(...owners);
    const repeated = hook.told.length - new Set(hook.told.map(({ eventId }) => eventId)).size;
    console.log(
      `seed ${values.seed}: ${values.times} kills, ${total} texts, ${acts.archived.length} archived chats, ${acts.read.length} read texts, ${repeated} repeated calls under the same id, ${found.length} faults`,
    );
    for (const fault of found.slice(0, 20)) console.log(`  ${fault}`);
    if (found.length > 0) process.exitCode = 1;
  } finally {
    hook.close();
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
