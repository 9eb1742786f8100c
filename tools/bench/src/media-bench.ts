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
import { startStack, type Stack } from '@dormouse/stack';
import { Pool } from 'undici';
import { download, largeBody, MB, post, printMemoryOf, upload } from './large-files.js';
import { send, sendsPerSecond, transcodingTime, type Sender } from './media-sends.js';
import { World } from './world.js';

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
      uploaded = await upload(sender, bytes);
      await send(sender, 'document', { media: uploaded });
    },
    'GET /media/{MediaID} of it': () => download(sender, uploaded),
  };
  await printMemoryOf(pids, ways);
  large.server.close();
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
