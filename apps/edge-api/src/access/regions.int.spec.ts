import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { mintToken } from '@dormouse/channel-token';
import { readQueueFigures } from '@dormouse/queues';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { startTraces } from '@dormouse/traces';
import { PNG, sendEndlessly, sendFirstReadLater } from '../media/test-requests.js';
import { RunningEdge, type TestChannel } from '../test-edge.js';

jest.setTimeout(30_000);

const hello = { to: '15550001111', body: 'Hello' };

describe('regions', () => {
  it('a region-pinned host answers 401 naming the right one', async () => {
    const pinned = await RunningEdge.start({
      REGION_HOSTS: JSON.stringify({ sg: 'http://sg.example.com', eu: 'eu.example.com' }),
    });
    const headers = { host: 'sg.example.com', authorization: `Bearer ${mintToken('eu')}` };
    const raw = await rawAsk(pinned.url, 'GET /chats', headers);
    expect(raw).toMatchObject({
      status: 401,
      error: { details: 'the token belongs to region eu: use eu.example.com' },
    });
    const usw = await pinned.ask('GET /chats', { token: mintToken('usw') });
    expect(usw.error.details).toBe("the token belongs to region usw: use that region's host");
    await pinned.stop();
  });

  it('the nearest edge passes a request on and its answer back, and does not pass on in rings', async () => {
    const seen: { url?: string; headers: IncomingHttpHeaders; body: string }[] = [];
    const home = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push({ url: request.url, headers: request.headers, body });
        response.writeHead(429, { 'retry-after': '7', 'x-request-id': String(request.headers['x-request-id']) });
        response.end('from home');
      });
    }).listen(0, '127.0.0.1');
    await once(home, 'listening');
    const origin = `http://127.0.0.1:${portOf(home)}`;
    const nearest = await RunningEdge.start({
      REGION_HOSTS: JSON.stringify({ sg: 'sg.example.com', eu: origin, use: await closedPort() }),
    });
    const token = mintToken('eu');
    const headers = {
      'x-forwarded-for': '192.0.2.1',
      'x-dormouse-answer-within-ms': '1',
      'x-request-id': 'of-the-client',
    };
    const answer = await nearest.ask('POST /messages//text?a=%20b', { token, body: hello, headers });
    expect(answer).toMatchObject({ status: 429, text: 'from home' });
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(seen).toMatchObject([
      {
        url: '/messages//text?a=%20b',
        body: JSON.stringify(hello),
        headers: {
          authorization: `Bearer ${token}`,
          'x-dormouse-forwarded-by': 'sg',
          'x-forwarded-for': '127.0.0.1',
          'x-dormouse-answer-within-ms': '150000',
        },
      },
    ]);
    expect(answer.headers.get('x-request-id')).toBe(seen[0]?.headers['x-request-id']);
    const again = await nearest.ask('GET /chats', { token, headers: { 'x-dormouse-forwarded-by': 'use' } });
    expect(again.status).toBe(401);
    const away = await nearest.ask('GET /chats', { token: mintToken('use') });
    expect(away.error).toMatchObject({ code: 503, details: 'the home region of the channel could not be reached' });
    await nearest.stop();
    home.close();
  });
});

describe('the trace of a request of another region', () => {
  const GIVEN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const [, TRACE_ID = ''] = GIVEN.split('-');
  let seen: IncomingHttpHeaders[];
  let home: Server;

  beforeEach(async () => {
    seen = [];
    home = createServer((request, response) => {
      seen.push(request.headers);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(home, 'listening');
  });
  afterEach(() => void home.close());

  const forward = async (): Promise<string | undefined> => {
    const nearest = await RunningEdge.start({
      REGION_HOSTS: JSON.stringify({ eu: `http://127.0.0.1:${portOf(home)}` }),
    });
    await nearest.ask('GET /chats', { token: mintToken('eu'), headers: { traceparent: GIVEN } });
    await nearest.stop();
    return seen[0]?.traceparent as string | undefined;
  };

  it('goes on at home, below the span of this edge', async () => {
    const nowhere = { endpoint: await closedPort(), headers: {}, protocol: 'http/json', sampler: 'always_on' } as const;
    const stop = await startTraces({ ...nowhere, ratio: 1, exportEveryMs: 60_000 }, { name: 'edge-api', version: '0' });
    const sent = await forward();
    await stop();
    expect(sent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
    expect(sent).not.toBe(GIVEN);
  });

  it('is the client\u2019s alone where there are no traces', async () => {
    expect(await forward()).toBe(GIVEN);
  });
});

describe('a client that goes before its answer', () => {
  it('ends its request at home as well', async () => {
    const home = createServer().listen(0, '127.0.0.1');
    await once(home, 'listening');
    const origin = `http://127.0.0.1:${portOf(home)}`;
    const nearest = await RunningEdge.start({ REGION_HOSTS: JSON.stringify({ eu: origin }) });
    const arrived = once(home, 'request');
    const client = clientOf(nearest, mintToken('eu'));
    const [request] = (await arrived) as [IncomingMessage];
    const ended = once(request.socket, 'close');
    request.resume();
    await once(request, 'end');
    client.destroy();
    await ended;
    await nearest.stop();
    home.close();
  });
});

describe('a request that another region passed on', () => {
  let home: RunningEdge;
  let nearest: RunningEdge;
  let redis: Redis;
  let channel: TestChannel;

  beforeAll(async () => {
    redis = openRedis({ url: process.env.TEST_REDIS_URL ?? '', name: 'spec' });
    home = await RunningEdge.start({ RATE_SENDS: '2/60', CORS_ORIGINS: 'https://shop.example' });
    const hosts = JSON.stringify({ sg: home.url });
    nearest = await RunningEdge.start({ REGION: 'eu', REGION_HOSTS: hosts, RATE_SENDS: '1/60', CORS_ORIGINS: '*' });
    await Promise.all([home.ready(), nearest.ready()]);
  });
  beforeEach(async () => {
    channel = await home.channel();
  });
  afterAll(async () => {
    await Promise.all([nearest.stop(), home.stop(), closeRedis(redis)]);
  });
  const waiting = async (count: number): Promise<void> => {
    let found: number | undefined;
    do {
      found = (await readQueueFigures(redis, [channel.shard], Date.now()))[0]?.waiting;
    } while (found !== count);
  };

  it('is counted once, at home, and a page gets the headers of its home, once', async () => {
    home.worker(channel, () => ({ ok: false, error: { status: 404, message: 'not found' } }));
    const headers = { origin: 'https://shop.example' };
    const ask = () => nearest.ask('POST /messages/text', { token: channel.token, body: hello, headers });
    const answers = [await ask(), await ask(), await ask()];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 429]);
    for (const answer of answers) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.example');
      expect(answer.headers.get('vary')).toBe('Origin');
    }
  });

  it('is not carried out by a worker once its caller has gone, or the time of the other edge is over', async () => {
    const client = clientOf(nearest, channel.token);
    await waiting(1);
    client.destroy();
    await waiting(0);
    const passedOn = { 'x-dormouse-forwarded-by': 'eu', 'x-dormouse-answer-within-ms': '10' };
    const late = await home.ask('POST /messages/text', { token: channel.token, body: hello, headers: passedOn });
    expect(late.status).toBe(503);
    await waiting(0);
  });
});

describe('files by way of another region', () => {
  const IMAGE_LIMIT = 64 * 1024;
  let bucket: TestBucket;
  let home: RunningEdge;
  let nearest: RunningEdge;
  let token: string;

  beforeAll(async () => {
    bucket = await createTestBucket();
    home = await RunningEdge.start({
      S3_BUCKET: bucket.bucket,
      S3_ENDPOINT: bucket.endpoint,
      S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
      MEDIA_LIMITS: JSON.stringify({ image: IMAGE_LIMIT }),
    });
    nearest = await RunningEdge.start({ REGION: 'eu', REGION_HOSTS: JSON.stringify({ sg: home.url }) });
    await Promise.all([home.ready(), nearest.ready()]);
    ({ token } = await home.channel());
  });
  afterAll(async () => {
    await Promise.all([home.stop(), nearest.stop()]);
    await bucket.drop();
  });
  const headers = (type: string) => ({ authorization: `Bearer ${token}`, 'content-type': type });

  it('are as large as at home: the nearest edge has no limit of its own', async () => {
    const bytes = randomBytes(12 * 1024 * 1024);
    const kept = await fetch(`${nearest.url}/media`, {
      method: 'POST',
      headers: headers('application/octet-stream'),
      body: bytes,
    });
    expect(kept.status).toBe(200);
    const { id } = (await kept.json()) as { id: string };
    const back = await fetch(`${nearest.url}/media/${id}`, { headers: { authorization: `Bearer ${token}` } });
    expect(Buffer.from(await back.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('are refused by the limit at home, in its words, while they are still coming; no connection is left', async () => {
    const passing = await RunningEdge.start({ REGION: 'eu', REGION_HOSTS: JSON.stringify({ sg: home.url }) });
    const { got } = await sendEndlessly(`${passing.url}/media`, headers('image/png'), PNG);
    expect(got).toMatch(/^413 /);
    expect(got).toContain(`image: larger than ${IMAGE_LIMIT} bytes`);
    await passing.stop(); // ends once every connection has
  });

  it('are refused to a client that reads nothing before it has sent everything, too', async () => {
    const pieces = [PNG, ...Array.from({ length: 512 }, () => Buffer.alloc(16 * 1024))];
    const got = await sendFirstReadLater(`${nearest.url}/media`, headers('image/png'), pieces);
    expect(got).toMatch(/^HTTP\/1.1 413 /);
  });
});

describe('what a caller writes into a request line', () => {
  const INTERNAL = 'INTERNAL-ONLY-DATA';
  const reached: string[] = [];
  let internal: Server;
  let home: RunningEdge;
  let nearest: RunningEdge;

  beforeAll(async () => {
    internal = createServer((request, response) => {
      reached.push(`${request.method} ${request.url}`);
      response.end(INTERNAL);
    });
    internal.listen(0, '127.0.0.1');
    await once(internal, 'listening');
    home = await RunningEdge.start({ REGION: 'eu' });
    nearest = await RunningEdge.start({ REGION_HOSTS: JSON.stringify({ sg: 'sg.example.com', eu: home.url }) });
    await Promise.all([home.ready(), nearest.ready()]);
  });
  afterAll(async () => {
    await Promise.all([home.stop(), nearest.stop()]);
    internal.close();
  });

  it.each([
    ['an absolute URL', 'PUT', (host: string) => `http://${host}/latest/api/token`],
    ['an absolute URL in capitals', 'GET', (host: string) => `HTTP://${host}/metrics`],
    ['a second slash', 'GET', (host: string) => `//${host}/latest/meta-data/iam/`],
    ['three slashes', 'GET', (host: string) => `///${host}/x`],
    ['a backslash', 'GET', (host: string) => `/\\${host}/x`],
    ['user info', 'GET', (host: string) => `//user:pw@${host}/x`],
    ['an absolute URL with user info', 'POST', (host: string) => `http://user:pw@${host}/x`],
  ])('never reaches another host: %s', async (_what, method, targetOn) => {
    const { host } = new URL(`http://127.0.0.1:${portOf(internal)}`);
    const headers = { host: 'api.example.com', authorization: `Bearer ${mintToken('eu')}`, 'content-length': '0' };
    const raw = await rawAsk(nearest.url, `${method} ${targetOn(host)}`, headers);
    expect(raw.text).not.toContain(INTERNAL);
    expect(raw).toMatchObject({
      status: 400,
      error: { code: 400, details: expect.stringMatching(/^path: /) as string },
    });
    expect(reached).toEqual([]);
  });

  it('leaves the token to the edge of its region, which rejects unknown ones', async () => {
    const raw = await rawAsk(nearest.url, 'GET /chats', {
      host: 'api.example.com',
      authorization: `Bearer ${mintToken('eu')}`,
    });
    expect(raw).toMatchObject({ status: 401, error: { details: expect.stringMatching(/not known/) as string } });
  });

  it('does not go on with a transfer coding that would be lost on the way', async () => {
    const raw = await rawAsk(nearest.url, 'POST /messages/text', {
      host: 'api.example.com',
      authorization: `Bearer ${mintToken('eu')}`,
      'transfer-encoding': 'gzip, chunked',
    });
    expect(raw).toMatchObject({
      status: 400,
      error: { details: expect.stringMatching(/^transfer-encoding: /) as string },
    });
  });
});

/** A connection that has sent a text, whole. */
function clientOf(edge: RunningEdge, token: string): Socket {
  const { hostname, port } = new URL(edge.url);
  const client = connect(Number(port), hostname);
  const body = JSON.stringify(hello);
  const headers = { host: hostname, authorization: `Bearer ${token}`, 'content-length': String(body.length) };
  const lines = Object.entries({ ...headers, 'content-type': 'application/json' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  client.write(`POST /messages/text HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  return client;
}

/** An origin without a listening server. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  const closed = once(server, 'close');
  server.close();
  await closed;
  return `http://127.0.0.1:${port}`;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

/** What fetch does not let a caller choose: the Host header and the request line. */
async function rawAsk(url: string, line: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${line} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  const json = text.includes('{') ? (JSON.parse(text.slice(text.indexOf('{'))) as { error?: unknown }) : {};
  return { status: Number(text.split(' ')[1]), error: json.error, text };
}
