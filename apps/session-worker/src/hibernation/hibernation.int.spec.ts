import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { FencedError, openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { AuthRows } from '../auth-state/auth-rows.js';
import { networkAuthStates } from '../socket/key-format.js';
import { Curve } from '../socket/test-library.js';
import { Hibernation } from './hibernation.js';

const AFTER_RESTORE = new URL('../../../../infra/postgres/after-restore.sql', import.meta.url);
const masterKeys = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const WAKE_AT_MS = Date.now() + 86_400_000;
const MOVING = ['sender-key', 'sender-key-memory', 'session'];

describe('hibernation', () => {
  let store: TestStore;
  let bucket: TestBucket;
  let database: RegionalDatabase;
  let storage: ObjectStorage;
  let hibernation: Hibernation;
  const before = { fence: { shard: 0, epoch: 1n }, isHeld: () => true };

  beforeAll(async () => {
    [store, bucket] = await Promise.all([createTestDatabase('regional'), createTestBucket()]);
    database = openRegionalDatabase({ url: store.url, applicationName: 'after-restore-spec' });
    storage = new ObjectStorage(bucket);
    hibernation = new Hibernation({ database, storage, masterKeys, packsPreKeys: true, log: silent });
    await database.pool.query("INSERT INTO shard_leases (shard, epoch, owner_id) VALUES (0, 1, 'spec')");
  });

  afterAll(async () => {
    storage.close();
    await bucket.drop();
    await database.close();
    await store.drop();
  });

  const channel = async (id: string): Promise<void> => {
    const directory = new ChannelDirectory({ database, cacheMs: 0 });
    await directory.create({ id, accountId: 'a', name: id, tokenHash: randomBytes(32), shard: 0 });
    const auth = await networkAuthStates(new AuthRows(database), masterKeys).create(before, id);
    await auth.keys.set({
      session: { friend: Buffer.from('ratchet') },
      'sender-key': { group: Buffer.from('chain') },
      'sender-key-memory': { group: { friend: true } },
      'lid-mapping': { '1': 'stays' },
    });
    await auth.saveCreds();
  };

  const typesOf = async (channelId: string): Promise<string[]> => {
    const found = await database.prisma.authKey.findMany({ where: { channelId }, orderBy: { type: 'asc' } });
    return found.map(({ type }) => type);
  };

  const preKey = () => Curve.generateKeyPair();
  const idsOf = (found: Record<string, unknown>): number[] =>
    Object.keys(found)
      .map(Number)
      .sort((a, b) => a - b);
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

  it('pre-keys of a woken session are in one row, are used and made there, and are all there after the next sleep', async () => {
    const id = 'woken';
    const states = networkAuthStates(new AuthRows(database), masterKeys);
    await channel(id);
    const linked = await states.load(before, id);
    const made = Object.fromEntries(upTo(100).map((number) => [`${number}`, preKey()]));
    await linked?.keys.set({ 'pre-key': made });
    await hibernation.seal(before, id, WAKE_AT_MS);
    const opened = await hibernation.restore(before, id);
    expect(await typesOf(id)).toEqual(['lid-mapping', 'packed-state', 'pre-key', ...MOVING]);

    const woken = opened && states.open(before, id, opened);
    const ids = upTo(102).map(String);
    const found = (await woken?.keys.get('pre-key', ids)) ?? {};
    expect(idsOf(found)).toEqual(upTo(100));
    expect(Buffer.from(found['5']?.private ?? []).equals(made['5']?.private ?? Buffer.alloc(1))).toBe(true);
    await woken?.keys.set({ 'pre-key': { '5': null, '100': null, '101': preKey(), '102': preKey() } });
    await woken?.keys.set({ 'pre-key': { '102': null } });
    const left = upTo(101).filter((number) => number !== 5 && number !== 100);
    expect(idsOf((await woken?.keys.get('pre-key', ids)) ?? {})).toEqual(left);
    // Another worker, after a crash of this one.
    expect(idsOf((await (await states.load(before, id))?.keys.get('pre-key', ids)) ?? {})).toEqual(left);

    await hibernation.seal(before, id, WAKE_AT_MS);
    // A worker that keeps a row for each, as those of the last release do.
    await new Hibernation({ database, storage, masterKeys, packsPreKeys: false, log: silent }).restore(before, id);
    expect(await typesOf(id)).not.toContain('packed-state');
    expect(idsOf((await (await states.load(before, id))?.keys.get('pre-key', ids)) ?? {})).toEqual(left);
  });

  it('pre-keys that were made after the wake and removed leave no row, on another worker too', async () => {
    const id = 'long awake';
    const states = networkAuthStates(new AuthRows(database), masterKeys);
    await channel(id);
    const linked = await states.load(before, id);
    await linked?.keys.set({ 'pre-key': Object.fromEntries(upTo(40).map((number) => [`${number}`, preKey()])) });
    await hibernation.seal(before, id, WAKE_AT_MS);
    const opened = await hibernation.restore(before, id);
    const woken = opened && states.open(before, id, opened);
    const rowsOfPreKeys = async (): Promise<string[]> =>
      [...(await new AuthRows(database).readAllKeys(id, 'pre-key')).keys()].sort();
    for (const state of [woken, await states.load(before, id)]) {
      await state?.keys.set({ 'pre-key': { '41': preKey(), '42': preKey() } });
      await state?.keys.set({ 'pre-key': { '5': null, '40': null, '41': null, '42': null } });
      expect(await rowsOfPreKeys()).toEqual(['40', '5']);
      const left = upTo(39).filter((number) => number !== 5);
      expect(idsOf((await state?.keys.get('pre-key', upTo(42).map(String))) ?? {})).toEqual(left);
    }
  });

  it('rows that change while they are sealed stay, and are sealed by the next attempt', async () => {
    const id = 'changing';
    await channel(id);
    const states = networkAuthStates(new AuthRows(database), masterKeys);
    const put = jest.spyOn(storage, 'put').mockImplementationOnce(async (...given) => {
      const written = await storage.put(...given);
      await (await states.load(before, id))?.keys.set({ session: { friend: Buffer.from('next step') } });
      return written;
    });
    await expect(hibernation.seal(before, id, WAKE_AT_MS)).rejects.toThrow('changed while it was put to sleep');
    put.mockRestore();
    await hibernation.seal(before, id, WAKE_AT_MS);
    expect(await typesOf(id)).toEqual([]);
    const opened = await hibernation.restore(before, id);
    const woken = opened && (await states.open(before, id, opened).keys.get('session', ['friend']));
    expect(Buffer.from(woken?.['friend'] ?? []).toString()).toBe('next step');
  });

  it.each([
    ['keys', false],
    ['keys and of credentials', true],
  ])(
    'a number wakes also where a write of %s was committed after its state had moved away, with what was written last',
    async (what, credsToo) => {
      const id = `late ${what}`;
      await channel(id);
      const states = networkAuthStates(new AuthRows(database), masterKeys);
      const late = await states.load(before, id);
      if (!late) throw new Error('not stored');
      await hibernation.seal(before, id, WAKE_AT_MS);
      await late.keys.set({ session: { friend: Buffer.from('late step') }, 'lid-mapping': { '2': 'late' } });
      late.creds.accountSyncCounter = 77;
      if (credsToo) await late.saveCreds();

      expect(await states.load(before, id)).toBeUndefined();
      const opened = await hibernation.restore(before, id);
      const woken = opened && states.open(before, id, opened);
      const reloaded = await states.load(before, id);
      for (const state of [woken, reloaded]) {
        expect(state?.creds.accountSyncCounter).toBe(credsToo ? 77 : 0);
        expect(await state?.keys.get('lid-mapping', ['1', '2'])).toEqual({ '1': 'stays', '2': 'late' });
        const found = await state?.keys.get('session', ['friend']);
        expect(Buffer.from(found?.['friend'] ?? []).toString()).toBe('late step');
      }
      await expect(hibernation.restore(before, id)).rejects.toThrow('has rows already');
      await hibernation.seal(before, id, WAKE_AT_MS);
      expect(await typesOf(id)).toEqual([]);
    },
  );

  it('after a database was restored, keys of conversations are gone, of numbers that are awake and asleep; earlier owners are fenced out; events count on', async () => {
    await channel('awake');
    await channel('asleep');
    await hibernation.seal(before, 'asleep', WAKE_AT_MS);
    await database.pool.query("INSERT INTO event_sequences (channel_id, last_seq) VALUES ('awake', 7)");
    expect(await typesOf('awake')).toEqual(expect.arrayContaining(MOVING));

    for (let times = 0; times < 2; times += 1) await database.pool.query(readFileSync(AFTER_RESTORE, 'utf8'));
    expect(await typesOf('awake')).toEqual(['lid-mapping']);
    await expect(hibernation.restore(before, 'asleep')).rejects.toBeInstanceOf(FencedError);

    const { rows } = await database.pool.query<{ epoch: string }>('SELECT epoch FROM shard_leases');
    const owner = { fence: { shard: 0, epoch: BigInt(rows[0]?.epoch ?? 0) }, isHeld: () => true };
    await hibernation.restore(owner, 'asleep');
    expect(await typesOf('asleep')).toEqual(['lid-mapping']);
    const sequences = await database.pool.query<{ last_seq: string }>('SELECT last_seq FROM event_sequences');
    expect(Number(sequences.rows[0]?.last_seq)).toBeGreaterThan(1_000_000);
  });
});
