import { randomBytes } from 'node:crypto';
import { ChannelDirectory, type ChannelRecord } from '@dormouse/channel-directory';
import { openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import type { WAMessage } from '@whiskeysockets/baileys';
import { librarySocket } from '../socket/test-network.js';
import { AuthRows, type KeyWrite } from '../auth-state/auth-rows.js';
import { JOURNAL } from '../auth-state/auth-state.js';
import { networkAuthStates } from '../socket/key-format.js';
import { ShardLeases } from '@dormouse/database/shards';
import { startTestNetwork, type TestNetwork } from '../test-network.js';
import { silenceConsole } from '../socket/patches/silent-console.js';
import { deferred, endsWithin } from '../socket/deferred.js';
import type { OpenSession } from '../socket/open-session.js';
import type { SessionsOptions } from './create-sessions.js';
import { MASTER_KEYS, silent, soon, TestWorker } from './test-sessions.js';

jest.setTimeout(60_000);

/** Rows that are slow to take credentials. */
class SlowRows extends AuthRows {
  override async writeCreds(fence: Fence, channelId: string, sealed: Buffer): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await super.writeCreds(fence, channelId, sealed);
  }
}

/** Rows under which a send and the decryption of a first message cross, if they may run side by side. */
class CrossedRows extends AuthRows {
  private readonly sending = deferred<void>();
  private readonly decrypted = deferred<void>();

  override async readKeys(channelId: string, type: string, ids: string[]): Promise<Map<string, Buffer>> {
    if (type === 'identity-key') await endsWithin(500, this.sending.promise);
    return super.readKeys(channelId, type, ids);
  }

  override async writeKeys(fence: Fence, channelId: string, writes: KeyWrite[]): Promise<void> {
    const types = new Set(writes.map(({ type }) => type));
    if (types.has('session') && !types.has(JOURNAL)) {
      this.sending.resolve();
      await endsWithin(500, this.decrypted.promise);
    }
    await super.writeKeys(fence, channelId, writes);
    if (types.has('session') && types.has(JOURNAL)) this.decrypted.resolve();
  }
}

const textOf = ({ message }: WAMessage): string | null | undefined =>
  message?.conversation ?? message?.extendedTextMessage?.text;

describe('Sessions', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let network: TestNetwork;
  let worker: TestWorker;
  const workers: TestWorker[] = [];
  let channelCount = 0;

  const startWorker = async (options: Partial<SessionsOptions> = {}): Promise<TestWorker> => {
    const started = new TestWorker(`w${workers.length}`, database, network, options);
    workers.push(started);
    return started.start();
  };

  let restoreConsole = (): void => undefined;

  beforeAll(async () => {
    restoreConsole = silenceConsole(silent);
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'sessions-spec' });
    await new ShardLeases({ database, workerId: 'setup', ttlMs: 1_000 }).ensureShards(1);
    network = await startTestNetwork();
  });

  beforeEach(async () => {
    worker = await startWorker();
  });

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((one) => one.stop()));
    const { overlaps } = await network.call<{ overlaps: number }>('GET', '/connections');
    expect(overlaps).toBe(0);
  });

  afterAll(async () => {
    await network.stop();
    await database.close();
    await store.drop();
    restoreConsole();
  });

  const newChannel = async (): Promise<string> => {
    const id = `channel-${++channelCount}`;
    await worker.directory.create({ id, accountId: 'a', name: id, tokenHash: randomBytes(32), shard: 0 });
    return id;
  };

  const record = async (channelId: string): Promise<ChannelRecord> => {
    const found = await new ChannelDirectory({ database }).byId(channelId);
    if (!found) throw new Error('no channel');
    return found;
  };

  /** The stored session, once it is in this state; states are written in the background. */
  const stored = async (channelId: string, state: string): Promise<ChannelRecord['session']> => {
    const deadlineMs = soon();
    for (;;) {
      const { session } = await record(channelId);
      if (session.state === state || Date.now() > deadlineMs) return session;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
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

  const receives = async (channelId: string, phone: string, text: string, by = worker): Promise<void> => {
    const other = await network.call<{ phone: string }>('POST', '/phones', {});
    await network.call('POST', `/phones/${other.phone}/messages`, { to: phone, text });
    await by.until(() => by.received.some((message) => textOf(message) === text));
  };

  it('links a channel by its code, and stores its identity', async () => {
    const channelId = await newChannel();
    const { phone, session } = await link(channelId);
    expect(session.identity).toMatchObject({ phone, deviceId: expect.any(Number) as number });
    expect(await stored(channelId, 'open')).toMatchObject({ state: 'open', linked: true, phone, reason: null });
    await receives(channelId, phone, 'hello');
  });

  it('confirms the link to the phone only once credentials and link are stored', async () => {
    await worker.stop();
    workers.splice(workers.indexOf(worker), 1);
    worker = await startWorker({ authStates: networkAuthStates(new SlowRows(database), MASTER_KEYS) });
    const channelId = await newChannel();
    const { code } = await worker.sessions.loginCode(channelId, soon());
    const { phone } = await network.call<{ phone: string }>('POST', '/phones', {});
    await network.call('POST', `/phones/${phone}/scan`, { qr: code });
    expect(await database.prisma.authCreds.count({ where: { channelId } })).toBe(1);
    expect((await record(channelId)).session).toMatchObject({ linked: true, phone });
  });

  it('receives all that the phone sends to a new device, also when something is sent in the same moment', async () => {
    await worker.stop();
    workers.splice(workers.indexOf(worker), 1);
    worker = await startWorker({ authStates: networkAuthStates(new CrossedRows(database), MASTER_KEYS) });
    const { session } = await link(await newChannel());
    const { phone: ada } = await network.call<{ phone: string }>('POST', '/phones', {});
    const { ev, authState } = librarySocket(session);
    const isSetUp = deferred<void>();
    ev.on('creds.update', ({ accountSyncCounter = 0 }) => {
      if (accountSyncCounter > 0) isSetUp.resolve();
    });
    await librarySocket(session).sendMessage(`${ada}@s.whatsapp.net`, { text: 'hello' });
    if (authState.creds.accountSyncCounter === 0) await endsWithin(15_000, isSetUp.promise);
    expect(authState.creds.accountSyncCounter).toBe(1);
  });

  it('loses nothing of a backlog in whose middle it ends again and again', async () => {
    const channelId = await newChannel();
    const { phone } = await link(channelId);
    const stop = async (): Promise<void> => {
      await worker.stop();
      workers.splice(workers.indexOf(worker), 1);
    };
    await stop();
    const friends = await Promise.all([1, 2, 3].map(() => network.call<{ phone: string }>('POST', '/phones', {})));
    const texts = Array.from({ length: 60 }, (_, n) => `backlog ${n}`);
    for (const [n, text] of texts.entries()) {
      await network.call('POST', `/phones/${friends[n % 3]?.phone}/messages`, { to: phone, text });
    }
    const received = new Set<string | null | undefined>();
    for (let round = 1; round <= 8 && received.size < texts.length; round++) {
      worker = await startWorker();
      const { received: inRound } = worker;
      const backlog = (): (string | null | undefined)[] =>
        inRound.map(textOf).filter((text) => text?.startsWith('backlog'));
      const wanted = round === 8 ? texts.length - received.size : 1;
      await worker.until(() => backlog().length >= wanted);
      await stop();
      for (const text of backlog()) received.add(text);
    }
    expect([...received].sort()).toEqual([...texts].sort());
    worker = await startWorker();
  });

  it('shares one pairing among the callers who request the code, and refuses a code once linked', async () => {
    const channelId = await newChannel();
    const codes = await Promise.all([1, 2, 3].map(() => worker.sessions.loginCode(channelId, soon())));
    expect(new Set(codes.map(({ code }) => code)).size).toBe(1);
    expect((await stored(channelId, 'qr')).state).toBe('qr');
    await link(channelId);
    await expect(worker.sessions.loginCode(channelId, soon())).rejects.toMatchObject({ status: 403 });
  });

  it('opens one socket for a pairing that the network refuses, however often a code is requested', async () => {
    await worker.stop();
    workers.splice(workers.indexOf(worker), 1);
    worker = await startWorker({ backoff: { baseMs: 60_000, maxDelayMs: 60_000, windowMs: 600_000, maxInWindow: 6 } });
    const refusedId = await newChannel();
    const { id } = await network.call<{ id: string }>('POST', '/faults', { kind: 'refuse-connection', count: 50 });
    for (let request = 0; request < 5; request += 1) {
      await expect(worker.sessions.loginCode(refusedId, soon())).rejects.toMatchObject({
        status: 503,
        details: expect.stringContaining('network_unavailable') as string,
        retryAfterS: expect.any(Number) as number,
      });
    }
    await network.call('DELETE', `/faults/${id}`);
    const cutId = await newChannel();
    const { code } = await worker.sessions.loginCode(cutId, soon());
    expect((await worker.sessions.loginCode(cutId, soon())).code).toBe(code);
    const cut = worker.sockets.find(({ channelId }) => channelId === cutId);
    if (cut) await librarySocket(cut).ws.close();
    await worker.until(() => worker.closesOf(cutId).length > 0);
    for (let request = 0; request < 5; request += 1) {
      await expect(worker.sessions.loginCode(cutId, soon())).rejects.toMatchObject({ status: 503 });
    }
    const opened = worker.sockets.filter(({ channelId }) => [refusedId, cutId].includes(channelId));
    expect(opened.map(({ channelId }) => channelId)).toEqual([refusedId, cutId]);
  });

  it('has no socket for a channel that is not linked: 503 with what to do', async () => {
    const channelId = await newChannel();
    await expect(worker.sessions.open(channelId, soon())).rejects.toMatchObject({
      status: 503,
      details: expect.stringContaining('GET /users/login/image') as string,
    });
    expect(worker.sessions.countByState().get('closed')).toBeUndefined();
  });

  it("reports the network's ack of a message", async () => {
    const channelId = await newChannel();
    const { session } = await link(channelId);
    const other = await network.call<{ phone: string }>('POST', '/phones', {});
    const send = (messageId: string) =>
      librarySocket(session).sendMessage(`${other.phone}@s.whatsapp.net`, { text: 'hi' }, { messageId });
    const accepted = session.expectAck('3EB0AAAAAAAAAAAAAAA1', Promise.resolve());
    await send('3EB0AAAAAAAAAAAAAAA1');
    expect(await accepted).toEqual({ timestampS: expect.any(Number) as number });
    await network.call('POST', '/faults', { kind: 'refuse-send', code: 463, count: 1 });
    const refused = session.expectAck('3EB0AAAAAAAAAAAAAAA2', Promise.resolve());
    await send('3EB0AAAAAAAAAAAAAAA2');
    expect(await refused).toMatchObject({ error: '463' });
  });

  it('sends no ciphertext to the network before the work that holds it is done, and never if that fails', async () => {
    const channelId = await newChannel();
    const { session } = await link(channelId);
    const other = await network.call<{ phone: string }>('POST', '/phones', {});
    const send = (text: string) => librarySocket(session).sendMessage(`${other.phone}@s.whatsapp.net`, { text });
    const received = async () =>
      (await network.call<{ text?: string }[]>('GET', `/phones/${other.phone}/messages`)).map(({ text }) => text);
    await send('opens the session');
    const work = deferred<void>();
    const release = session.holdCiphertext(work.promise);
    const held = send('held');
    // Queries pass, and by the time that so many are answered the message would have been received.
    const query = { tag: 'iq', attrs: { to: '@s.whatsapp.net', type: 'get', xmlns: 'w:p' } };
    for (let count = 0; count < 20; count += 1) await librarySocket(session).query(query);
    expect(await received()).toEqual(['opens the session']);
    work.resolve();
    await held;
    release();
    const end = session.holdCiphertext(Promise.reject(new Error('no room')));
    await expect(send('never')).rejects.toThrow();
    end();
    await send('last');
    while (!(await received()).includes('last'));
    expect(await received()).toEqual(['opens the session', 'held', 'last']);
  });

  it('opens again without a scan under the next worker, and receives what arrived meanwhile', async () => {
    const channelId = await newChannel();
    const { phone } = await link(channelId);
    await worker.stop();
    workers.splice(workers.indexOf(worker), 1);
    expect((await record(channelId)).session).toMatchObject({
      state: 'connecting',
      reason: 'redeploying',
      linked: true,
    });
    const other = await network.call<{ phone: string }>('POST', '/phones', {});
    await network.call('POST', `/phones/${other.phone}/messages`, { to: phone, text: 'while away' });
    worker = await startWorker();
    await worker.until(() => worker.received.some((message) => textOf(message) === 'while away'));
    expect(await stored(channelId, 'open')).toMatchObject({ state: 'open', reason: null });
  });

  it('connects again when the stream drops', async () => {
    const channelId = await newChannel();
    const { phone } = await link(channelId);
    for (const [code, reason] of Object.entries({ 503: 'network_unavailable', 515: 'restart_required' })) {
      await network.call('POST', '/faults', { kind: 'drop', phone, code: Number(code) });
      await worker.until(() => worker.closesOf(channelId).at(-1) === reason);
      await worker.sessions.open(channelId, soon());
    }
    await receives(channelId, phone, 'after the drop');
  });

  it('notices that it was unlinked on the phone, and keeps nothing', async () => {
    const channelId = await newChannel();
    const { phone, session } = await link(channelId);
    await network.call('DELETE', `/phones/${phone}/devices/${session.identity.deviceId}`);
    expect(await stored(channelId, 'closed')).toMatchObject({ linked: false, reason: 'unlinked', phone: null });
    const left = await database.prisma.authKey.count({ where: { channelId } });
    expect(left + (await database.prisma.authCreds.count({ where: { channelId } }))).toBe(0);
    await link(channelId);
  });

  it('logs out: the phone lists the device no more, nothing is kept, and it may be linked again', async () => {
    const channelId = await newChannel();
    const { phone } = await link(channelId);
    await worker.sessions.logout(channelId);
    expect((await record(channelId)).session).toMatchObject({
      state: 'closed',
      linked: false,
      reason: null,
      phone: null,
    });
    const { devices } = await network.call<{ devices: unknown[] }>('GET', `/phones/${phone}`);
    expect(devices).toEqual([]);
    await worker.sessions.logout(channelId);
    await link(channelId);
  });

  it('gives way when another holder of the device replaces it, and stays linked', async () => {
    const channelId = await newChannel();
    const { phone } = await link(channelId);
    await network.call('POST', '/faults', { kind: 'drop', phone, conflict: 'replaced' });
    await worker.until(() => worker.closesOf(channelId).includes('replaced'));
    expect(await stored(channelId, 'connecting')).toMatchObject({ reason: 'replaced', linked: true });
    await expect(worker.sessions.open(channelId, Date.now() + 1_000)).rejects.toMatchObject({ status: 503 });
  });

  it('rests in a reported state once its attempts are used up', async () => {
    const channelId = await newChannel();
    const { phone } = await link(channelId);
    await network.call('POST', '/faults', {
      kind: 'refuse-connection',
      phone,
      code: 503,
      count: 20,
    });
    await network.call('POST', '/faults', { kind: 'drop', phone, code: 503 });
    expect(await stored(channelId, 'closed')).toMatchObject({ reason: 'unreachable', linked: true });
  });

  it('never tries again after a ban, not even under the next worker', async () => {
    const channelId = await newChannel();
    const { phone } = await link(channelId);
    await network.call('POST', '/faults', {
      kind: 'refuse-connection',
      phone,
      code: 403,
      count: 20,
    });
    await network.call('POST', '/faults', { kind: 'drop', phone, code: 503 });
    expect(await stored(channelId, 'closed')).toMatchObject({ reason: 'locked', linked: true });
    await worker.stop();
    workers.splice(workers.indexOf(worker), 1);
    worker = await startWorker();
    await expect(worker.sessions.open(channelId, soon())).rejects.toMatchObject({ status: 503 });
    expect(worker.sockets.filter((socket) => socket.channelId === channelId)).toEqual([]);
  });

  it('refuses a network whose certificate another root key signed', async () => {
    await worker.stop();
    workers.splice(workers.indexOf(worker), 1);
    const wrong = { socketUrl: network.socketUrl, rootKey: randomBytes(32) };
    worker = await startWorker({ network: wrong });
    const channelId = await newChannel();
    await expect(worker.sessions.loginCode(channelId, soon())).rejects.toMatchObject({ status: 503 });
    expect(worker.closesOf(channelId)).toContain('server_refused');
  });

  it('refuses to write once another owner has the shard, and closes every socket of it', async () => {
    const channelId = await newChannel();
    const { session } = await link(channelId);
    await database.pool.query("UPDATE shard_leases SET owner_id = 'x', epoch = epoch + 1 WHERE shard = 0");
    const write = Promise.resolve(librarySocket(session).authState.keys.set({ 'lid-mapping': { '1': '2' } }));
    await write.catch((error: unknown) => session.reportFault(error));
    await expect(worker.sessions.open(channelId, Date.now() + 500)).rejects.toMatchObject({ status: 503 });
    expect(librarySocket(session).ws.isOpen).toBe(false);
    await database.pool.query('UPDATE shard_leases SET owner_id = NULL, expires_at = NULL WHERE shard = 0');
  });
});
