import { EventEmitter, on, once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import type { Readable, Writable } from 'node:stream';
import { mintToken } from '@dormouse/channel-token';
import { fastify } from 'fastify';
import { RunningEdge } from '../test-edge.js';
import { RegionProxy } from './region-proxy.js';

jest.setTimeout(30_000);

const MB = 1_000_000;
const LARGE_BYTES = 100 * MB;
const PIECE = Buffer.alloc(64 * 1024, 'x');
/** What the system's buffers of two connections hold, and some: far below a file. */
const MOST_ON_THE_WAY_BYTES = 40 * MB;
/** Of both ends and the edge between them, which are one process here. */
const MOST_LEFT_BYTES = 40 * MB;

type Exchange = [request: IncomingMessage, response: ServerResponse];

/** Bodies that pass from one region's edge to that of another: `home`, which does what each spec wants. */
describe('a body by way of another region', () => {
  let home: Server;
  let nearest: RunningEdge;

  beforeAll(async () => {
    home = createServer().listen(0, '127.0.0.1');
    await once(home, 'listening');
    nearest = await RunningEdge.start({ REGION_HOSTS: JSON.stringify({ eu: originOf(home) }) });
  });
  afterAll(async () => {
    await nearest.stop();
    home.close();
  });

  /** A request that is on its way, and its two ends at home. */
  const begin = async (method: string): Promise<{ client: ClientRequest; exchange: Exchange }> => {
    const arrived = once(home, 'request') as Promise<Exchange>;
    const headers = { authorization: `Bearer ${mintToken('eu')}`, 'content-type': 'application/octet-stream' };
    const client = httpRequest(`${nearest.url}/media`, { method, headers });
    client.on('error', () => undefined);
    if (method === 'GET') client.end();
    else client.write('first,');
    return { client, exchange: await arrived };
  };

  /** The same, and its body: that of the request, or of the answer to a GET. */
  const beginTransfer = async (method: string): Promise<{ client: ClientRequest; from: Writable; to: Readable }> => {
    const { client, exchange } = await begin(method);
    const [request, response] = exchange;
    if (method !== 'GET') return { client, from: client, to: request };
    const answered = once(client, 'response') as Promise<[IncomingMessage]>;
    response.write('first,');
    const [answer] = await answered;
    return { client, from: response, to: answer };
  };

  it('of unknown length arrives piece by piece, each before the next is sent, and so does the answer', async () => {
    const { client, exchange } = await begin('POST');
    const [request, response] = exchange;
    expect(request.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
    expect(request.headers).not.toHaveProperty('content-length');
    expect(await nextPiece(request)).toBe('first,');
    client.write('second');
    expect(await nextPiece(request)).toBe('second');
    const answered = once(client, 'response') as Promise<[IncomingMessage]>;
    response.write('begun,');
    const [answer] = await answered;
    expect(answer.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
    expect(await nextPiece(answer)).toBe('begun,');
    const ended = once(request, 'end');
    client.end();
    request.resume();
    await ended;
    response.end('done');
    expect(await nextPiece(answer)).toBe('done');
    await once(answer, 'end');
  });

  it.each([
    ['POST', 'an upload'],
    ['GET', 'a download'],
  ])('%s of 100 MB (%s) waits for a slow reader: little of it is between the two', async (method) => {
    const { client, from, to } = await beginTransfer(method);
    const { sentBytes, readBytes, mostBytes } = await transfer(from, to);
    expect(readBytes).toBeGreaterThanOrEqual(LARGE_BYTES);
    expect(readBytes - sentBytes).toBeLessThanOrEqual('first,'.length);
    expect(mostBytes).toBeLessThan(MOST_ON_THE_WAY_BYTES);
    client.destroy();
  });

  it.each([
    ['POST', 'an upload'],
    ['GET', 'a download'],
  ])('%s of 100 MB (%s) leaves little behind that waits to be collected', async (method) => {
    const { client, from, to } = await beginTransfer(method);
    const collections = new RequestedCollections();
    const before = process.memoryUsage().arrayBuffers;
    let most = before;
    to.on('data', () => (most = Math.max(most, process.memoryUsage().arrayBuffers)));
    const ended = once(to, 'end');
    for (let sent = 0; sent < LARGE_BYTES; sent += PIECE.length) if (!from.write(PIECE)) await once(from, 'drain');
    from.end();
    await ended;
    expect(most - before).toBeLessThan(MOST_LEFT_BYTES);
    await collections.end();
    expect(collections.count).toBeGreaterThanOrEqual(10);
    client.destroy();
  });

  it.each([
    ['DELETE', 'content-length'],
    ['GET', 'content-length'],
    ['GET', 'transfer-encoding'],
    ['POST', 'content-length, transfer-encoding'],
  ])('of %s stays one body, though the client lists %s as a header of its connection', async (method, listed) => {
    const hidden = 'GET /hidden HTTP/1.1\r\nhost: home\r\n\r\n';
    const seen: string[] = [];
    const read = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      seen.push(`${request.method} ${request.url}: ${await wholeBody(request)}`);
      response.end('read');
    };
    const onRequest = (...exchange: Exchange): void => void read(...exchange);
    home.on('request', onRequest);
    const framing = listed.includes('transfer')
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': hidden.length };
    const headers = { authorization: `Bearer ${mintToken('eu')}`, connection: listed, ...framing };
    const client = httpRequest(`${nearest.url}/messages/a`, { method, headers, agent: false });
    const answered = once(client, 'response') as Promise<[IncomingMessage]>;
    client.end(hidden);
    const [answer] = await answered;
    expect(await wholeBody(answer)).toBe('read');
    // What would be left on the connection between the two edges is read there before the next request.
    const next = await fetch(`${nearest.url}/next`, { headers: { authorization: headers.authorization } });
    expect(await next.text()).toBe('read');
    home.off('request', onRequest);
    expect(seen).toEqual([`${method} /messages/a: ${hidden}`, 'GET /next: ']);
  });

  it('leaves nothing open at home when it was answered there before it had arrived', async () => {
    const { client, exchange } = await begin('POST');
    const [request, response] = exchange;
    const answered = once(client, 'response') as Promise<[IncomingMessage]>;
    home.keepAliveTimeout = 0; // it is the nearest edge that ends the connection, in the middle of the body
    const closed = new Promise((resolve) => request.socket.once('close', resolve));
    response.writeHead(402).end('not now');
    const [answer] = await answered;
    expect(answer.statusCode).toBe(402);
    client.end();
    expect(await wholeBody(answer)).toBe('not now');
    await closed;
  });

  it('ends at home when its sender goes in the middle', async () => {
    const { client, exchange } = await begin('POST');
    const [request] = exchange;
    await nextPiece(request);
    const gone = once(request, 'error');
    client.destroy();
    expect(await gone).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  it('is no longer sent by the home edge when its reader goes in the middle', async () => {
    const { client, exchange } = await begin('GET');
    const [, response] = exchange;
    const answered = once(client, 'response');
    response.write('begun');
    await answered;
    const gone = once(response, 'close');
    client.destroy();
    await gone;
    expect(response.writableFinished).toBe(false);
  });
});

describe('a home region that does not answer', () => {
  it('is waited for so long, then the answer is 502 and nothing is left under way there', async () => {
    const home = createServer().listen(0, '127.0.0.1');
    await once(home, 'listening');
    // Long enough for the request to arrive at home, also on a busy machine.
    const proxy = new RegionProxy({ here: 'sg', idleMs: 1_000 });
    const nearest = fastify();
    const failed = new EventEmitter();
    nearest.addHook('onRequest', async (request, reply) => {
      await proxy.forward(request, reply, originOf(home)).catch((error: unknown) => failed.emit('failed', error));
      await reply.code(502).send();
    });
    const url = await nearest.listen({ port: 0, host: '127.0.0.1' });
    const [arrived, failure] = [once(home, 'request'), once(failed, 'failed')];
    const answer = fetch(url);
    const [request] = (await arrived) as Exchange;
    const gone = once(request.socket, 'close');
    expect(request.headers).toMatchObject({ 'x-dormouse-answer-within-ms': '1000' });
    expect(await failure).toMatchObject([{ status: 502, retryAfterS: undefined }]);
    expect((await answer).status).toBe(502);
    await gone;
    await nearest.close();
    proxy.close();
    home.close();
  });
});

/** Writes as fast as it is taken and reads slowly, until it is all there. @returns also the most that was on the way */
async function transfer(from: Writable, to: Readable) {
  let [sentBytes, readBytes, mostBytes] = [0, 0, 0];
  const send = (): void => {
    while (sentBytes < LARGE_BYTES) {
      sentBytes += PIECE.length;
      if (!from.write(PIECE)) return void from.once('drain', send);
    }
    from.end();
  };
  send();
  while (readBytes < LARGE_BYTES) {
    const piece = to.read() as Buffer | null;
    readBytes += piece?.length ?? 0;
    mostBytes = Math.max(mostBytes, sentBytes - readBytes);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { sentBytes, readBytes, mostBytes };
}

interface Collection {
  detail?: { kind?: number; flags?: number };
}

/** Counts the collections of young objects that V8 is asked for in this process; those of its own are not counted. */
class RequestedCollections {
  count = 0;
  private readonly observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as Collection[]) {
      const isForced = ((detail?.flags ?? 0) & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
      if (isForced && detail?.kind === constants.NODE_PERFORMANCE_GC_MINOR) this.count += 1;
    }
  });

  constructor() {
    this.observer.observe({ type: 'gc' });
  }

  /** Those of the last moment are reported in the next turn. */
  async end(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.observer.disconnect();
  }
}

async function wholeBody(body: Readable): Promise<string> {
  let text = '';
  for await (const piece of body) text += String(piece);
  return text;
}

/** What comes next of a body, as text. */
async function nextPiece(body: Readable): Promise<string> {
  for await (const _event of on(body, 'readable')) {
    const piece = body.read() as Buffer | null;
    if (piece) return piece.toString();
  }
  throw new Error('the body has ended');
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
