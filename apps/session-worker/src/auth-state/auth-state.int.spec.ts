import { randomBytes } from 'node:crypto';
import { FencedError, openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { proto } from '@whiskeysockets/baileys';
import { Curve } from '../socket/test-library.js';
import { AuthRows } from './auth-rows.js';
import { type NetworkAuthState, type NetworkAuthStates, networkAuthStates } from '../socket/key-format.js';
import { UnsealableError } from '../encryption/sealing.js';
import { deferred } from '../socket/deferred.js';

jest.setTimeout(30_000);

const CHANNEL = 'channel-1';

describe('AuthStates', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let states: NetworkAuthStates;
  let epoch = 1n;
  const masterKeys = { currentId: 'k1', keys: new Map([['k1', randomBytes(32)]]) };
  const fence = (): Fence => ({ shard: 0, epoch });
  const owner = () => ({ fence: fence(), isHeld: () => true });

  beforeAll(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'auth-state-spec' });
    await database.pool.query("INSERT INTO shard_leases (shard, owner_id, epoch) VALUES (0, 'w', 1)");
    states = networkAuthStates(new AuthRows(database), masterKeys);
  });

  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  const takeOver = async (): Promise<void> => {
    const { rows } = await database.pool.query<{ epoch: string }>(
      'UPDATE shard_leases SET epoch = epoch + 1 WHERE shard = 0 RETURNING epoch',
    );
    epoch = BigInt(rows[0]?.epoch ?? 0);
  };

  const reload = async (): Promise<NetworkAuthState> => {
    const state = await states.load(owner(), CHANNEL);
    if (!state) throw new Error('not stored');
    return state;
  };

  it('stores nothing of a pairing that was not finished', async () => {
    await states.create(owner(), CHANNEL);
    expect(await states.load(owner(), CHANNEL)).toBeUndefined();
  });

  it('gives credentials back whole after a restart', async () => {
    const state = await states.create(owner(), CHANNEL);
    state.creds.me = { id: '4915100:3@s.whatsapp.net', lid: '77:3@lid' };
    state.creds.routingInfo = Buffer.from('route');
    await state.saveCreds();
    const { creds } = await reload();
    expect(JSON.parse(JSON.stringify(creds))).toEqual(JSON.parse(JSON.stringify(state.creds)));
    expect(Buffer.from(creds.noiseKey.private).equals(state.creds.noiseKey.private)).toBe(true);
  });

  it('stores the newest credentials, however many saves run at once', async () => {
    const state = await reload();
    const saves = [1, 2, 3].map((count) => {
      state.creds.accountSyncCounter = count;
      return state.saveCreds();
    });
    await Promise.all(saves);
    state.creds.accountSyncCounter = 4;
    await state.saveCreds();
    expect((await reload()).creds.accountSyncCounter).toBe(4);
  });

  it('writes credentials that have changed alone, and again after a write whose outcome is not known', async () => {
    let writes = 0;
    let fails = false;
    class CountingRows extends AuthRows {
      override async writeCreds(...given: Parameters<AuthRows['writeCreds']>): Promise<void> {
        writes += 1;
        await super.writeCreds(...given);
        if (fails) throw new Error('the response was lost');
      }
    }
    const state = await networkAuthStates(new CountingRows(database), masterKeys).load(owner(), CHANNEL);
    if (!state) throw new Error('not stored');
    await state.saveCreds();
    expect(writes).toBe(0);
    state.creds.accountSyncCounter = 5;
    await state.saveCreds();
    await state.saveCreds();
    expect([writes, (await reload()).creds.accountSyncCounter]).toEqual([1, 5]);
    fails = true;
    state.creds.accountSyncCounter = 6;
    await expect(state.saveCreds()).rejects.toThrow('lost');
    fails = false;
    state.creds.accountSyncCounter = 5;
    await state.saveCreds();
    expect([writes, (await reload()).creds.accountSyncCounter]).toEqual([3, 5]);
    state.creds.accountSyncCounter = 4;
    await state.saveCreds();
  });

  it('stores, replaces and removes keys of every kind, durable when set resolves', async () => {
    const state = await reload();
    const preKey = Curve.generateKeyPair();
    await state.keys.set({
      'pre-key': { '1': preKey, '2': Curve.generateKeyPair() },
      session: { 'a.1': Buffer.from('record') },
      'lid-mapping': { '49': '77' },
      'device-list': { '49': ['0', '3'] },
      'sender-key-memory': { 'g@g.us': { '77:3@lid': true } },
      'app-state-sync-key': { AAA: { keyData: randomBytes(32), timestamp: 5 } },
    });
    await state.keys.set({ 'pre-key': { '2': null }, session: { 'a.1': Buffer.from('newer'), 'b.1': null } });
    const { keys } = await reload();
    expect(Object.keys(await keys.get('pre-key', ['1', '2', '3']))).toEqual(['1']);
    expect(Buffer.from((await keys.get('pre-key', ['1']))['1']?.private ?? []).equals(preKey.private)).toBe(true);
    expect(Buffer.from((await keys.get('session', ['a.1']))['a.1'] ?? []).toString()).toBe('newer');
    expect(await keys.get('lid-mapping', ['49'])).toEqual({ '49': '77' });
    expect(await keys.get('device-list', ['49'])).toEqual({ '49': ['0', '3'] });
    expect(await keys.get('sender-key-memory', ['g@g.us'])).toEqual({ 'g@g.us': { '77:3@lid': true } });
    const appState = await keys.get('app-state-sync-key', ['AAA']);
    expect(appState['AAA']).toBeInstanceOf(proto.Message.AppStateSyncKeyData);
  });

  it('gives each reader its own copy of a value', async () => {
    const { keys } = await reload();
    const first = await keys.get('device-list', ['49']);
    first['49']?.push('tampered');
    expect(await keys.get('device-list', ['49'])).toEqual({ '49': ['0', '3'] });
    await keys.set({ 'device-list': { '49': ['0', '3', '4'] } });
    expect(await keys.get('device-list', ['49', '50'])).toEqual({ '49': ['0', '3', '4'] });
    await keys.set({ 'device-list': { '49': null } });
    expect(await keys.get('device-list', ['49'])).toEqual({});
  });

  it('retries reads while PostgreSQL is away, for as long as its socket lives', async () => {
    let failures = 1;
    class FailingRows extends AuthRows {
      override async readKeys(channelId: string, type: string, ids: string[]): Promise<Map<string, Buffer>> {
        if (failures-- > 0) throw Object.assign(new Error('shutting down'), { code: '57P01' });
        return super.readKeys(channelId, type, ids);
      }
    }
    const state = await networkAuthStates(new FailingRows(database), masterKeys).load(owner(), CHANNEL);
    const read = await state?.keys.get('session', ['a.1']);
    expect(Buffer.from(read?.['a.1'] ?? []).toString()).toBe('newer');
    await state?.retire();
    failures = 1;
    await expect(state?.keys.get('session', ['b.1'])).rejects.toThrow('shutting down');
  });

  it('stores a whole set of pre-keys in one statement', async () => {
    const state = await reload();
    const keys = Object.fromEntries(Array.from({ length: 812 }, (_, n) => [`${n + 10}`, Curve.generateKeyPair()]));
    await state.keys.set({ 'pre-key': keys });
    expect(Object.keys(await state.keys.get('pre-key', Object.keys(keys)))).toHaveLength(812);
  });

  it('shows nothing of a key in the rows', async () => {
    const { rows } = await database.pool.query<{ sealed: Buffer }>(
      'SELECT sealed FROM auth_keys UNION SELECT sealed FROM auth_creds',
    );
    expect(rows.some(({ sealed }) => sealed.includes('Buffer') || sealed.includes('private'))).toBe(false);
  });

  it('refuses a key row that was tampered with or moved', async () => {
    const state = await reload(); // a fresh one remembers nothing
    await database.pool.query("UPDATE auth_keys SET id = 'moved' WHERE type = 'lid-mapping' AND id = '49'");
    await expect(state.keys.get('lid-mapping', ['moved'])).rejects.toBeInstanceOf(UnsealableError);
    await database.pool.query(
      "UPDATE auth_keys SET sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20)) WHERE id = 'a.1'",
    );
    await expect(state.keys.get('session', ['a.1'])).rejects.toBeInstanceOf(UnsealableError);
  });

  it('refuses credentials that were tampered with, and leaves them as they are', async () => {
    await database.pool.query('UPDATE auth_creds SET sealed = set_byte(sealed, 30, 255 - get_byte(sealed, 30))');
    await expect(states.load(owner(), CHANNEL)).rejects.toBeInstanceOf(UnsealableError);
    await database.pool.query('UPDATE auth_creds SET sealed = set_byte(sealed, 30, 255 - get_byte(sealed, 30))');
    await reload();
  });

  it('does not open under another master key', async () => {
    const foreign = { currentId: 'k1', keys: new Map([['k1', randomBytes(32)]]) };
    await expect(networkAuthStates(new AuthRows(database), foreign).load(owner(), CHANNEL)).rejects.toThrow('data key');
  });

  it('opens under an earlier master key after a newer one has become current', async () => {
    const rotated = { currentId: 'k2', keys: new Map([...masterKeys.keys, ['k2', randomBytes(32)]]) };
    expect(await networkAuthStates(new AuthRows(database), rotated).load(owner(), CHANNEL)).toBeDefined();
  });

  it('refuses every write from an older epoch and changes nothing', async () => {
    const old = await reload();
    const oldOwner = owner();
    await takeOver();
    old.creds.accountSyncCounter = 99;
    await expect(old.saveCreds()).rejects.toBeInstanceOf(FencedError);
    await expect(old.keys.set({ 'lid-mapping': { '1': '2' } })).rejects.toBeInstanceOf(FencedError);
    await expect(states.wipe(oldOwner, CHANNEL)).rejects.toBeInstanceOf(FencedError);
    const state = await reload();
    expect(state.creds.accountSyncCounter).toBe(4);
    expect(await state.keys.get('lid-mapping', ['1'])).toEqual({});
  });

  it('stores the keys of many channels together, and refuses those of an older epoch alone', async () => {
    const rows = new AuthRows(database);
    const newer = fence();
    const older = { ...newer, epoch: newer.epoch - 1n };
    await rows.writeKeys(newer, 'many-1', [{ type: 'session', id: 'gone', sealed: Buffer.from('gone') }]);
    const query = jest.spyOn(database.pool, 'query');
    const write = (owner: Fence, channelId: string, ...removed: string[]) =>
      rows.writeKeys(owner, channelId, [
        { type: 'session', id: 'a', sealed: Buffer.from(`a of ${channelId}`) },
        { type: 'session', id: 'b', sealed: Buffer.from(`b of ${channelId}`) },
        ...removed.map((id) => ({ type: 'session', id, sealed: null })),
      ]);
    const outcomes = await Promise.allSettled([
      write(newer, 'many-0'),
      write(newer, 'many-1', 'gone'),
      write(older, 'many-2'),
      write(newer, 'many-3'),
      write(newer, 'many-4'),
    ]);
    const statements = query.mock.calls.map(
      ([statement]) => Reflect.get(Object(statement) as object, 'name') as unknown,
    );
    query.mockRestore();
    expect(statements).toEqual(['write-auth-keys', 'write-auth-keys-of-many', 'write-auth-keys']);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(outcomes[2]).toMatchObject({ reason: expect.any(FencedError) as unknown });
    for (const channelId of ['many-0', 'many-1', 'many-3', 'many-4']) {
      const stored = await rows.readAllKeys(channelId, 'session');
      expect([...stored].map(([id, sealed]) => `${id}: ${sealed.toString()}`).sort()).toEqual([
        `a: a of ${channelId}`,
        `b: b of ${channelId}`,
      ]);
    }
    expect((await rows.readAllKeys('many-2', 'session')).size).toBe(0);
    for (const channelId of ['many-0', 'many-1', 'many-3', 'many-4']) await rows.wipe(newer, channelId);
  });

  it('writes nothing more for a socket that has ended, except writes that had begun', async () => {
    const state = await reload();
    const begun = state.keys.set({ 'lid-mapping': { '5': '6' } });
    await state.retire();
    await begun;
    await expect(state.keys.set({ 'lid-mapping': { '5': '7' } })).rejects.toThrow('ended');
    await expect(state.saveCreds()).rejects.toThrow('ended');
    expect(await (await reload()).keys.get('lid-mapping', ['5'])).toEqual({ '5': '6' });
  });

  it('has ended for a socket only when no write is under way, however long PostgreSQL is away; none that had begun is lost', async () => {
    const begun = deferred<void>();
    const back = deferred<void>();
    class AwayRows extends AuthRows {
      private isAway = true;
      override async writeKeys(...given: Parameters<AuthRows['writeKeys']>): Promise<void> {
        const [, , [first]] = given;
        if (first?.id === 'before') await back.promise;
        else if (this.isAway) {
          this.isAway = false;
          begun.resolve();
          throw Object.assign(new Error('shutting down'), { code: '57P01' }); // it is tried again after a pause
        }
        await super.writeKeys(...given);
      }
    }
    const state = await networkAuthStates(new AwayRows(database), masterKeys).load(owner(), CHANNEL);
    if (!state) throw new Error('not stored');
    const clock = jest.spyOn(performance, 'now');
    const before = state.keys.set({ 'lid-mapping': { before: 'before' } });
    const retired = state.retire();
    const during = state.keys.set({ 'lid-mapping': { during: 'during' } });
    await begun.promise;
    const nowMs = performance.now();
    clock.mockImplementation(() => nowMs + 60_000);
    back.resolve();
    await retired;
    clock.mockRestore();
    const { keys } = await reload();
    expect(await keys.get('lid-mapping', ['before', 'during'])).toEqual({ before: 'before', during: 'during' });
    await Promise.all([before, during]);
  });

  it('stores credentials that were saved before its socket had ended, also behind a write that takes long', async () => {
    const back = deferred<void>();
    class SlowRows extends AuthRows {
      private isFirst = true;
      override async writeCreds(...given: Parameters<AuthRows['writeCreds']>): Promise<void> {
        if (this.isFirst) {
          this.isFirst = false;
          await back.promise;
        }
        await super.writeCreds(...given);
      }
    }
    const state = await networkAuthStates(new SlowRows(database), masterKeys).load(owner(), CHANNEL);
    if (!state) throw new Error('not stored');
    const save = (count: number): Promise<void> => {
      state.creds.accountSyncCounter = count;
      return state.saveCreds();
    };
    const first = save(21);
    const retired = state.retire();
    const second = save(22);
    back.resolve();
    await Promise.all([first, second, retired]);
    expect((await reload()).creds.accountSyncCounter).toBe(22);
  });

  it('leaves nothing after a wipe', async () => {
    await states.wipe(owner(), CHANNEL);
    expect(await states.load(owner(), CHANNEL)).toBeUndefined();
    const { rows } = await database.pool.query<{ count: string }>(
      'SELECT (SELECT count(*) FROM auth_keys) + (SELECT count(*) FROM auth_creds) + (SELECT count(*) FROM channel_keys) AS count',
    );
    expect(rows[0]?.count).toBe('0');
  });
});
