import { isDeepStrictEqual } from 'node:util';
import { picture } from '@dormouse/stack/sample-files';
import { TestProxy } from '@dormouse/stack/test-proxy';
import { serveWaitingLogins, type WaitingLogins } from '@dormouse/stack';
import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { eventually } from './harness/eventually.js';
import type { GatewayClient, GatewayResponse } from './harness/gateway-client.js';
import { loginCode, NO_RATE_LIMITS, RunningStack, untilConnected, untilStatus } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

const PHOTO = picture(30, 20);
const OTHER_PHOTO = picture(21, 31);

describe('linking a number', () => {
  let running: RunningStack;
  let waiting: WaitingLogins;
  /** Of each journey its own. */
  let client: GatewayClient;
  let channelId: string;
  let owner: VirtualPhone;
  let friend: VirtualPhone;

  beforeAll(async () => {
    waiting = await serveWaitingLogins();
    const env = { ...NO_RATE_LIMITS, 'network-simulator': { WAITING_LOGINS_URL: waiting.url } };
    running = await RunningStack.start({ env });
  }, 120_000);
  afterAll(() => running.stop(), 60_000);

  beforeEach(async () => {
    owner = await running.network.createPhone({ name: 'Olive Owner' });
    friend = await running.network.createPhone({ name: 'Fred Friend' });
    ({ id: channelId, client } = await running.createChannel('first'));
    mayShowACode.push(client);
  });
  // A code that is shown goes on opening sockets, which the next journey would count.
  const mayShowACode: GatewayClient[] = [];
  afterEach(async () => {
    for (const shown of mayShowACode.splice(0)) expect((await shown.post('/users/logout')).status).toBe(200);
    await nobodyShowsACode();
  });

  const image = (query = '') => client.get<{ error: { details?: string } }>(`/users/login/image${query}`);
  const codeIn = ({ bytes }: GatewayResponse): string | undefined => {
    const { data, width, height } = PNG.sync.read(bytes);
    return jsQR.default(new Uint8ClampedArray(data), width, height)?.data;
  };
  const socketsOpened = async () => (await running.network.connections()).opened;
  /** What others saw of the number being online or not. */
  const seenOnline = async () =>
    (
      await running.network.call<{ kind: string; what: string; from: string }[]>(
        'GET',
        `/phones/${friend.phone}/events?kind=presence`,
      )
    ).filter(({ what, from }) => what === 'available' && from.startsWith(owner.phone));

  const nobodyShowsACode = () =>
    eventually(async () => (await running.network.call<unknown[]>('GET', '/codes')).length === 0, {
      what: 'nobody shows a code',
    });
  /** A number that is to look offline, linked, with a friend whose message it has read. */
  const linkQuietly = async (): Promise<void> => {
    const settings = { offline_mode: true, auto_presence: 'online', auto_read: true };
    expect((await client.request('PATCH', '/settings', { body: settings })).status).toBe(200);
    await eventually(async () => owner.scan(await loginCode(client)), { what: 'it is linked' });
    await untilConnected(client);
    await friend.send(owner.phone, 'Are you there?');
    await untilReadByFriend(1);
  };
  const untilReadByFriend = (count: number) =>
    eventually(async () => (await friend.messages()).filter(({ status }) => status === 'read').length === count, {
      what: `${count} messages of the friend are read`,
    });

  it('starts no pairing for somebody who only looks', async () => {
    const before = await socketsOpened();
    const { status, body } = await image('?wakeup=false');
    expect(status).toBe(503);
    expect(body.error.details).toContain('wakeup');
    expect(await socketsOpened()).toBe(before);
  }, 30_000);

  it('is one attempt, however many request it and however often: they share its code', async () => {
    const before = await socketsOpened();
    const codes = (await Promise.all(Array.from({ length: 6 }, () => image()))).map(codeIn);
    expect(codes[0]).toMatch(/,/);
    expect(new Set(codes).size).toBe(1);
    await untilStatus(client, 'qr');
    expect(codeIn(await image('?wakeup=false'))).toBe(codes[0]);
    expect(await socketsOpened()).toBe(before + 1);
  }, 30_000);

  it('shows its code in the size and the colours of the request', async () => {
    const code = codeIn(await image());
    const { headers, bytes } = await image('?width=400&height=300&color_dark=%23102030&color_light=fed');
    expect(headers['content-type']).toBe('image/png');
    expect(headers['cache-control']).toBe('no-store');
    const png = PNG.sync.read(bytes);
    expect([png.width, png.height]).toEqual([400, 300]);
    const colours = new Set(
      Array.from({ length: 400 * 300 }, (_, at) => png.data.subarray(at * 4, at * 4 + 4).toString('hex')),
    );
    expect([...colours].sort()).toEqual(['102030ff', 'ffeeddff']);
    expect(codeIn(await image('?size=500'))).toBe(code);
    for (const [query, field] of [
      ['?size=5', 'size'],
      ['?color_dark=blue', 'color_dark'],
      ['?wakeup=perhaps', 'wakeup'],
    ] as const) {
      const refused = await image(query);
      expect(refused.status).toBe(400);
      expect(refused.body.error.details).toMatch(new RegExp(`^${field}: `));
    }
  }, 30_000);

  it('ends with a logout, and nothing goes on behind it', async () => {
    const before = await socketsOpened();
    await loginCode(client);
    await untilStatus(client, 'qr');
    expect((await client.post('/users/logout')).status).toBe(200);
    await untilStatus(client, 'not_linked');
    await nobodyShowsACode();
    expect(await socketsOpened()).toBe(before + 1);
  }, 30_000);

  it('leaves the number looking offline, so that its phone goes on notifying', async () => {
    await linkQuietly();
    expect((await image()).status).toBe(403);
    await running.stack.restart('session-worker');
    await untilConnected(client);
    await friend.send(owner.phone, 'And now?');
    await untilReadByFriend(2);
    expect(await seenOnline()).toEqual([]);
    expect((await running.network.connections()).overlaps).toBe(0);
  }, 90_000);

  it('lets the number appear online on request, and offline again', async () => {
    await linkQuietly();
    expect((await client.request('PUT', '/presences/me', { body: { presence: 'online' } })).status).toBe(200);
    await eventually(async () => (await seenOnline()).length === 1, { what: 'the number is online' });
    expect((await client.request('PUT', '/presences/me', { body: { presence: 'offline' } })).status).toBe(200);
    expect((await client.get<{ channel_id: string }>('/health')).body.channel_id).toBe(channelId);
  }, 60_000);

  it('with a proxy connects to the network through it alone, files included, and waits for one that is away', async () => {
    let proxy = await TestProxy.start();
    const { client: shop } = await running.createChannel('behind a proxy');
    const settings = { proxy: proxy.setting(), media: { auto_download: [] } };
    expect((await shop.request('PATCH', '/settings', { body: settings })).status).toBe(200);
    const phone = await running.network.createPhone({ name: 'Sheila Shop' });
    await phone.scan(await loginCode(shop));
    await untilConnected(shop);
    const linked = proxy.requested.length; // the pairing and the session
    expect(linked).toBeGreaterThanOrEqual(2);

    const media = `data:${PHOTO.type};base64,${PHOTO.bytes.toString('base64')}`;
    expect((await shop.post('/messages/image', { to: friend.phone, media })).status).toBe(200);
    expect(proxy.requested).toHaveLength(linked + 1);
    await running.network.call('POST', `/phones/${friend.phone}/messages`, {
      to: phone.phone,
      image: { base64: OTHER_PHOTO.bytes.toString('base64'), mimetype: OTHER_PHOTO.type },
    });
    const received = await eventually(
      async () => {
        const { body } = await shop.get<{ messages: { from_me: boolean; image?: { id: string } }[] }>('/messages/list');
        return body.messages.find(({ from_me, image }) => !from_me && image)?.image;
      },
      { what: 'the picture is received' },
    );
    expect((await shop.get(`/media/${received.id}`)).bytes.equals(OTHER_PHOTO.bytes)).toBe(true);
    expect(proxy.requested).toHaveLength(linked + 2);

    const { port } = proxy;
    await proxy.stop();
    const status = async () => (await shop.get<{ status: object }>('/health')).body.status;
    const away = { code: 2, text: 'connecting', reason: 'proxy_unreachable' };
    await eventually(async () => isDeepStrictEqual(await status(), away), {
      what: 'health shows that the proxy is away',
    });
    const opened = await socketsOpened();
    proxy = await TestProxy.start({ port });
    await untilConnected(shop);
    expect(await status()).toEqual({ code: 4, text: 'connected' });
    expect(proxy.requested).toHaveLength(1);
    expect(await socketsOpened()).toBe(opened + 1);
    await proxy.stop();
  }, 120_000);

  it('is a pick from the list of the phones for a channel that waits, and only for one', async () => {
    const { token } = await running.management.createChannel('second');
    const second = running.client(token);
    mayShowACode.push(second);
    waiting.offer({ name: 'Second', edgeUrl: running.edgeUrl, token });
    const listed = () => running.network.call<{ name: string }[]>('GET', '/waiting-logins');
    const pick = (name: string) =>
      running.network.call<{ device: number }>('POST', `/phones/${friend.phone}/scan`, { waiting: name });
    expect(await listed()).toEqual([{ name: 'Second' }]);
    expect(await pick('Second')).toEqual({ device: 1 });
    await untilConnected(second);
    expect(await listed()).toEqual([]);
    await expect(pick('Second')).rejects.toThrow('404');
    expect((await second.post('/users/logout')).status).toBe(200);
    await untilStatus(second, 'not_linked');
    expect(await listed()).toEqual([{ name: 'Second' }]);
  }, 90_000);
});
