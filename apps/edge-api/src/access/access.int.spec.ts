import { once } from 'node:events';
import { connect } from 'node:net';
import { mintToken } from '@dormouse/channel-token';
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
    it('has details about what is wrong with the token, and none for an absent one', async () => {
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

    it('meets the token of a deleted channel, though it was just accepted', async () => {
      const { id, token } = await edge.channel();
      expect((await edge.ask('GET /chats', { token })).status).toBe(200);
      await edge.database.prisma.channel.update({ where: { id }, data: { deletedAt: new Date(), tokenHash: null } });
      let status = 200;
      while (status !== 401) ({ status } = await edge.ask('GET /health', { token }));
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
    it('applies to every endpoint but GET /health, and names the rule', async () => {
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
    it('counts per channel and per kind of request, and has Retry-After', async () => {
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
      for (const route of ['GET /chats', 'GET /limits', 'GET /healthz']) {
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

  describe('probes and the log', () => {
    it('have a port of their own, except for the liveness probe', async () => {
      expect(await edge.ask('GET /healthz')).toMatchObject({ status: 200, json: { status: 'alive' } });
      for (const route of ['GET /readyz', 'GET /metrics', 'GET /metrics?x=1', 'GET /healthz/', 'POST /healthz']) {
        expect([route, (await edge.ask(route)).status]).toEqual([route, 401]);
      }
      expect(await (await fetch(`${edge.probesUrl}/readyz`)).json()).toEqual({ status: 'ready' });
      const metrics = await (await fetch(`${edge.probesUrl}/metrics`)).text();
      expect(metrics).toContain('http_request_duration_seconds_bucket');
      expect((await fetch(`${edge.probesUrl}/chats`)).status).toBe(404);
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
