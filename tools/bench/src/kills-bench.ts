/**
 * Kills the session worker with SIGKILL at random moments while phones talk to its channel, again and again, and counts
 * what the webhook received: every text that a phone has sent must arrive, once by message id, in order.
 * Meanwhile the owner archives chats on the phone and sends texts from there to a phone that reads them: every chat must end as
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
/** How long shards of a killed worker have no owner: kills, not waiting, should fill the time here. */
const LEASE = { LEASE_TTL_MS: '5000' };
/** A worker that has received something is killed within this time; one in five is killed before it receives anything. */
const KILL_WITHIN_MS = 1_500;
const RECEIVES_WITHIN_MS = 60_000;
/** Phones wait while this many texts are on the way: kills are measured, not the draining of a queue. */
const MOST_PENDING = 100;
const DELIVERED_WITHIN_MS = 120_000;
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

interface Delivered {
  messageId: string;
  eventId: string;
  text: string;
}

/** A webhook that accepts everything; its calls in their order. */
async function openHook(): Promise<{ url: string; delivered: Delivered[]; close: () => void }> {
  const delivered: Delivered[] = [];
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
        delivered.push({ messageId: message.id, eventId: String(request.headers['webhook-id']), text });
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
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, delivered, close };
}

const distinct = (delivered: readonly Delivered[]): number => new Set(delivered.map(({ text }) => text)).size;

/** What is wrong with what was delivered, given what each phone sent in its order. */
function faults(sent: readonly string[][], delivered: readonly Delivered[]): string[] {
  const first = new Map<string, Delivered>();
  const found: string[] = [];
  for (const each of delivered) {
    const before = first.get(each.text);
    if (!before) first.set(each.text, each);
    else if (before.messageId !== each.messageId || before.eventId !== each.eventId) {
      found.push(`delivered twice under other ids: ${each.text}`);
    }
  }
  for (const texts of sent) {
    const missing = texts.filter((text) => !first.has(text));
    found.push(...missing.map((text) => `never delivered: ${text}`));
    const order = [...first.keys()].filter((text) => texts.includes(text));
    const wanted = texts.filter((text) => first.has(text));
    const at = order.findIndex((text, index) => text !== wanted[index]);
    if (at >= 0) found.push(`out of order: ${order[at]} in the place of ${wanted[at]}`);
  }
  return found;
}

/** What the owner did on the phone. */
interface OwnersActions {
  /** Chats that were archived there. */
  readonly archived: string[];
  /** Texts that were sent there, and read by their receiver. */
  readonly read: string[];
}

async function actAsOwner(
  world: World,
  channel: LinkedChannel,
  actions: OwnersActions,
  isOver: () => boolean,
): Promise<void> {
  const reader = await world.newPhone();
  for (let count = 0; !isOver(); count += 1) {
    const chat = await world.newPhone();
    await world.archive(channel.phone, chat);
    actions.archived.push(`${chat}@s.whatsapp.net`);
    const text = `${OWNERS}${count}`;
    const id = await world.sendFromPhone(channel.phone, reader, text);
    await world.read(reader, channel.phone, [id]);
    actions.read.push(text);
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

/** What of the owner's actions the channel does not show. */
async function ownersFaults(
  world: World,
  edge: string,
  token: string,
  { archived, read }: OwnersActions,
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
    const sent: string[][] = phones.map(() => []);
    let isOver = false;
    const talkers = phones.map(async (phone, index) => {
      for (let count = 0; !isOver; count += 1) {
        const text = `${index}: ${count}`;
        await world.sendFromPhone(phone, channel.phone, text);
        sent[index]?.push(text);
        do await delay(PAUSE_MS);
        while (!isOver && sent.flat().length - distinct(hook.delivered) > MOST_PENDING);
      }
    });
    const actions: OwnersActions = { archived: [], read: [] };
    talkers.push(actAsOwner(world, channel, actions, () => isOver));
    for (let kill = 1; kill <= Number(values.times); kill += 1) {
      const before = hook.delivered.length;
      const receivesFirst = random() < 0.8;
      for (
        let waitedMs = 0;
        receivesFirst && hook.delivered.length === before && waitedMs < RECEIVES_WITHIN_MS;
        waitedMs += 20
      ) {
        await delay(20);
      }
      await delay(random() * KILL_WITHIN_MS);
      await stack.killWorkers('SIGKILL');
      await stack.startWorker();
      if (kill % 10 === 0) console.error(`${kill} kills, ${sent.flat().length} texts, ${hook.delivered.length} calls`);
    }
    isOver = true;
    await Promise.all(talkers);
    const total = sent.flat().length;
    for (let waitedMs = 0; waitedMs < DELIVERED_WITHIN_MS; waitedMs += 200) {
      if (distinct(hook.delivered) >= total) break;
      await delay(200);
    }
    const found = faults(sent, hook.delivered);
    let owners = await ownersFaults(world, stack.urls.edge.sg, channel.token, actions);
    for (let waitedMs = 0; owners.length > 0 && waitedMs < DELIVERED_WITHIN_MS; waitedMs += 1_000) {
      await delay(1_000);
      owners = await ownersFaults(world, stack.urls.edge.sg, channel.token, actions);
    }
    found.push(...owners);
    const repeated = hook.delivered.length - new Set(hook.delivered.map(({ eventId }) => eventId)).size;
    console.log(
      `seed ${values.seed}: ${values.times} kills, ${total} texts, ${actions.archived.length} archived chats, ${actions.read.length} read texts, ${repeated} repeated calls under the same id, ${found.length} faults`,
    );
    for (const fault of found.slice(0, 20)) console.log(`  ${fault}`);
    if (found.length > 0) process.exitCode = 1;
  } finally {
    hook.close();
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
