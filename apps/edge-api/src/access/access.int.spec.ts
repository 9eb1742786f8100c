import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { jest } from '@jest/globals';
import { mintToken } from '@dormouse/channel-token';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { PNG, sendEndlessly, sendFirstReadLater } from '../media/test-requests.js';
import { contractFaults, contractRoutes } from '../test-contract.js';
import { RunningEdge } from '../test-edge.js';

jest.setTimeout(30_000);

const SEND = 'POST /messages/text';
const hello = { to: '15550001111', body: 'Hello' };

describe('access', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await RunningEdge.start({ RATE_SENDS: '3/60', MAX_JSON_BYTES: '5000' });
    await edge.ready();
  });
  afterAll(() => edge.stop());

  describe('401', () => {
    it('says in the envelope what is wrong with the token, and nothing about an absent one', async () => {
      const { token } = await edge.channel();
      const details = async (headers: Record<string, string>, path = '/chats') => {
        const answer = await edge.ask(`GET ${path}`, { headers });
        expect(answer.status).toBe(401);
        expect(contractFaults('GET /chats', 401, answer.json)).toEqual([]);
        expect(answer.error).toMatchObject({
          code: 401,
          message: 'channel token missing or invalid',
          href: 'https://docs.example.com/errors#unauthorized',
          support: 'support@example.com',
        });
        return answer.error.details;
      };
      expect(await details({})).toBeUndefined();
      expect(await details({ authorization: `Bearer ${token.slice(0, -5)}` })).toMatch(/truncated/);
      expect(await details({ authorization: `Bearer ${token.slice(0, -1)}` })).toMatch(/truncated/);
      expect(await details({ authorization: 'Bearer abc' })).toMatch(/dm_/);
      expect(await details({ authorization: token })).toMatch(/Bearer/);
      expect(await details({ authorization: `Bearer ${mintToken('sg')}` })).toMatch(/not known/);
      expect(await details({}, `/chats?token=${token}%20`)).toMatch(/space/);
      expect(await details({ authorization: `Bearer  ${token}` })).toMatch(/space/);
      expect(await details({}, `/chats?token=${token}&token=${token}`)).toMatch(/more than one/);
    });

    it('takes the token from the header or the query, and the header wins', async () => {
      const { token } = await edge.channel();
      expect((await edge.ask('GET /chats', { token })).status).toBe(200);
      expect((await edge.ask(`GET /chats?token=${token}`)).status).toBe(200);
      expect((await edge.ask(`GET /chats?token=bad`, { token })).status).toBe(200);
      expect((await edge.ask(`GET /chats?token=${token}`, { token: 'bad' })).status).toBe(401);
      expect((await edge.ask('GET /chats', { headers: { authorization: `bearer ${token}` } })).status).toBe(200);
    });

    it('comes before 501: an unlisted path without a token is 401', async () => {
      expect((await edge.ask('GET /limits')).status).toBe(401);
      expect((await edge.ask('PUT /messages/x/star')).status).toBe(401);
    });

    it('meets the token of a deleted channel within two seconds', async () => {
      const { id, token } = await edge.channel();
      expect((await edge.ask('GET /chats', { token })).status).toBe(200);
      await edge.database.prisma.channel.update({ where: { id }, data: { deletedAt: new Date(), tokenHash: null } });
      const deletedAt = Date.now();
      while ((await edge.ask('GET /health', { token })).status !== 401)
        expect(Date.now() - deletedAt).toBeLessThan(2_000);
    });
  });

  describe('501', () => {
    it('names the method and the path as it was sent, for unlisted paths and methods, HEAD included', async () => {
      const { token } = await edge.channel();
      for (const route of [
        'GET /limits',
        'GET /',
        'PUT /groups/1@g.us',
        'DELETE /health',
        'OPTIONS /chats',
        'GET /messages//x/y',
      ]) {
        const answer = await edge.ask(route, { token });
        expect(answer.status).toBe(501);
        expect(answer.error).toMatchObject({ code: 501, message: `${route} is not implemented` });
      }
      expect((await edge.ask('GET /limits?x=1', { token })).error.message).toBe('GET /limits is not implemented');
      const head = await edge.ask('HEAD /contacts/15550001111', { token });
      expect(head.status).toBe(501);
      expect(head.text).toBe('');
    });

    it('names the template of star and presence subscribe', async () => {
      const { token } = await edge.channel();
      const message = async (route: string) => (await edge.ask(route, { token, body: {} })).error.message;
      expect(await message('PUT /messages/abc/star')).toBe('PUT /messages/{MessageID}/star is not implemented');
      expect(await message('POST /presences/15550001111')).toBe('POST /presences/{EntryID} is not implemented');
    });

    it('comes before 402 and 429, before the body is looked at', async () => {
      const { token } = await edge.channel({ standing: 'past_due' });
      for (let n = 0; n < 5; n++) expect((await edge.ask('PUT /messages/abc/star', { token })).status).toBe(501);
      expect((await edge.ask('POST /limits', { token, body: 'not json' })).status).toBe(501);
    });
  });

  describe('402', () => {
    it('meets every endpoint but GET /health, saying which rule', async () => {
      const pastDue = await edge.channel({ standing: 'past_due' });
      const overFree = await edge.channel({ standing: 'over_free_allowance' });
      const answer = await edge.ask('GET /chats', { token: pastDue.token });
      expect(answer.error).toMatchObject({
        code: 402,
        message: 'channel is not billable',
        details: 'subscription past due',
      });
      expect(answer.error.href).toBe('https://docs.example.com/errors#payment-required');
      expect(contractFaults('GET /chats', 402, answer.json)).toEqual([]);
      expect((await edge.ask(SEND, { token: overFree.token, body: hello })).error.details).toMatch(/free allowance/);
      expect((await edge.ask('PATCH /settings', { token: pastDue.token, body: { proxy: 1 } })).status).toBe(402);
      expect((await edge.ask('GET /health', { token: pastDue.token })).status).toBe(200);
    });
  });

  describe('429', () => {
    it('counts per channel and per kind of request, and says when to come back', async () => {
      const { token } = await edge.channel();
      const other = await edge.channel();
      for (let n = 0; n < 3; n++) expect((await edge.ask(SEND, { token, body: {} })).status).toBe(400);
      const refused = await edge.ask(SEND, { token, body: 'not even JSON' });
      expect(refused.status).toBe(429);
      expect(refused.error).toMatchObject({
        message: 'rate limit exceeded',
        href: 'https://docs.example.com/errors#rate-limit',
      });
      expect(refused.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
      expect(contractFaults(SEND, 429, refused.json)).toEqual([]);
      expect((await edge.ask(SEND, { token: other.token, body: {} })).status).toBe(400);
      expect((await edge.ask('GET /chats', { token })).status).toBe(200);
    });
  });

  describe('413', () => {
    it('meets a body that is announced too large before it is read, and one that turns out so', async () => {
      const { token } = await edge.channel();
      const body = { ...hello, body: 'x'.repeat(6_000) };
      const announced = await edge.ask(SEND, { token, body });
      expect(announced.error).toMatchObject({ code: 413, details: 'body: larger than 5000 bytes' });
      expect(contractFaults(SEND, 413, announced.json)).toEqual([]);
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(JSON.stringify(body)));
          controller.close();
        },
      });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const streamed = await fetch(`${edge.url}/messages/text`, {
        method: 'POST',
        headers,
        body: stream,
        duplex: 'half',
      });
      expect(streamed.status).toBe(413);
    });
  });

  describe('the request id', () => {
    it('is on every answer, the caller’s own where it is harmless', async () => {
      const { token } = await edge.channel();
      const uuid = /^[0-9a-f-]{36}$/;
      for (const route of ['GET /chats', 'GET /limits', 'GET /readyz']) {
        expect((await edge.ask(route, { token })).headers.get('x-request-id')).toMatch(uuid);
      }
      expect((await edge.ask('GET /chats')).headers.get('x-request-id')).toMatch(uuid);
      const own = await edge.ask('GET /chats', { token, headers: { 'x-request-id': 'order-2026-77' } });
      expect(own.headers.get('x-request-id')).toBe('order-2026-77');
      const odd = await edge.ask('GET /chats', { token, headers: { 'x-request-id': 'a b' } });
      expect(odd.headers.get('x-request-id')).toMatch(uuid);
    });
  });

  describe('path quirks', () => {
    it('do not keep a request from its endpoint', async () => {
      const { token } = await edge.channel();
      const status = async (route: string) => (await edge.ask(route, { token })).status;
      expect(await status('GET //chats')).toBe(200);
      expect(await status('GET /chats/')).toBe(200);
      expect(await status('GET /messages//list///')).toBe(200);
      expect(await status('GET /messages/list/?count=1')).toBe(200);
      for (const id of ['15550001111%40s.whatsapp.net', 'no.such-id', '100%', '%ff%fe', 'a%2Fb', 'x'.repeat(2_000)]) {
        expect(await status(`GET /chats/${id}`)).toBe(404);
        expect(await status(`GET /messages/${id}`)).toBe(404);
      }
    });

    it('GET with a JSON content type and no body, POST and PATCH without any body are fine', async () => {
      const { token } = await edge.channel();
      const headers = { 'content-type': 'application/json' };
      expect((await edge.ask('GET /chats', { token, headers })).status).toBe(200);
      expect((await edge.ask('PATCH /settings', { token })).status).toBe(200);
      expect((await edge.ask('PATCH /settings', { token, headers })).status).toBe(200);
      expect((await edge.ask(SEND, { token })).error.details).toBe('to: required');
    });

    it('a request that is no HTTP gets the envelope, too', async () => {
      const { hostname, port } = new URL(edge.url);
      const socket = connect(Number(port), hostname);
      socket.write('GET /chats HTTP/1.1\r\nbroken header\r\n\r\n');
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      await once(socket, 'close');
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
        error: { code: 400, details: 'the request is not valid HTTP' },
      });
    });
  });

  describe('regions', () => {
    it('a region-pinned host answers 401 naming the right one', async () => {
      const pinned = await RunningEdge.start({
        REGION_HOSTS: JSON.stringify({ sg: 'http://sg.example.com', eu: 'eu.example.com' }),
      });
      const headers = { host: 'sg.example.com', authorization: `Bearer ${mintToken('eu')}` };
      const raw = await rawGet(pinned.url, '/chats', headers);
      expect(raw).toMatchObject({
        status: 401,
        error: { details: 'the token belongs to region eu: use eu.example.com' },
      });
      const usw = await edge.ask('GET /chats', { token: mintToken('usw') });
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
      const address = home.address();
      const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
      const nearest = await RunningEdge.start({
        REGION_HOSTS: JSON.stringify({ sg: 'sg.example.com', eu: origin, use: await closedPort() }),
      });
      const token = mintToken('eu');
      const answer = await nearest.ask('POST /messages//text?a=%20b', { token, body: hello });
      expect(answer).toMatchObject({ status: 429, text: 'from home' });
      expect(answer.headers.get('retry-after')).toBe('7');
      expect(seen).toMatchObject([
        {
          url: '/messages//text?a=%20b',
          body: JSON.stringify(hello),
          headers: { authorization: `Bearer ${token}`, 'x-dormouse-passed-on': 'sg' },
        },
      ]);
      expect(answer.headers.get('x-request-id')).toBe(seen[0]?.headers['x-request-id']);
      const again = await nearest.ask('GET /chats', { token, headers: { 'x-dormouse-passed-on': 'use' } });
      expect(again.status).toBe(401);
      const away = await nearest.ask('GET /chats', { token: mintToken('use') });
      expect(away.error).toMatchObject({ code: 503, details: 'the home region of the channel could not be reached' });
      await nearest.stop();
      home.close();
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

  describe('probes and the log', () => {
    it('answer without a token on exactly their paths', async () => {
      expect(await edge.ask('GET /healthz')).toMatchObject({ status: 200, json: { status: 'alive' } });
      expect(await edge.ask('GET /readyz')).toMatchObject({ status: 200, json: { status: 'ready' } });
      const metrics = await edge.ask('GET /metrics');
      expect(metrics.text).toContain('http_request_duration_seconds_bucket');
      expect((await edge.ask('GET /healthz/')).status).toBe(401);
      expect((await edge.ask('POST /healthz')).status).toBe(401);
    });

    it('never hold a token, an id in a path or a text', async () => {
      const { token } = await edge.channel();
      await edge.ask(`GET /chats/15550003333?token=${token}`);
      await edge.ask(SEND, { token, body: { to: '15550004444', body: 'a secret text', typing_time: 'x' } });
      const log = edge.logged.join('');
      expect(log).toContain('"route":"/chats/:ChatID"');
      for (const secret of [token.slice(10), '15550003333', '15550004444', 'a secret text'])
        expect(log).not.toContain(secret);
    });
  });

  it('every listed endpoint answers 401 without a token and never 404 or 5xx but 501 with one', async () => {
    for (const route of contractRoutes()) {
      const answer = await edge.ask(route.replace(/\{\w+\}/g, 'x'));
      expect(`${route}: ${answer.status}`).toBe(`${route}: 401`);
      expect(contractFaults(route, 401, answer.json)).toEqual([]);
    }
  });
});

/** An origin where nobody listens. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const closed = once(server, 'close');
  server.close();
  await closed;
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

/** fetch does not let a caller choose the Host header. */
async function rawGet(url: string, path: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  await once(socket, 'close');
  const { error } = JSON.parse(answer.slice(answer.indexOf('{'))) as { error: unknown };
  return { status: Number(answer.split(' ')[1]), error };
}
