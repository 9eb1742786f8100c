import { mintToken } from '@dormouse/channel-token';
import { RunningEdge, type TestChannel } from '../test-edge.js';

jest.setTimeout(30_000);

/** Addresses reserved for documentation: no other spec uses their counters. */
const address = () => `198.51.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`;

describe('limits', () => {
  let edge: RunningEdge;
  let far: RunningEdge;
  let channel: TestChannel;
  beforeAll(async () => {
    edge = await RunningEdge.start({
      RATE_SENDS: '3/60',
      RATE_MESSAGE_ACTS: '4/60',
      RATE_BAD_TOKENS: '5/60',
      TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8',
    });
    far = await RunningEdge.start({
      REGION: 'eu',
      REGION_HOSTS: JSON.stringify({ sg: edge.url }),
      // Regions do not share a Redis: without one this edge counts by itself.
      REDIS_URL: 'redis://127.0.0.1:1',
      RATE_BAD_TOKENS: '1/60',
      TRUSTED_PROXIES: '127.0.0.1',
    });
    await edge.ready();
    channel = await edge.channel();
  });
  afterAll(() => Promise.all([edge.stop(), far.stop()]));

  const statuses = async (count: number, route: string, body?: unknown, token = channel.token) => {
    const got: number[] = [];
    for (let n = 0; n < count; n++) got.push((await edge.ask(route, { token, body })).status);
    return got;
  };

  it('count a forward and an edit as sends, and marking as read not', async () => {
    expect(await statuses(6, 'POST /messages/unknown', {})).toEqual([404, 404, 404, 404, 404, 404]);
    expect(await statuses(2, 'POST /messages/unknown', { to: '15550001111' })).toEqual([404, 404]);
    expect(await statuses(2, 'PUT /messages/unknown', { body: 'new' })).toEqual([404, 429]);
    const refused = await edge.ask('POST /messages/unknown', { token: channel.token, body: { to: '15550001111' } });
    expect(refused.error).toMatchObject({ code: 429, href: expect.stringMatching(/#rate-limit$/) as string });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await statuses(1, 'POST /messages/text', {})).toEqual([429]);
  });

  it('bound reactions and deletions', async () => {
    const { token } = await edge.channel();
    expect(await statuses(2, 'PUT /messages/unknown/reaction', { emoji: 'x' }, token)).toEqual([404, 404]);
    expect(await statuses(1, 'DELETE /messages/unknown/reaction', undefined, token)).toEqual([404]);
    expect(await statuses(2, 'DELETE /messages/unknown', undefined, token)).toEqual([404, 429]);
  });

  it.each([
    ['unknown tokens', () => mintToken('sg')],
    ['damaged tokens', () => `${mintToken('sg')}x`],
    ['what is no token', () => 'abc'],
  ])('answer 429 to an address that tries %s, and go on serving others', async (_what, token) => {
    const from = address();
    const ask = (given: string, client = from) =>
      edge.ask('GET /chats', { token: given, headers: { 'x-forwarded-for': client } });
    expect((await ask(channel.token)).status).toBe(200);
    const got = [];
    for (let n = 0; n < 7; n++) got.push((await ask(token())).status);
    expect(got).toEqual([401, 401, 401, 401, 401, 429, 429]);
    const refused = await ask(mintToken('sg'));
    expect(refused.error).toMatchObject({ code: 429, href: expect.stringMatching(/#rate-limit$/) as string });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask(channel.token)).status).toBe(200);
    expect((await ask(mintToken('sg'), address())).status).toBe(401);
  });

  it('count at the nearest edge what the home region refuses', async () => {
    const from = address();
    const got = [];
    // The answer is on its way while it is counted; five would not be too many at home.
    for (let n = 0; n < 5; n++) {
      const headers = { 'x-forwarded-for': from };
      got.push((await far.ask('GET /chats', { token: mintToken('sg'), headers })).status);
    }
    expect([got[0], got.at(-1)]).toEqual([401, 429]);
  });
});

describe('an endpoint of the compatible gateway that is not listed', () => {
  it('is 501 that names the one to use', async () => {
    const edge = await RunningEdge.start();
    const { token } = await edge.channel();
    const details = async (route: string, headers = {}, body: unknown = {}) => {
      const { status, error } = await edge.ask(route, { token, headers, body });
      expect(status).toBe(501);
      return error.details;
    };
    const raw = { 'content-type': 'image/png' };
    expect(await details('POST /messages/media/image?to=15550001111&caption=hi', raw, 'bytes')).toMatch(
      /^use POST \/messages\/image /,
    );
    expect(await details('POST /messages/media/Voice/')).toMatch(/^use POST \/messages\/voice /);
    expect(await details('POST /messages//media/document')).toMatch(/^use POST \/messages\/document /);
    expect(await details('POST /messages/media/gif')).toMatch(/^use POST \/messages\/\{image, video/);
    expect(await details('POST /messages/other/image')).toBeUndefined();
    await edge.stop();
  });
});
