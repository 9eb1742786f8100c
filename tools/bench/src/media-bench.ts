/**
 * Files through the whole stack: how many sends a second of each kind, how long a voice message takes to be transcoded,
 * and what a document of 100 MB costs in memory, in the edge and in the worker.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { startStack, type Stack } from '@dormouse/stack';
import { Pool } from 'undici';
import { measure, type Summary } from './latencies.js';
import { FILM, OPUS, picture, tone } from './media-samples.js';
import { printTable } from './table.js';
import { World, type LinkedChannel } from './world.js';

const MB = 1_000_000;
const MIB = 1024 * 1024;
const LARGE_BYTES = 100 * MB;
const SENDS = { total: 40, inFlight: 4 };
const SAMPLE_EVERY_MS = 5;
const WARM_TURNS = 5;

/** A customer's way to send: one channel, one connection pool. */
interface Sender {
  pool: Pool;
  channel: LinkedChannel;
  to: string;
}

async function send({ pool, channel, to }: Sender, kind: string, body: Record<string, unknown>): Promise<void> {
  const response = await pool.request({
    method: 'POST',
    path: `/messages/${kind}`,
    headers: { authorization: `Bearer ${channel.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to, ...body }),
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`${kind}: ${response.statusCode} ${text}`);
}

const dataUri = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`;

/** Each send has content of its own, so that all of it is done every time. */
const FRESH: Record<string, (turn: number) => string> = {
  image: (turn) => dataUri('image/png', picture(640 + turn, 480)),
  video: () => dataUri('video/mp4', Buffer.concat([FILM, freeBox()])),
  audio: () => dataUri('audio/mp4', Buffer.concat([FILM, freeBox()])),
  voice: (turn) => dataUri('audio/wav', tone(10, 300 + turn)),
  document: () => dataUri('application/octet-stream', randomBytes(100_000)),
  sticker: (turn) => dataUri('image/png', picture(200 + turn, 200)),
};

/** A box of an MP4 that players skip: makes equal films different. */
function freeBox(): Buffer {
  const box = Buffer.alloc(24);
  box.writeUInt32BE(box.length, 0);
  box.write('free', 4);
  randomBytes(16).copy(box, 8);
  return box;
}

async function sendsPerSecond(sender: Sender): Promise<void> {
  const rows: [string, Summary][] = [];
  let turn = 0;
  for (const [kind, media] of Object.entries(FRESH)) {
    console.error(`${SENDS.total} of ${kind} ...`);
    const one = () => send(sender, kind, { media: media((turn += 1)) });
    await one();
    rows.push([`${kind}, new each time`, await measure(one, SENDS)]);
  }
  const known = dataUri('audio/ogg', OPUS);
  const again = () => send(sender, 'voice', { media: known });
  await again();
  rows.push(['voice, Opus, the same again', await measure(again, SENDS)]);
  console.log(`\nSends through POST /messages/<kind>, ${SENDS.inFlight} at once on one number`);
  printTable([
    ['kind', 'sends', 'p50 ms', 'p95 ms', 'per second'],
    ...rows.map(([kind, { count, p50Ms, p95Ms, perSecond }]) => [
      kind,
      String(count),
      p50Ms.toFixed(0),
      p95Ms.toFixed(0),
      perSecond.toFixed(1),
    ]),
  ]);
}

/** The whole send minus the same send of a file that needs no transcoding is what transcoding takes. */
async function transcodingTime(sender: Sender): Promise<void> {
  const timed = async (media: string): Promise<number> => {
    const startedAt = performance.now();
    await send(sender, 'voice', { media });
    return performance.now() - startedAt;
  };
  const rows: string[][] = [];
  for (const seconds of [10, 60, 180]) {
    const tookMs: number[] = [];
    for (let time = 0; time < 3; time += 1) tookMs.push(await timed(dataUri('audio/wav', tone(seconds, 500 + time))));
    rows.push([`${seconds} s`, (tookMs.sort((a, b) => a - b)[1] ?? Number.NaN).toFixed(0)]);
  }
  console.log('\nPOST /messages/voice of a WAV file: transcoded to Opus, waveform computed, acknowledged');
  printTable([['length', 'median ms'], ...rows]);
}

/** Resident bytes of a process. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Highest resident memory of processes while something is done, beside that before it. */
async function memoryOf(
  pids: Record<string, number>,
  work: () => Promise<void>,
): Promise<Record<string, { before: number; peak: number }>> {
  const found: Record<string, { before: number; peak: number }> = {};
  for (const [name, pid] of Object.entries(pids)) {
    const before = await residentBytes(pid);
    found[name] = { before, peak: before };
  }
  let done = false;
  const watch = async () => {
    while (!done) {
      for (const [name, pid] of Object.entries(pids)) {
        const now = await residentBytes(pid);
        const entry = found[name];
        if (entry && now > entry.peak) entry.peak = now;
      }
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_EVERY_MS));
    }
  };
  const watching = watch();
  try {
    await work();
  } finally {
    done = true;
    await watching;
  }
  return found;
}

/** Serves `/<bytes>`: bytes that differ from one request to the next, without holding them. */
async function startLargeFile(): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const bytes = Number(request.url?.slice(1));
    response.writeHead(200, { 'content-length': bytes, 'content-type': 'application/octet-stream' });
    const piece = randomBytes(MB);
    let sent = 0;
    const more = () => {
      while (sent < bytes) {
        sent += MB;
        if (!response.write(piece)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** Many bytes as a raw body or a file part, made while they are sent. */
function* largeBody(bytes: number, before = '', after = ''): Generator<Buffer> {
  yield Buffer.from(before);
  const piece = randomBytes(MB);
  for (let sent = 0; sent < bytes; sent += MB) yield piece;
  yield Buffer.from(after);
}

async function post(sender: Sender, path: string, contentType: string, body: Generator<Buffer>): Promise<string> {
  const response = await sender.pool.request({
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${sender.channel.token}`, 'content-type': contentType },
    body: Readable.from(body),
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`POST ${path}: ${response.statusCode} ${text}`);
  return text;
}

async function download({ pool, channel }: Sender, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${channel.token}` };
  const response = await pool.request({ method: 'GET', path: `/media/${id}`, headers });
  if (response.statusCode !== 200) throw new Error(`GET /media: ${response.statusCode}`);
  await response.body.dump({ limit: LARGE_BYTES * 2 });
}

async function memoryOfLargeDocument(stack: Stack, sender: Sender): Promise<void> {
  const { 'edge-api': edge, 'session-worker': workers } = stack.processes;
  const pids = { edge: edge ?? 0, worker: workers[0] ?? 0 };
  const large = await startLargeFile();
  const form = '--b\r\ncontent-disposition: form-data; name="to"\r\n\r\n' + `${sender.to}\r\n`;
  const filePart = '--b\r\ncontent-disposition: form-data; name="media"; filename="large.bin"\r\n\r\n';
  let uploaded = '';
  const ways: Record<string, (bytes: number) => Promise<unknown>> = {
    'document by URL': (bytes) => send(sender, 'document', { media: `${large.url}/${bytes}` }),
    'document as form': (bytes) =>
      post(
        sender,
        '/messages/document',
        'multipart/form-data; boundary=b',
        largeBody(bytes, form + filePart, '\r\n--b--\r\n'),
      ),
    'upload, raw, then sent by id': async (bytes) => {
      const text = await post(sender, '/media', 'application/octet-stream', largeBody(bytes));
      uploaded = (JSON.parse(text) as { id: string }).id;
      await send(sender, 'document', { media: uploaded });
    },
    'GET /media/{MediaID} of it': () => download(sender, uploaded),
  };
  // What a process needs to do this at all (code, pools) is not what a file costs.
  console.error('Warming up with small files ...');
  for (let turn = 0; turn < WARM_TURNS; turn += 1) for (const way of Object.values(ways)) await way(2 * MB);
  const rows: string[][] = [];
  for (const [name, way] of Object.entries(ways)) {
    console.error(`100 MB: ${name} ...`);
    const found = await memoryOf(pids, async () => void (await way(LARGE_BYTES)));
    for (const [process, { before, peak }] of Object.entries(found)) {
      const mib = (bytes: number) => (bytes / MIB).toFixed(1);
      rows.push([name, process, mib(before), mib(peak), mib(peak - before)]);
    }
  }
  large.server.close();
  console.log('\nResident memory while a document of 100 MB passes, MiB');
  printTable([['way', 'process', 'before', 'peak', 'extra'], ...rows]);
}

/** Files: memory of a large one, sends per second of each kind, transcoding. */
export async function benchMedia(): Promise<void> {
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
    const channel = await world.link('http://127.0.0.1:9/nobody');
    await world.call(`${stack.urls.edge.sg}/settings`, 'PATCH', { webhooks: [] }, channel.token);
    const pool = new Pool(stack.urls.edge.sg, { connections: 16, headersTimeout: 180_000 });
    const sender = { pool, channel, to: await world.newPhone() };
    await send(sender, 'text', { body: 'the first one opens the session' });
    await memoryOfLargeDocument(stack, sender);
    await sendsPerSecond(sender);
    await transcodingTime(sender);
    await pool.close();
  } finally {
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
