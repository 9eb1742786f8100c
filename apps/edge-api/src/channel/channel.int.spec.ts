import { request } from 'node:http';
import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { COMMANDS } from '@dormouse/gateway-contract';
import { readQueueFigures } from '@dormouse/queues';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import { contractFaults } from '../test-contract.js';
import { RunningEdge } from '../test-edge.js';

jest.setTimeout(30_000);

/** As long as the network's own codes are. */
const CODE = `2@${'Ab3+/'.repeat(40)},${'k'.repeat(44)},${'i'.repeat(44)}`;

/** Longer than any spec. */
const NEVER_MS = 600_000;

describe('channel', () => {
  let edge: RunningEdge;
  let redis: Redis;
  beforeAll(async () => {
    redis = openRedis({ url: process.env.TEST_REDIS_URL ?? '', name: 'spec' });
    edge = await RunningEdge.start();
    await edge.ready();
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await edge.stop();
    await closeRedis(redis);
  });

  describe('GET /health', () => {
    const health = async (token: string, query = '') => {
      const answer = await edge.ask(`GET /health${query}`, { token });
      expect(answer.status).toBe(200);
      expect(contractFaults('GET /health', 200, answer.json)).toEqual([]);
      return answer.json;
    };

    it('describes the session from the record, with the number once it is linked', async () => {
      const { id, token } = await edge.channel();
      expect(await health(token, '?wakeup=true&platform=Chrome&channel_type=mobile')).toMatchObject({
        channel_id: id,
        status: { code: 4, text: 'connected' },
        device_id: 7,
        user: { id: '15550009999', name: 'Example Shop', pushname: 'Example Shop' },
      });
    });

    it.each([
      ['closed', false, { code: 0, text: 'not_linked' }],
      ['qr', false, { code: 3, text: 'qr' }],
      ['connecting', true, { code: 2, text: 'connecting' }],
      ['hibernated', true, { code: 4, text: 'connected', hibernated: true }],
    ] as const)('a session that is %s (linked: %s) reads %j', async (state, linked, status) => {
      const { token } = await edge.channel({ state, linked });
      const answer = (await health(token)) as { status: unknown; uptime: number; user?: unknown };
      expect(answer.status).toEqual(status);
      expect(answer.uptime).toBeGreaterThanOrEqual(0);
      expect('user' in answer).toBe(linked);
    });

    it.each([
      ['connecting', 'proxy_unreachable', { code: 2, text: 'connecting', reason: 'proxy_unreachable' }],
      ['connecting', 'proxy_refused', { code: 2, text: 'connecting', reason: 'proxy_refused' }],
      ['connecting', 'connection_lost', { code: 2, text: 'connecting' }],
    ] as const)('a session that is %s because of %s reads %j', async (state, sessionReason, status) => {
      const { id, token } = await edge.channel({ state });
      await edge.database.prisma.channel.update({ where: { id }, data: { sessionReason } });
      expect(((await health(token)) as { status: object }).status).toEqual(status);
    });

    it('speaks the compatible names to channels that opted in', async () => {
      const { token } = await edge.channel({ settings: { legacy_status_text: true } });
      expect(await health(token)).toMatchObject({ status: { code: 4, text: 'AUTH' } });
    });
  });

  describe('settings', () => {
    it('are the defaults at first, change by PATCH and stay changed', async () => {
      const { token } = await edge.channel();
      const before = await edge.ask('GET /settings', { token });
      expect(before.json).toMatchObject({ webhooks: [], callback_backoff_delay_ms: 3_000, auto_read: false });
      expect(contractFaults('GET /settings', 200, before.json)).toEqual([]);
      const webhooks = [
        {
          url: 'https://hooks.example.com/wa',
          mode: 'body',
          events: [{ type: 'messages', method: 'post' }],
          headers: { 'X-Example': 'one' },
        },
      ];
      const body = { webhooks, auto_read: true, media: { auto_download: ['image'] }, success: true, proxy: null };
      const update = await edge.ask('PATCH /settings', { token, body });
      expect(update.json).toMatchObject({
        before_update: before.json,
        after_update: { webhooks, auto_read: true, media: { auto_download: ['image'], init_avatars: false } },
        changes: ['media', 'webhooks', 'auto_read'],
      });
      expect(contractFaults('PATCH /settings', 200, update.json)).toEqual([]);
      expect((await edge.ask('GET /settings', { token })).json).toEqual(
        (update.json as { after_update: unknown }).after_update,
      );
    });

    it('keep and show what has no effect here, for clients that send it', async () => {
      const { token } = await edge.channel();
      const body = {
        mobile_proxy: 'socks5://user:pass@mobile.example:1080',
        pdo_sync: false,
        on_call_pager: 'pager',
        pass_through: true,
        sent_status: true,
        webhooks: [{ url: 'https://hooks.example.com/wa', send_undecrypted_ad: true }],
      };
      const update = await edge.ask('PATCH /settings', { token, body });
      expect(update.status).toBe(200);
      const shown = await edge.ask('GET /settings', { token });
      expect(shown.json).toMatchObject(body);
      expect(contractFaults('GET /settings', 200, shown.json)).toEqual([]);
    });

    it('keep a proxy, and show it without its password', async () => {
      const { id, token } = await edge.channel();
      const body = { proxy: 'socks5h://user:secret@proxy.example:1080' };
      const update = await edge.ask('PATCH /settings', { token, body });
      const shown = 'socks5h://user:***@proxy.example:1080';
      expect(update.json).toMatchObject({ after_update: { proxy: shown }, changes: ['proxy'] });
      await edge.ask('PATCH /settings', { token, body: { proxy: shown, auto_read: true } });
      const { settings } = await edge.database.prisma.channel.findUniqueOrThrow({ where: { id } });
      expect(JSON.stringify(settings)).not.toContain('secret');
      expect((await edge.directory.byId(id))?.settings).toMatchObject(body);
      expect((await edge.ask('GET /settings', { token })).text).not.toContain('secret');
    });

    it.each([
      [{ callback_backoff_delay_ms: 10 }, 'callback_backoff_delay_ms: must be between 3000 and 15000'],
      [{ webhooks: [{ url: 'ftp://x' }] }, 'webhooks.0.url: must start with http:// or https://'],
      [{ webhooks: [{ url: 'http://127.0.0.1:9000/hook' }] }, 'webhooks.0.url: must not be a private address'],
      [
        { webhooks: [{ url: 'https://a.example' }, { url: 'http://[::1]/' }] },
        'webhooks.1.url: must not be a private address',
      ],
      [{ webhooks: [{ url: 'http://2130706433/' }] }, 'webhooks.0.url: must not be a private address'],
      [{ proxy: 'socks5://user:secret@10.0.0.1:1080' }, 'proxy: must not be a private address'],
      [{ proxy: 'socks5://user:secret@proxy.example:70000' }, 'proxy: must have a port between 1 and 65535'],
      [{ proxy: 'http://user:secret@proxy.example:80' }, 'proxy: must be socks5://user:password@host:port or empty'],
      [
        { webhooks: [{ url: 'https://a.example', headers: { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' } }] },
        'webhooks.0.headers: must have at most 5 entries',
      ],
    ])('answer 400 naming the field: %j', async (body, details) => {
      const { token } = await edge.channel();
      const answer = await edge.ask('PATCH /settings', { token, body });
      expect(answer.error).toMatchObject({ code: 400, details });
      expect(contractFaults('PATCH /settings', 400, answer.json)).toEqual([]);
    });
  });

  describe('GET /users/login/image', () => {
    const IMAGE = 'GET /users/login/image';
    const fetchImage = async (token: string, query: string) => {
      const response = await fetch(`${edge.url}/users/login/image?${query}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(response.headers.get('content-type')).toBe('image/png');
      expect(response.headers.get('cache-control')).toBe('no-store');
      return PNG.sync.read(Buffer.from(await response.arrayBuffer()));
    };

    it('is a PNG of the requested size and colours that a phone reads', async () => {
      const channel = await edge.channel({ linked: false });
      edge.worker(channel, ({ name }) => {
        expect(name).toBe('channel.loginCode');
        return { ok: true, result: { code: CODE, expiresAtMs: Date.now() + 20_000 } };
      });
      for (const [query, width, height] of [
        ['', 264, 264],
        ['size=300', 300, 300],
        ['width=400&height=320&color_light=eef&color_dark=%23112233', 400, 320],
      ] as const) {
        const png = await fetchImage(channel.token, query);
        expect([png.width, png.height]).toEqual([width, height]);
        expect(jsQR.default(new Uint8ClampedArray(png.data), png.width, png.height)?.data).toBe(CODE);
        if (width === 400) expect([...png.data.subarray(0, 4)]).toEqual([0xee, 0xee, 0xff, 0xff]);
      }
    });

    it('answers 400, 403 and 503 where there is no code to draw', async () => {
      const linked = await edge.channel();
      const unlinked = await edge.channel({ linked: false });
      const error = async (token: string, query: string) => (await edge.ask(`${IMAGE}?${query}`, { token })).error;
      expect(await error(linked.token, '')).toMatchObject({
        code: 403,
        details: 'the number is linked: POST /users/logout first',
      });
      expect(await error(linked.token, 'wakeup=false')).toMatchObject({ code: 403 });
      expect(await error(unlinked.token, 'wakeup=false')).toMatchObject({ code: 503 });
      expect(await error(unlinked.token, 'size=10')).toMatchObject({
        code: 400,
        details: 'size: must be between 100 and 2000',
      });
      expect(await error(unlinked.token, 'color_dark=blue')).toMatchObject({
        code: 400,
        details: 'color_dark: must be a colour like #1a2b3c',
      });
    });
  });

  describe('POST /users/logout', () => {
    it('unlinks through the worker, and is a success where nothing is linked', async () => {
      const linked = await edge.channel();
      const names: string[] = [];
      edge.worker(linked, ({ name }) => (names.push(name), { ok: true, result: { success: true } }));
      const answer = await edge.ask('POST /users/logout', { token: linked.token });
      expect(answer).toMatchObject({ status: 200, json: { success: true } });
      expect(contractFaults('POST /users/logout', 200, answer.json)).toEqual([]);
      expect(names).toEqual(['channel.logout']);
      const unlinked = await edge.channel({ linked: false });
      expect(await edge.ask('POST /users/logout', { token: unlinked.token })).toMatchObject({
        status: 200,
        json: { success: true },
      });
    });
  });

  it.each([
    ['GET /users/login/image', false],
    ['POST /users/logout', true],
    ['DELETE /groups/120363000000000001@g.us', true],
    ['POST /groups/link/AbCdEfGhIjKlMnOpQrStUv', true],
  ] as const)('%s is not carried out by a worker once its caller has gone', async (route, linked) => {
    // Only because its caller has gone is it not carried out: a worker would have had time to begin.
    for (const command of Object.values(COMMANDS)) jest.replaceProperty(command, 'startWithinMs', NEVER_MS);
    const channel = await edge.channel({ linked });
    const waiting = async (count: number): Promise<void> => {
      let found: number | undefined;
      do found = (await readQueueFigures(redis, [channel.shard], Date.now()))[0]?.waiting;
      while (found !== count);
    };
    const [method, path] = route.split(' ');
    const headers = { authorization: `Bearer ${channel.token}` };
    const client = request(`${edge.url}${path ?? ''}`, { method, headers, agent: false });
    client.on('error', () => undefined).end();
    await waiting(1);
    client.destroy();
    await waiting(0);
  });
});
