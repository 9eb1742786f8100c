import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ChannelDirectory, ChannelSeals, resealChannel } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { AuthRows } from '../auth-state/auth-rows.js';
import { type NetworkAuthStates, networkAuthStates } from '../socket/key-format.js';
import type { MasterKeys } from '../encryption/data-keys.js';
import { Hibernation } from './hibernation.js';
import { MasterKeySweep } from './master-key-sweep.js';

jest.setTimeout(60_000);

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const before: MasterKeys = { currentId: 'old', keys: new Map([['old', OLD]]) };
const during: MasterKeys = {
  currentId: 'new',
  keys: new Map([
    ['old', OLD],
    ['new', NEW],
  ]),
};
const after: MasterKeys = { currentId: 'new', keys: new Map([['new', NEW]]) };
const seals = new ChannelSeals({ currentId: 's1', keys: new Map([['s1', randomBytes(32)]]) });
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const WAKE_AT_MS = Date.now() + 86_400_000;

describe('a change of the master key', () => {
  let store: TestStore;
  let bucket: TestBucket;
  let database: RegionalDatabase;
  let storage: ObjectStorage;
  let rows: AuthRows;
  const owner = { fence: { shard: 0, epoch: 1n }, isHeld: () => true };

  const hibernationWith = (masterKeys: MasterKeys): Hibernation =>
    new Hibernation({ database, storage, masterKeys, packsPreKeys: true, log: silent });
  const statesWith = (masterKeys: MasterKeys): NetworkAuthStates => networkAuthStates(rows, masterKeys);
  const sweepWith = (masterKeys: MasterKeys, held = [owner]): MasterKeySweep => {
    const [states, hibernation] = [statesWith(masterKeys), hibernationWith(masterKeys)];
    return new MasterKeySweep({
      database,
      currentId: masterKeys.currentId,
      held: () => held,
      rewrapRows: (own, id) => states.rewrap(own, id),
      rewrapSnapshots: (own, id) => hibernation.rewrap(own, id),
      currentSettingsId: seals.currentId,
      resealSettings: (id) => resealChannel(database, seals, id),
      perSecond: 1_000,
      everyMs: 60_000,
      log: silent,
    });
  };

  /** A channel with credentials and keys under the old master key, that has slept the given number of times, and sleeps if that is not 0. */
  const channel = async (id: string, { sleeps }: { sleeps: number }): Promise<void> => {
    const directory = new ChannelDirectory({ database, cacheMs: 0 });
    await directory.create({ id, accountId: 'a', name: id, tokenHash: randomBytes(32), shard: 0 });
    const auth = await statesWith(before).create(owner, id);
    await auth.keys.set({ 'lid-mapping': { '1': `mapping of ${id}` } });
    await auth.saveCreds();
    for (let sleep = 1; sleep <= sleeps; sleep += 1) {
      if (sleep > 1) await hibernationWith(before).restore(owner, id);
      await hibernationWith(before).seal(owner, id, WAKE_AT_MS);
    }
  };

  const mappingWith = async (masterKeys: MasterKeys, id: string): Promise<unknown> => {
    const auth = await statesWith(masterKeys).load(owner, id);
    return (await auth?.keys.get('lid-mapping', ['1']))?.['1'];
  };

  const objects = async (id: string): Promise<Map<string, Buffer>> => {
    const found = new Map<string, Buffer>();
    for await (const { key } of storage.list(`sessions/${id}/`)) {
      found.set(key, await buffer((await storage.get(key)).stream));
    }
    return found;
  };

  beforeAll(async () => {
    [store, bucket] = await Promise.all([createTestDatabase('regional'), createTestBucket()]);
    database = openRegionalDatabase({ url: store.url, applicationName: 'master-key-spec' });
    storage = new ObjectStorage(bucket);
    rows = new AuthRows(database);
    await database.pool.query("INSERT INTO shard_leases (shard, epoch, owner_id) VALUES (0, 1, 'spec')");
  });

  beforeEach(() => database.pool.query('DELETE FROM channels'));

  afterAll(async () => {
    storage.close();
    await bucket.drop();
    await database.close();
    await store.drop();
  });

  it('reaches channels that are awake and both generations of those that sleep, which open without the old key', async () => {
    await channel('awake', { sleeps: 0 });
    await channel('asleep', { sleeps: 2 });
    expect(await sweepWith(during).pass()).toEqual({ wrapped: 2, left: 0 });
    expect(await mappingWith(after, 'awake')).toBe('mapping of awake');
    const [newest] = [...(await objects('asleep')).keys()].slice(-1);
    await storage.put(newest ?? '', Buffer.from('broken'));
    await hibernationWith(after).restore(owner, 'asleep');
    expect(await mappingWith(after, 'asleep')).toBe('mapping of asleep');
  });

  it('wakes no session, and has nothing to do a second time', async () => {
    await channel('sleeper', { sleeps: 1 });
    await sweepWith(during).pass();
    const found = await objects('sleeper');
    const { rows: left } = await database.pool.query(
      "SELECT session_state, (SELECT count(*)::int FROM auth_creds WHERE channel_id = 'sleeper') AS hot FROM channels",
    );
    expect(left).toEqual([{ session_state: 'hibernated', hot: 0 }]);
    expect(await sweepWith(during).pass()).toEqual({ wrapped: 0, left: 0 });
    expect(await objects('sleeper')).toEqual(found);
  });

  it('leaves a snapshot alone that was changed meanwhile, and one that does not open', async () => {
    await channel('changed', { sleeps: 1 });
    await channel('damaged', { sleeps: 1 });
    const [damaged] = (await objects('damaged')).keys();
    await storage.put(damaged ?? '', Buffer.from('cut short'));
    const put = storage.put.bind(storage);
    const putting = jest.spyOn(storage, 'put').mockImplementation(async (key, body, options) => {
      await put(key, Buffer.from('another writer')); // after it was read, before it is written
      return put(key, body, options);
    });
    expect(await sweepWith(during).pass()).toEqual({ wrapped: 0, left: 2 });
    putting.mockRestore();
    for (const [id, bytes] of [
      ['changed', 'another writer'],
      ['damaged', 'cut short'],
    ] as const) {
      expect([...(await objects(id)).values()].map(String)).toEqual([bytes]);
    }
  });

  it('writes nothing under an ownership that has ended, and finishes under the next', async () => {
    await channel('moved', { sleeps: 1 });
    const lost = { fence: { shard: 0, epoch: 0n }, isHeld: () => true };
    expect(await sweepWith(during, [lost]).pass()).toEqual({ wrapped: 0, left: 1 });
    expect(await sweepWith(during).pass()).toEqual({ wrapped: 1, left: 0 });
    await hibernationWith(after).restore(owner, 'moved');
    expect(await mappingWith(after, 'moved')).toBe('mapping of moved');
  });

  it('does not stop at a channel that fails, and tries it again in the next pass', async () => {
    await channel('a fails', { sleeps: 1 });
    await channel('b goes', { sleeps: 1 });
    const get = jest.spyOn(storage, 'get').mockRejectedValueOnce(new Error('away'));
    expect(await sweepWith(during).pass()).toEqual({ wrapped: 1, left: 1 });
    get.mockRestore();
    expect(await sweepWith(during).pass()).toEqual({ wrapped: 1, left: 0 });
  });

  it('seals what was stored of settings before there was a key for them', async () => {
    await channel('plain', { sleeps: 0 });
    const proxy = 'socks5://user:proxy-pass@proxy.example:1080';
    await new ChannelDirectory({ database, cacheMs: 0 }).updateSettings('plain', { proxy });
    await sweepWith(before).pass();
    const { rows: stored } = await database.pool.query<{ settings: unknown }>('SELECT settings FROM channels');
    expect(JSON.stringify(stored)).not.toContain('proxy-pass');
    expect((await new ChannelDirectory({ database, seals, cacheMs: 0 }).byId('plain'))?.settings.proxy).toBe(proxy);
    expect(await sweepWith(before).pass()).toEqual({ wrapped: 0, left: 0 });
  });
});
