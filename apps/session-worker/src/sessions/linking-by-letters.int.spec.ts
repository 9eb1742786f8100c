import { randomBytes } from 'node:crypto';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { ShardLeases } from '@dormouse/database/shards';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { silenceConsole } from '../socket/patches/silent-console.js';
import { startTestNetwork, type TestNetwork } from '../test-network.js';
import { silent, soon, TestWorker } from './test-sessions.js';

jest.setTimeout(60_000);

describe('linking by eight letters', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let network: TestNetwork;
  let worker: TestWorker;
  let channelCount = 0;
  let restoreConsole = (): void => undefined;

  beforeAll(async () => {
    restoreConsole = silenceConsole(silent);
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'letters-spec' });
    await new ShardLeases({ database, workerId: 'setup', ttlMs: 1_000 }).ensureShards(1);
    network = await startTestNetwork();
    worker = await new TestWorker('w', database, network).start();
  });
  afterAll(async () => {
    await worker.stop();
    await network.stop();
    await database.close();
    await store.drop();
    restoreConsole();
  });

  const newChannel = async (): Promise<string> => {
    const id = `letters-${++channelCount}`;
    await worker.directory.create({ id, accountId: 'a', name: id, tokenHash: randomBytes(32), shard: 0 });
    return id;
  };
  const newPhone = async (): Promise<string> => (await network.call<{ phone: string }>('POST', '/phones', {})).phone;
  const enter = (phone: string, code: string): Promise<unknown> =>
    network.call('POST', `/phones/${phone}/link-code`, { code });
  const sessionOf = async (channelId: string) => (await new ChannelDirectory({ database }).byId(channelId))?.session;

  it('links the number whose phone they are entered on', async () => {
    const [id, phone] = [await newChannel(), await newPhone()];
    const { code } = await worker.sessions.phoneCode(id, phone, soon());
    expect(code).toMatch(/^[1-9A-HJ-NP-Z]{8}$/);
    await enter(phone, code);
    await worker.until(() => worker.sockets.some((one) => one.channelId === id && one.generation === 2));
    await worker.sessions.open(id, soon());
    expect(await sessionOf(id)).toMatchObject({ linked: true, phone });
  });

  it('stay the same until they expire, beside codes to scan, and either kind links', async () => {
    const [id, phone] = [await newChannel(), await newPhone()];
    const scan = await worker.sessions.loginCode(id, soon());
    const letters = await Promise.all([1, 2, 3].map(() => worker.sessions.phoneCode(id, phone, soon())));
    expect(new Set(letters.map(({ code }) => code)).size).toBe(1);
    expect(letters[0]?.expiresAtMs).toBeGreaterThan(scan.expiresAtMs);
    expect(await worker.sessions.loginCode(id, soon())).toEqual(scan);
    expect(worker.sockets.filter(({ channelId }) => channelId === id)).toHaveLength(1);
    await network.call('POST', `/phones/${phone}/scan`, { qr: scan.code });
    await worker.sessions.open(id, soon());
    expect(await sessionOf(id)).toMatchObject({ linked: true, phone });
    await expect(worker.sessions.phoneCode(id, phone, soon())).rejects.toMatchObject({ status: 403 });
  });

  it('for another number replace them', async () => {
    const [id, phone, other] = [await newChannel(), await newPhone(), await newPhone()];
    const first = await worker.sessions.phoneCode(id, phone, soon());
    const second = await worker.sessions.phoneCode(id, other, soon());
    expect(second.code).not.toBe(first.code);
    await enter(other, second.code);
    await worker.sessions.open(id, soon());
    expect(await sessionOf(id)).toMatchObject({ linked: true, phone: other });
  });

  it('are refused for a number that the network does not know: 400 that names it, and codes to scan go on', async () => {
    const id = await newChannel();
    await expect(worker.sessions.phoneCode(id, '4915100000000', soon())).rejects.toMatchObject({
      status: 400,
      details: expect.stringContaining('phone: ') as string,
    });
    const phone = await newPhone();
    await network.call('POST', `/phones/${phone}/scan`, { qr: (await worker.sessions.loginCode(id, soon())).code });
    await worker.sessions.open(id, soon());
    expect(await sessionOf(id)).toMatchObject({ linked: true, phone });
  });

  it('that nobody entered leave nothing behind', async () => {
    const [id, phone] = [await newChannel(), await newPhone()];
    await worker.sessions.phoneCode(id, phone, soon());
    const stored = () => database.prisma.authCreds.count({ where: { channelId: id } });
    expect(await stored()).toBe(0);
    await worker.sessions.logout(id);
    expect(await stored()).toBe(0);
    expect(await sessionOf(id)).toMatchObject({ linked: false, state: 'closed', phone: null });
  });

  it('come, like codes to scan, once their state is stored: a log-out right after one finds the pairing', async () => {
    const id = await newChannel();
    const locked = await database.pool.connect();
    await locked.query('BEGIN');
    await locked.query('SELECT 1 FROM channels WHERE id = $1 FOR UPDATE', [id]);
    let isGiven = false;
    const code = worker.sessions.loginCode(id, soon()).finally(() => (isGiven = true));
    // The network has offered one for it, too, by the time that it has for a channel that came later.
    const other = await newChannel();
    await worker.sessions.loginCode(other, soon());
    expect(isGiven).toBe(false);
    await locked.query('COMMIT');
    locked.release();
    await code;
    expect(await sessionOf(id)).toMatchObject({ state: 'qr' });
    for (const each of [id, other]) await worker.sessions.logout(each);
  });
});
