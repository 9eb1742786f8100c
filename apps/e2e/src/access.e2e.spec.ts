import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Stack } from '@dormouse/stack';
import type { Browser, Page } from 'playwright-core';
import { describeInBrowser, openBrowser } from './harness/browser.js';
import { schemaViolation } from './harness/contract.js';
import { EventStream } from './harness/event-stream.js';
import { eventually } from './harness/eventually.js';

import type { GatewayClient, GatewayResponse } from './harness/gateway-client.js';
import {
  loginCode,
  NO_RATE_LIMITS,
  RunningStack,
  untilConnected,
  type LinkedChannel,
} from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebSite } from './harness/web-site.js';

interface Envelope {
  error: { code: number; message: string; details?: string };
}
interface Sent {
  sent: boolean;
  message: { id: string };
}
interface Listed {
  messages: { id: string; text?: { body: string } }[];
}

const SWITCHES = { ...NO_RATE_LIMITS['edge-api'], RATE_CONTACT_CHECKS: '3/60' };
const UNREACHABLE = 'the home region of the channel could not be reached';

/** An edge under the host that all regions share: under its own it forwards nothing. */
const sharedHost = (edgeUrl: string): string => edgeUrl.replace('127.0.0.1', 'localhost');

describe('access from elsewhere', () => {
  let running: RunningStack<Stack<'sg' | 'eu'>>;
  let channel: LinkedChannel;
  let friend: VirtualPhone;
  /** Of the channel, at the edge of the region that it does not live in. */
  let nearest: GatewayClient;
  let nearestUrl: string;

  beforeAll(async () => {
    running = await RunningStack.start({ regions: ['sg', 'eu'], env: { 'edge-api': SWITCHES } });
    nearestUrl = sharedHost(running.stack.urls.edge.eu);
    channel = await running.createLinkedChannel('Olive Owner');
    friend = await running.network.createPhone({ name: 'Fred Friend' });
    nearest = running.client(channel.client.token, nearestUrl);
  }, 120_000);
  afterAll(() => running.stop(), 60_000);

  const expectEnvelope = (response: Pick<GatewayResponse<Envelope>, 'status' | 'body'>, status: number): void => {
    expect(response.status).toBe(status);
    expect(schemaViolation('ResponseError', response.body)).toBeUndefined();
    expect(response.body.error.code).toBe(status);
  };

  describe('by way of the edge of another region', () => {
    it('messages are sent, listed and read', async () => {
      const guest = await running.network.createPhone({ name: 'Gus Guest' });
      const sent = await nearest.post<Sent>('/messages/text', { to: guest.phone, body: 'from far away' });
      expect(sent.status).toBe(200);
      await guest.waitFor({ text: 'from far away' });
      const { body } = await nearest.get<Listed>(`/messages/list/${guest.phone}@s.whatsapp.net`);
      expect(body.messages.map(({ id }) => id)).toEqual([sent.body.message.id]);
      const one = await nearest.get<Listed['messages'][0]>(`/messages/${sent.body.message.id}`);
      expect(one.body.text?.body).toBe('from far away');
    });

    it('files go and come, byte for byte, and are sent', async () => {
      const bytes = randomBytes(3 * 1024 * 1024);
      const stored = await nearest.request<{ id: string }>('POST', '/media', {
        raw: { body: bytes, contentType: 'application/octet-stream' },
      });
      expect(stored.status).toBe(200);
      const { id } = stored.body;
      expect((await nearest.get(`/media/${id}`)).bytes.equals(bytes)).toBe(true);
      const part = await nearest.get(`/media/${id}`, { headers: { range: 'bytes=1000-1999' } });
      expect(part.status).toBe(206);
      expect(part.bytes.equals(bytes.subarray(1_000, 2_000))).toBe(true);
      expect((await nearest.post('/messages/document', { to: friend.phone, media: id })).status).toBe(200);
    });

    it('what is sent comes as an event on a stream that is open', async () => {
      const { controlPlane } = running.stack.urls;
      const stream = await EventStream.open(
        `${controlPlane}/api/v1/channels/${channel.id}/events?cursor=latest`,
        running.stack.accountKey,
      );
      await nearest.post('/messages/text', { to: friend.phone, body: 'on the stream' });
      await stream.waitFor(({ body }) => JSON.stringify(body).includes('on the stream'));
      stream.leave();
    });

    it('a channel of that other region is linked and sends by way of the first, and on its own host alone', async () => {
      const { token } = await running.management.createChannel('Eve Example', 'eu');
      const byFirst = running.client(token, sharedHost(running.edgeUrl));
      const eve = await running.network.createPhone({ name: 'Eve Example' });
      await eventually(async () => eve.scan(await loginCode(byFirst)), { what: 'Eve is linked' });
      await untilConnected(byFirst);
      expect((await byFirst.post('/messages/text', { to: friend.phone, body: 'hello from Eve' })).status).toBe(200);
      expect((await friend.waitFor({ text: 'hello from Eve' })).from).toContain(eve.phone);
      const { body } = await running.client(token, running.stack.urls.edge.eu).get<Listed>('/messages/list');
      expect(body.messages.map((message) => message.text?.body)).toEqual(['hello from Eve']);
      const pinned = await running.client(token).get<Envelope>('/messages/list');
      expectEnvelope(pinned, 401);
      const { host } = new URL(running.stack.urls.edge.eu);
      expect(pinned.body.error.details).toBe(`the token belongs to region eu: use ${host}`);
    });

    it('the home region decides about the token', async () => {
      const { id, token } = await running.management.createChannel('revoked');
      const client = running.client(token, nearestUrl);
      expect((await client.get('/settings')).status).toBe(200);
      await running.management.rotateToken(id);
      // An edge learns of it by a notification, within 2 s; regions.e2e.spec.ts holds that.
      const refused = await eventually(
        async () => {
          const answer = await client.get<Envelope>('/settings');
          return answer.status !== 200 && answer;
        },
        { what: 'the former token is refused' },
      );
      expectEnvelope(refused, 401);
      expect(refused.body.error.details).toMatch(/not known/);
    });

    it('is 503 with a sentence and a time to wait while the home region is away, and goes on afterwards', async () => {
      await running.stack.restart('edge-api', {
        region: 'sg',
        whileDown: async () => {
          const away = await nearest.post<Envelope>('/messages/text', { to: friend.phone, body: 'too early' });
          expectEnvelope(away, 503);
          expect(away.body.error.details).toBe(UNREACHABLE);
          expect(Number(away.headers['retry-after'])).toBeGreaterThanOrEqual(1);
        },
      });
      expect((await nearest.get('/health')).status).toBe(200);
    }, 60_000);
  });

  describe('a request line that names another host', () => {
    let internal: Server;
    let connections = 0;

    beforeAll(async () => {
      internal = createServer((socket) => {
        connections += 1;
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nINTERNAL');
      });
      internal.listen(0, '127.0.0.1');
      await once(internal, 'listening');
    });
    afterAll(() => void internal.close());

    it.each([
      ['GET', 'an absolute URL', (host: string) => `http://${host}/metrics`],
      ['PUT', 'one in capitals', (host: string) => `HTTP://${host}/latest/api/token`],
      ['POST', 'one with a user', (host: string) => `http://user:pw@${host}/x`],
      ['GET', 'two slashes', (host: string) => `//${host}/latest/meta-data/`],
      ['GET', 'three slashes', (host: string) => `///${host}/x`],
      ['GET', 'two slashes and a user', (host: string) => `//user:pw@${host}/x`],
      ['GET', 'a backslash', (host: string) => `/\\${host}/x`],
    ])('%s of %s is refused, and nothing leaves', async (method, _form, targetOn) => {
      const { port } = internal.address() as AddressInfo;
      const { status, body } = await requestRaw(method, targetOn(`127.0.0.1:${port}`));
      expectEnvelope({ status, body: JSON.parse(body) as Envelope }, 400);
      expect(body).toMatch(/"details":"path: /);
      expect(connections).toBe(0);
    });

    /** With a request line that a client library would not write. */
    async function requestRaw(method: string, target: string): Promise<{ status: number; body: string }> {
      const { port } = new URL(nearestUrl);
      const headers = { host: `localhost:${port}`, authorization: `Bearer ${channel.client.token}` };
      const sent = request({ host: '127.0.0.1', port, method, path: target, headers }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return { status: answer.statusCode ?? 0, body: await text(answer) };
    }
  });

  describeInBrowser('from a page of another origin, in Chromium', () => {
    let browser: Browser;
    let page: Page;
    let site: WebSite;

    beforeAll(async () => {
      site = await WebSite.start();
      browser = await openBrowser();
      page = await browser.newPage();
      await page.goto(`${site.url}/empty`);
    }, 60_000);
    afterAll(async () => {
      await browser.close();
      await site.close();
    });

    /** What the page can see of the answer. */
    const fetchInPage = (url: string, method: string, body?: unknown) =>
      page.evaluate(
        async ({ url, method, body, token }) => {
          const response = await fetch(url, {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          return {
            status: response.status,
            requestId: response.headers.get('x-request-id'),
            retryAfter: response.headers.get('retry-after'),
            body: (await response.json()) as unknown,
          };
        },
        { url, method, body, token: channel.client.token },
      );

    it.each([
      ['the home edge', () => running.edgeUrl],
      ['the edge of another region', () => nearestUrl],
    ])('sends, lists and reads at %s, and can read the id of the request', async (where, edge) => {
      const body = `from a page, at ${where}`;
      const sent = await fetchInPage(`${edge()}/messages/text`, 'POST', { to: friend.phone, body });
      expect(sent).toMatchObject({ status: 200, requestId: expect.stringMatching(/\S/), body: { sent: true } });
      await friend.waitFor({ text: body });
      const { id } = (sent.body as Sent).message;
      const list = await fetchInPage(`${edge()}/messages/list?count=10`, 'GET');
      expect((list.body as Listed).messages).toContainEqual(expect.objectContaining({ id, text: { body } }));
      expect((await fetchInPage(`${edge()}/messages/${id}`, 'GET')).body).toMatchObject({ id, text: { body } });
    });

    it('can read why a request was refused, and how long to wait after a 429', async () => {
      const bad = await fetchInPage(`${running.edgeUrl}/messages/text`, 'POST', { to: friend.phone });
      expect(bad).toMatchObject({ status: 400, body: { error: { details: 'body: required' } } });
      const check = () =>
        fetchInPage(`${running.edgeUrl}/contacts`, 'POST', { contacts: Array(3).fill(friend.phone) as string[] });
      expect((await check()).status).toBe(200);
      const refused = await check();
      expect(refused).toMatchObject({ status: 429, requestId: expect.stringMatching(/\S/) });
      expect(Number(refused.retryAfter)).toBeGreaterThanOrEqual(1);
    });
  });
});
