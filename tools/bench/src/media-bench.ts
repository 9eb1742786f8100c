/**
 * Messages of every kind through the whole stack: how many sends a second, how long a voice message takes to be
 * transcoded, and what a document of 100 MB costs in memory, in the edge and in the worker.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { startStack, type Stack } from '@dormouse/stack';
import { residentBytes, watchPeak } from '@dormouse/stack/process-memory';
import { Pool } from 'undici';
import { send, sendsPerSecond, transcodingTime, type Sender } from './media-sends.js';
import { printTable } from './table.js';
import { World } from './world.js';

const MB = 1_000_000;
const MIB = 1024 * 1024;
const LARGE_BYTES = 100 * MB;
const SAMPLE_EVERY_MS = 5;
const WARM_TURNS = 5;

/** Resident memory of processes before some work, and its highest value during it. */
async function memoryOf(
  pids: Record<string, number>,
  work: () => Promise<void>,
): Promise<Record<string, { before: number; peak: number }>> {
  let working: Promise<void> | undefined;
  const watched = Object.entries(pids).map(async ([name, pid]) => {
    const figures = await watchPeak(
      () => residentBytes(pid),
      SAMPLE_EVERY_MS,
      () => (working ??= work()),
    );
    return [name, figures] as const;
  });
  return Object.fromEntries(await Promise.all(watched));
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
  // What a process needs to do this at all (code, pools) is no cost of a file.
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

/** Memory of a large file, sends per second of each kind, transcoding. */
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
    const channel = await world.link('http://127.0.0.1:9/unused');
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
