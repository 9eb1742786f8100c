import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { ChannelChanges, ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { TestProxy } from '@dormouse/stack/test-proxy';
import { librarySocket } from '../socket/test-network.js';
import { ShardLeases } from '@dormouse/database/shards';
import { silenceConsole } from '../socket/patches/silent-console.js';
import { startTestNetwork, type TestNetwork } from '../test-network.js';
import type { OpenSession } from '../socket/open-session.js';
import { silent, soon, TestWorker } from './test-sessions.js';

jest.setTimeout(60_000);

/** A name that only the proxy resolves, to the simulator. */
const NAME = 'network.invalid';

describe('a session with a proxy', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let network: TestNetwork;
  let proxy: TestProxy;
  let worker: TestWorker;
  let directory: ChannelDirectory;
  let changes: ChannelChanges;
  let channelCount = 0;
  let restoreConsole = (): void => undefined;

  const startWorker = async (socketUrl: string, baseMs = 50, answerWithinMs = 20_000): Promise<TestWorker> => {
    worker = new TestWorker(`w${++channelCount}`, database, network, {
      network: { socketUrl, rootKey: network.rootKey, answerWithinMs },
      proxies: { allowLoopback: true, withinMs: 1_000 },
      backoff: { baseMs, maxDelayMs: 2 * baseMs, windowMs: 60_000, maxInWindow: 3 },
    });
    return worker.start();
  };

  beforeAll(async () => {
    restoreConsole = silenceConsole(silent);
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'proxy-spec' });
    await new ShardLeases({ database, workerId: 'setup', ttlMs: 1_000 }).ensureShards(1);
    network = await startTestNetwork();
    directory = new ChannelDirectory({ database });
    const log = new EventEmitter();
    changes = new ChannelChanges({ database, log: { info: () => log.emit('received'), warn: () => undefined } });
    changes.follow({ settingsChanged: (channelId) => worker.sessions.settingsChanged(channelId) });
    changes.start();
    await once(log, 'received');
  });

  beforeEach(async () => {
    proxy = await TestProxy.start({ names: { [NAME]: '127.0.0.1' } });
    await startWorker(network.socketUrl.replace('127.0.0.1', NAME));
  });

  afterEach(async () => {
    await worker.stop();
    await proxy.stop();
    await database.pool.query("UPDATE channels SET linked = false, session_state = 'closed'");
    expect(worker.lines.join('\n')).not.toMatch(/secret|wrong-password/);
  });

  afterAll(async () => {
    await network.stop();
    await changes.close();
    await database.close();
    await store.drop();
    restoreConsole();
  });

  const channelWith = async (setting: string): Promise<string> => {
    const id = `channel-${++channelCount}`;
    await directory.create({ id, accountId: 'a', name: id, tokenHash: randomBytes(32), shard: 0 });
    await set(id, setting);
    return id;
  };

  const set = async (channelId: string, setting: string): Promise<void> => {
    await directory.updateSettings(channelId, { proxy: setting });
    expect(await changes.prove()).toBe(true);
  };

  const link = async (channelId: string): Promise<{ phone: string; session: OpenSession }> => {
    const { code } = await worker.sessions.loginCode(channelId, soon());
    const { phone } = await network.call<{ phone: string }>('POST', '/phones', {});
    await network.call('POST', `/phones/${phone}/scan`, { qr: code });
    await worker.until(() =>
      worker.sockets.some((socket) => socket.channelId === channelId && socket.generation === 2),
    );
    return { phone, session: await worker.sessions.open(channelId, soon()) };
  };

  /** The stored state of the session, once its reason is this one. */
  const resting = async (channelId: string, reason: string): Promise<{ state: string; linked: boolean }> => {
    for (const deadlineMs = soon(); ;) {
      const session = (await directory.refresh(channelId))?.session;
      if (session?.reason === reason) return session;
      if (Date.now() > deadlineMs) throw new Error(`${session?.state} because of ${session?.reason}, not ${reason}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  it('is linked and connects through it alone, and gives it to those that fetch files', async () => {
    const channelId = await channelWith(proxy.setting());
    const { phone, session } = await link(channelId);
    expect(session.fileRoute).toBeDefined();
    // The pairing and the session after it: the name leads to the network at the proxy only.
    expect(proxy.requested.length).toBeGreaterThanOrEqual(2);
    expect(new Set(proxy.requested)).toEqual(new Set([new URL(network.socketUrl).host.replace('127.0.0.1', NAME)]));
    const before = proxy.requested.length;
    await network.call('POST', '/faults', { kind: 'drop', phone, code: 503 });
    await worker.until(() => worker.closesOf(channelId).includes('network_unavailable'));
    await worker.sessions.open(channelId, soon());
    expect(proxy.requested.length).toBe(before + 1);
  });

  it('stays connecting while the proxy is away, without end, and never goes around it', async () => {
    await worker.stop();
    await startWorker(network.socketUrl); // which a session without a proxy would reach
    const channelId = await channelWith(proxy.setting());
    const { port } = proxy;
    const { phone } = await link(channelId);
    await proxy.stop();
    const { opened } = await network.call<{ opened: number }>('GET', '/connections');
    // More often than a session is let try that bothers the network.
    await worker.until(() => worker.closesOf(channelId).filter((name) => name === 'proxy_unreachable').length > 5);
    expect(await resting(channelId, 'proxy_unreachable')).toMatchObject({ state: 'connecting', linked: true });
    await expect(worker.sessions.open(channelId, Date.now() + 300)).rejects.toMatchObject({
      status: 503,
      details: 'reconnecting: the proxy of the settings cannot be reached',
    });
    expect((await network.call<{ opened: number }>('GET', '/connections')).opened).toBe(opened);
    proxy = await TestProxy.start({ port });
    await worker.sessions.open(channelId, soon());
    expect(proxy.requested).toHaveLength(1);
    expect(phone).toBeDefined();
  });

  it('is a lost connection once the network has accepted it and does not answer in time', async () => {
    const mute = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    await worker.stop();
    await startWorker(`ws://${NAME}:${(mute.address() as AddressInfo).port}`, 50, 200);
    const channelId = await channelWith(proxy.setting());
    const code = worker.sessions.loginCode(channelId, soon());
    code.catch(() => undefined); // it is no longer of interest
    await worker.until(() => worker.closesOf(channelId).includes('connection_lost'));
    await worker.stop();
    mute.close();
  });

  it('reports that the proxy refuses a wrong password, and connects as soon as it is the right one', async () => {
    await worker.stop();
    await startWorker(network.socketUrl, 600_000); // nothing is tried again by itself before the end of this
    const channelId = await channelWith(proxy.setting({ password: 'wrong-password' }));
    await expect(worker.sessions.loginCode(channelId, soon())).rejects.toMatchObject({
      status: 503,
      details: 'the proxy of the settings refuses the connection',
    });
    expect(await resting(channelId, 'proxy_refused')).toMatchObject({ state: 'closed', linked: false });
    expect([proxy.rejected, proxy.requested]).toEqual([1, []]);
    await set(channelId, proxy.setting());
    const { phone } = await link(channelId);
    await set(channelId, proxy.setting({ password: 'wrong-password' }));
    await network.call('POST', '/faults', { kind: 'drop', phone, code: 515 });
    expect(await resting(channelId, 'proxy_refused')).toMatchObject({ state: 'connecting', linked: true });
    await set(channelId, proxy.setting());
    await worker.sessions.open(channelId, soon());
  });

  it('connects directly at the next connect once the setting is gone', async () => {
    await worker.stop();
    await startWorker(network.socketUrl);
    const channelId = await channelWith(proxy.setting());
    const { phone, session } = await link(channelId);
    const through = proxy.requested.length;
    await set(channelId, '');
    expect(librarySocket(session).ws.isOpen).toBe(true);
    await network.call('POST', '/faults', { kind: 'drop', phone, code: 503 });
    await worker.until(() => worker.closesOf(channelId).includes('network_unavailable'));
    const direct = await worker.sessions.open(channelId, soon());
    expect(direct.generation).toBeGreaterThan(session.generation);
    expect(direct.fileRoute).toBeUndefined();
    expect(proxy.requested.length).toBe(through);
  });

  it('does not connect to a proxy on a private address where that is not allowed', async () => {
    await worker.stop();
    worker = await new TestWorker(`w${++channelCount}`, database, network).start();
    const channelId = await channelWith(proxy.setting());
    await expect(worker.sessions.loginCode(channelId, soon())).rejects.toMatchObject({
      status: 503,
      details: 'the proxy of the settings cannot be reached',
    });
    expect(proxy.open + proxy.rejected + proxy.requested.length).toBe(0);
  });
});
