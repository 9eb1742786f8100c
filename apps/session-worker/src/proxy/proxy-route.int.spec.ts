import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { TestProxy } from '@dormouse/stack/test-proxy';
import { fetch as fetchOverRoute } from 'undici';
import { dial } from './dial.js';
import { ProxyFailed } from './proxy-failure.js';
import { ProxyRoute } from './proxy-route.js';

jest.setTimeout(30_000);

const DEVELOPMENT = { allowLoopback: true };

const failureOf = async (work: Promise<unknown>): Promise<ProxyFailed> => {
  const failure: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof ProxyFailed)) throw new Error('it did not fail in the way of a proxy', { cause: failure });
  return failure;
};

describe('ProxyRoute', () => {
  let proxy: TestProxy;
  let target: Server;
  let port: number;

  beforeAll(async () => {
    target = createServer((_request, response) => response.end('found')).listen(0, '127.0.0.1');
    await once(target, 'listening');
    port = (target.address() as AddressInfo).port;
  });
  afterAll(() => target.close());
  beforeEach(async () => {
    proxy = await TestProxy.start({ names: { 'files.example': '127.0.0.1' } });
  });
  afterEach(() => proxy.stop());

  it('fetches files through the proxy, which looks the name up', async () => {
    const route = new ProxyRoute(proxy.setting(), DEVELOPMENT);
    const answer = await fetchOverRoute(`http://files.example:${port}/x`, { dispatcher: route.files });
    expect(await answer.text()).toBe('found');
    expect(proxy.requested).toEqual([`files.example:${port}`]);
    await route.files.destroy();
  });

  it('looks names up itself for a proxy that does not', async () => {
    const socket = await dial(proxy.setting({ scheme: 'socks5' }), { host: 'localhost', port }, DEVELOPMENT);
    expect(proxy.requested).toEqual([`127.0.0.1:${port}`]);
    socket.destroy();
  });

  it('reports that a proxy refuses: a wrong password, a connection that is not allowed', async () => {
    const wrong = await failureOf(
      dial(proxy.setting({ password: 'another-secret' }), { host: '127.0.0.1', port }, DEVELOPMENT),
    );
    expect(wrong.how).toBe('refused');
    proxy.closed = true;
    const closed = await failureOf(dial(proxy.setting(), { host: '127.0.0.1', port }, DEVELOPMENT));
    expect(closed.how).toBe('refused');
    // A library's own error would contain the request.
    for (const failure of [wrong, closed]) {
      expect([failure.message, failure.stack, JSON.stringify(failure), String(failure.cause)].join()).not.toContain(
        'secret',
      );
    }
  });

  it('reports that a proxy cannot be reached: no listener, no answer, an answer of something else', async () => {
    const destination = { host: '127.0.0.1', port };
    const { port: left } = proxy;
    const quick = { ...DEVELOPMENT, withinMs: 200 };
    proxy.silent = true;
    expect((await failureOf(dial(proxy.setting(), destination, quick))).how).toBe('unreachable');
    await proxy.stop();
    expect((await failureOf(dial(`socks5://user:secret@127.0.0.1:${left}`, destination, quick))).how).toBe(
      'unreachable',
    );
    proxy = await TestProxy.start();
    const other = createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const at = (other.address() as AddressInfo).port;
    expect((await failureOf(dial(`socks5://user:secret@127.0.0.1:${at}`, destination, quick))).how).toBe('unreachable');
    other.close();
  });

  it.each(['127.0.0.1', 'localhost', '127.1', '0x7f000001', '169.254.169.254', '10.0.0.1'])(
    'never connects to a proxy at %s where development does not allow it',
    async (host) => {
      const failure = await failureOf(
        dial(proxy.setting({ host }), { host: '127.0.0.1', port }, { allowLoopback: false, withinMs: 2_000 }),
      );
      expect(failure.message).toContain('not on the public internet');
      expect(proxy.open + proxy.requested.length).toBe(0);
    },
  );

  it('lets nothing through when the setting cannot be read', async () => {
    const failure = await failureOf(dial('socks5://nobody', { host: '127.0.0.1', port }, DEVELOPMENT));
    expect(failure.how).toBe('unreachable');
  });
});
