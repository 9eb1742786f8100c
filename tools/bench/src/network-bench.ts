/**
 * The simulated network by itself: what an idle linked device costs it, and linking, logging in again and messages, in the
 * simulator's own processor time. The many idle devices are light (`light-client.ts`); messages and one login are measured
 * with the client library itself, because what a message costs depends on all that a real client makes of it.
 */
import { verifySignature } from 'whatsapp-rust-bridge';
import { createRequire } from 'node:module';
import pTimeout from 'p-timeout';
import { linkBareNumber, silenceLibsignal, type BareNumber } from './bare-baileys.js';
import { summarize } from './latencies.js';
import { LightClient } from './light-client.js';
import { SimulatorProcess } from './simulator-process.js';
import { printTable } from './table.js';

const SIZES = [500, 2000];
const AT_ONCE = 10;
const OPAQUE_MESSAGES = 2000;
const MESSAGES = 2000;
const TURNS = 500;
const LIBRARY_LOGINS = 100;
const WARM_UP = 300;
/** The most time that the library's queries after a login take. */
const QUESTIONS_MS = 150;
const ROUNDS = 5;
/** How long nothing happens but that all devices stay connected. */
const IDLE_MS = 10_000;
/** Interval of the library's keep-alive. */
const KEEP_ALIVE_SECONDS = 30;
/** One link, login or message that takes longer than this is lost, and the run with it. */
const EACH_WITHIN_MS = 30_000;
const LOGIN_GOAL = 'at most 5 ms CPU';
const MESSAGE_GOAL = 'at most 1.5 ms CPU';

interface Cost {
  wallMs: number;
  cpuMs: number;
}

/** The columns of one size, by row. */
type Measured = Record<keyof typeof ROWS, string>;

/** What is measured, and what it is held against. */
const ROWS = {
  rss: ['memory of an idle device, RSS', "library's own socket: 270–450 KiB in the client"],
  heap: ['  of it JavaScript heap', "library's own socket: about 220 KiB in the client"],
  collection: ['a collection of the whole heap', ''],
  idle: ['all of them connected, no message: each second', ''],
  keepAlive: ["a device's keep-alive; those of all, each second", ''],
  link: ['link: a new phone scans a code', 'prototype, with the library: 850 ms wall'],
  firstLogin: ['first login: keys, history', ''],
  login: ['login again', `${LOGIN_GOAL}; prototype about 7 ms CPU, 34–42 ms wall`],
  libraryLogin: ['login again, by the library, to the end of its queries', LOGIN_GOAL],
  opaque: ['opaque bytes to one device', ''],
  oneWay: ['1:1 message, library to library, one way', `${MESSAGE_GOAL}; library alone: 200–480 a second`],
  inTurns: ['1:1 message, library to library, in turns', MESSAGE_GOAL],
  fromPhone: ['1:1 message, phone over HTTP to a phone with a device', MESSAGE_GOAL],
} as const;

/**
 * The library checks two certificate signatures at each login in JavaScript, 30 ms that are the client's and not the
 * network's: with WebAssembly, thousands of logins are over in a minute.
 */
function quickSignatures(): void {
  const libsignal = createRequire(createRequire(import.meta.url).resolve('@whiskeysockets/baileys')).resolve(
    'libsignal/src/curve.js',
  );
  const arithmetic = createRequire(libsignal)('curve25519-js') as object;
  const verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
    verifySignature(Buffer.concat([Buffer.from([5]), key]), message, signature);
  Object.assign(arithmetic, { verify });
}

function within<T>(what: string, job: Promise<T>): Promise<T> {
  return pTimeout(job, {
    milliseconds: EACH_WITHIN_MS,
    message: `${what}: not done within ${EACH_WITHIN_MS / 1000} s.`,
  });
}

/**
 * Runs a job for every item, `atOnce` of them at a time; resolves with wall and simulator time per item.
 *
 * In rounds, of which the middle one counts: a collection of the whole heap is caused by all that came before, costs as
 * much as dozens of operations and falls into whichever round it falls (a row of its own). What the network uses while
 * nothing happens is subtracted, a row of its own as well: it is no part of an operation, however long that one waits.
 */
async function timed<T>(
  network: SimulatorProcess,
  what: string,
  items: T[],
  job: (item: T) => Promise<unknown>,
  { atOnce = AT_ONCE, idleShare = 0 } = {},
): Promise<Cost> {
  const started = performance.now();
  const perRound = Math.ceil(items.length / ROUNDS);
  const cpuMs: number[] = [];
  for (let from = 0; from < items.length; from += perRound) {
    const round = items.slice(from, from + perRound);
    const before = await network.usage();
    const roundStarted = performance.now();
    let at = 0;
    const lane = async (): Promise<void> => {
      while (at < round.length) await within(what, job(round[at++] as T));
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
    const idleMs = (performance.now() - roundStarted) * idleShare;
    const after = await network.usage();
    cpuMs.push(Math.max(0, after.cpuMs - before.cpuMs - idleMs) / round.length);
    console.log(`  ${what}: ${from + round.length} of ${items.length}, ${cpuMs.at(-1)?.toFixed(2)} CPU each`);
  }
  const wallMs = (performance.now() - started) / items.length;
  return { wallMs, cpuMs: summarize(cpuMs, wallMs).p50Ms };
}

/** The share of a processor that the network uses while nothing happens. */
async function idleShareOf(network: SimulatorProcess): Promise<number> {
  const before = await network.usage();
  const started = performance.now();
  await new Promise((wake) => setTimeout(wake, IDLE_MS));
  const wallMs = performance.now() - started;
  const after = await network.usage();
  return (after.cpuMs - before.cpuMs) / wallMs;
}

const time = ({ wallMs, cpuMs }: Cost): string => `${wallMs.toFixed(1)} ms, ${cpuMs.toFixed(2)} CPU`;
const rate = (cost: Cost): string => `${time(cost)}, ${Math.round(1000 / cost.wallMs)}/s`;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

async function measure(count: number): Promise<Measured> {
  const network = await SimulatorProcess.start();
  console.log(`${count} devices`);
  try {
    const { idleShare, ...devices } = await measureDevices(network, count);
    return { ...devices, ...(await measureMessages(network, idleShare)) };
  } finally {
    await network.stop();
  }
}

type DeviceRows = 'rss' | 'heap' | 'collection' | 'idle' | 'keepAlive' | 'link' | 'firstLogin' | 'login' | 'opaque';

async function measureDevices(
  network: SimulatorProcess,
  count: number,
): Promise<Pick<Measured, DeviceRows> & { idleShare: number }> {
  const clients = numbers(count).map(() => new LightClient(network.socketUrl));
  const empty = await network.usage(true);
  const link = await timed(network, 'linking', clients, (client) =>
    client.link((qr) => network.call('POST', '/admin/mock-phone/scan-qr', { qr })),
  );
  const firstLogin = await timed(network, 'first login', clients, (client) => client.login());
  const full = await network.usage();
  const idle = await network.usage(true);
  const idleShare = await idleShareOf(network);
  const keepAlive = await timed(network, 'keep-alive', clients, (client) => client.keepAlive());
  for (const client of clients) client.close();
  const login = await timed(network, 'login again', clients, (client) => client.login());
  const [first, second] = clients;
  if (!first || !second) throw new Error('Two devices are needed.');
  const senders = numbers(OPAQUE_MESSAGES).map((index) => clients[index % count] ?? first);
  const opaque = await timed(network, 'opaque bytes', senders, (client) =>
    client.message(second === client ? first.jid : second.jid, Buffer.alloc(200, 7)),
  );
  const perDevice = (bytes: number): string => `${Math.round(bytes / count / 1024)} KiB`;
  return {
    rss: perDevice(idle.rssBytes - empty.rssBytes),
    heap: perDevice(idle.heapBytes - empty.heapBytes),
    collection: `${Math.round(idle.cpuMs - full.cpuMs)} CPU`,
    idle: `${(idleShare * 1000).toFixed(2)} CPU`,
    keepAlive: `${keepAlive.cpuMs.toFixed(2)}; ${((keepAlive.cpuMs * count) / KEEP_ALIVE_SECONDS).toFixed(1)} CPU`,
    link: time(link),
    firstLogin: time(firstLogin),
    login: time(login),
    opaque: rate(opaque),
    idleShare,
  };
}

/** A number of the library's, and how many messages it has received. */
interface Talker {
  number: BareNumber;
  digits: string;
  received: () => number;
}

async function newTalker(network: SimulatorProcess): Promise<Talker> {
  const number = await linkBareNumber(network.socketUrl, (qr) =>
    network.call('POST', '/admin/mock-phone/scan-qr', { qr }),
  );
  const digits = number.socket.authState.creds.me?.id.split(':')[0] ?? '';
  let received = 0;
  number.socket.ev.on('messages.upsert', ({ messages }) => {
    received += messages.filter(({ key, message }) => !key.fromMe && message).length;
  });
  return { number, digits, received: () => received };
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + EACH_WITHIN_MS;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${EACH_WITHIN_MS / 1000} s.`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

type MessageRows = 'libraryLogin' | 'oneWay' | 'inTurns' | 'fromPhone';

/**
 * Each message counts with all it causes: encryption for the other phone and its device and for the sender's own phone, the
 * acknowledgement, and the receipts of both readers. So the clock stops when the last reader has it.
 */
async function measureMessages(network: SimulatorProcess, idleShare: number): Promise<Pick<Measured, MessageRows>> {
  const [alice, bob] = [await newTalker(network), await newTalker(network)];
  const send = (from: Talker, to: Talker) => (index: number) => from.number.sendText(to.digits, `message ${index}`);
  for (const index of numbers(WARM_UP)) {
    await send(alice, bob)(index);
    await send(bob, alice)(index);
  }
  await until('the first messages', () => alice.received() >= WARM_UP && bob.received() >= WARM_UP);
  const counted = async (what: string, count: number, job: (index: number) => Promise<unknown>, atOnce = AT_ONCE) => {
    const received = alice.received() + bob.received();
    const items = numbers(count);
    const last = items.pop();
    // The last one is not over before both have everything.
    return timed(
      network,
      what,
      [...items, last ?? 0],
      async (index) => {
        await job(index);
        if (index === last) await until(what, () => alice.received() + bob.received() >= received + count);
      },
      { atOnce, idleShare },
    );
  };
  const oneWay = await counted('library to library, one way', MESSAGES, send(alice, bob));
  const inTurns = await counted(
    'library to library, in turns',
    TURNS,
    async (index) => {
      const [from, to] = index % 2 === 0 ? [alice, bob] : [bob, alice];
      const received = to.received();
      await send(from, to)(index);
      await until('an answer', () => to.received() > received);
    },
    1,
  );
  const talker = await network.call<{ phone: string }>('POST', '/phones', {});
  const sendFromPhone = (index: number) =>
    network.call('POST', `/phones/${talker.phone}/messages`, { to: bob.digits, text: `message ${index}` });
  const before = bob.received();
  for (const index of numbers(WARM_UP)) await sendFromPhone(index);
  await until('the first messages of the phone', () => bob.received() >= before + WARM_UP);
  const fromPhone = await counted('phone over HTTP', MESSAGES, sendFromPhone);
  alice.number.end();
  const libraryLogin = await costOfLogins(network, bob.number, idleShare);
  return {
    libraryLogin: `${libraryLogin.cpuMs.toFixed(2)} CPU`,
    oneWay: rate(oneWay),
    inTurns: rate(inTurns),
    fromPhone: rate(fromPhone),
  };
}

/** Each login is left alone until its queries are answered: the time between costs the network nothing of its own. */
async function costOfLogins(network: SimulatorProcess, number: BareNumber, idleShare: number): Promise<Cost> {
  let current = number;
  const again = async (): Promise<void> => {
    current.end();
    current = await current.again();
    await new Promise((wake) => setTimeout(wake, QUESTIONS_MS));
  };
  const cost = await timed(network, 'logins by the library', numbers(LIBRARY_LOGINS), again, { atOnce: 1, idleShare });
  current.end();
  return cost;
}

function sizes(): number[] {
  const given = process.argv.slice(3).map(Number);
  if (given.some((size) => !Number.isInteger(size) || size < 2)) {
    throw new Error('Sizes are whole numbers of devices, at least 2: npm run bench -- network 500 2000');
  }
  return given.length > 0 ? given : SIZES;
}

/** Prints a column per size. */
export async function benchNetwork(): Promise<void> {
  silenceLibsignal();
  quickSignatures();
  const columns: [number, Measured][] = [];
  for (const size of sizes()) columns.push([size, await measure(size)]);
  const head = ['', ...columns.map(([size]) => `${size} devices`), 'held against'];
  const rows = (Object.keys(ROWS) as (keyof typeof ROWS)[]).map((row) => {
    const [about, yardstick] = ROWS[row];
    return [about, ...columns.map(([, measured]) => measured[row]), yardstick];
  });
  console.log();
  printTable([head, ...rows]);
  console.log(
    [
      '',
      `Milliseconds of wall and of the simulator's own processor time for each, ${AT_ONCE} at once; in turns and logins by the`,
      'library one by one. What an idle network costs in the same time is subtracted from messages and logins by the library.',
    ].join('\n'),
  );
}
