import { randomBytes, randomInt } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { FaultProxy, type ConnectionFilter } from '@dormouse/stack/test-fault-proxy';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { ChannelChanges } from './channel-changes.js';
import { ChannelDirectory } from './channel-directory.js';
import { poolerInTransactionMode } from './test-pooler.js';

const url = process.env.TEST_REGIONAL_DATABASE_URL ?? '';

describe('A channel directory that is notified of changes', () => {
  /** One connection: what is sent first is answered first. */
  const open = (to = url) =>
    openRegionalDatabase({ url: to, applicationName: 'channel-changes-spec', maxConnections: 1 });
  /** Far from the shards other specs use. */
  const shard = randomInt(1_000_000, 2_000_000_000);
  let database: RegionalDatabase;
  /** Another process. */
  let elsewhere: ChannelDirectory;
  let otherDatabase: RegionalDatabase;
  let nowMs: number;
  let ends: (() => unknown)[];

  const create = async () => {
    const tokenHash = randomBytes(32);
    const id = `CH-${randomBytes(6).toString('hex')}`;
    await elsewhere.create({ id, accountId: 'account', name: 'Shop', tokenHash, shard });
    return { id, tokenHash };
  };
  interface Connections {
    /** Where the directory reads, and proofs are sent. */
    reads?: RegionalDatabase;
    /** Where it listens for changes. */
    listensOn?: Pick<RegionalDatabase, 'listen'>;
  }
  const directoryOf = ({ reads = database, listensOn = reads }: Connections = {}) => {
    const log = new EventEmitter();
    const listens = new EventEmitter();
    const changes = new ChannelChanges({
      database: { pool: reads.pool, listen: (options) => listensOn.listen(options) },
      log: { info: () => log.emit('received'), warn: (details) => log.emit('lost', details) },
      now: () => nowMs,
    });
    changes.follow({ missed: () => listens.emit('anew') });
    ends.push(() => changes.close());
    const directory = new ChannelDirectory({ database: reads, changes, now: () => nowMs });
    return { changes, directory, log, listens };
  };
  const listeningDirectory = async (of: Connections = {}) => {
    const made = directoryOf(of);
    const received = once(made.log, 'received');
    made.changes.start();
    await received;
    return made;
  };
  const by = async (newFilter?: () => ConnectionFilter) => {
    const proxy = await FaultProxy.to(url, newFilter);
    const reached = open(proxy.url);
    ends.push(() => proxy.close());
    ends.push(() => reached.close());
    return { proxy, reached };
  };
  const lookUps = () => {
    const query = jest.spyOn(database.pool, 'query');
    ends.push(() => query.mockRestore());
    return () => query.mock.calls.filter(([query]) => /channel-by-/.test(JSON.stringify(query))).length;
  };

  beforeAll(() => {
    database = open();
    otherDatabase = open();
    elsewhere = new ChannelDirectory({ database: otherDatabase, cacheMs: 0 });
  });
  afterAll(() => Promise.all([database.close(), otherDatabase.close()]));
  beforeEach(() => {
    nowMs = Date.now();
    ends = [];
  });
  afterEach(async () => {
    for (const end of ends.toReversed()) await end();
  });

  it('queries nothing again, however much later', async () => {
    const { id, tokenHash } = await create();
    const { changes, directory } = await listeningDirectory();
    const queries = lookUps();
    await directory.byTokenHash(tokenHash);
    await directory.byId(id);
    for (let minute = 1; minute <= 5; minute += 1) {
      nowMs += 60_000;
      await changes.prove();
      expect((await directory.byTokenHash(tokenHash))?.id).toBe(id);
      expect((await directory.byId(id))?.id).toBe(id);
    }
    expect(queries()).toBe(2);
  });

  it('sees changes of another process as soon as it is notified, and queries no other channel again', async () => {
    const [rotated, renamed, other] = [await create(), await create(), await create()];
    const { changes, directory } = await listeningDirectory();
    const queries = lookUps();
    const all = () =>
      Promise.all([rotated, renamed, other].map(async ({ tokenHash }) => directory.byTokenHash(tokenHash)));
    await all();
    await directory.byId(renamed.id);
    await elsewhere.rotateToken(rotated.id, randomBytes(32), 1n);
    await elsewhere.updateSettings(renamed.id, { auto_read: true });
    expect(await changes.prove()).toBe(true);
    expect((await all()).map((found) => found?.settings.auto_read)).toEqual([undefined, true, false]);
    expect((await directory.byId(renamed.id))?.settings.auto_read).toBe(true);
    expect(queries()).toBe(4 + 3);
    await elsewhere.markDeleted(other.id);
    await changes.prove();
    expect(await directory.byTokenHash(other.tokenHash)).toBeUndefined();
  });

  it('notifies of changed settings, and of nothing else, once its records are new', async () => {
    const { id } = await create();
    const { changes, directory } = await listeningDirectory();
    await directory.byId(id);
    const seen: Promise<boolean | undefined>[] = [];
    const read = async () => (await directory.byId(id))?.settings.auto_read;
    changes.follow({ settingsChanged: (changed) => changed === id && seen.push(read()) });
    await elsewhere.rotateToken(id, randomBytes(32), 1n);
    await elsewhere.updateSettings(id, { auto_read: true });
    await elsewhere.updateSettings(id, { auto_read: true });
    await changes.prove();
    expect(await Promise.all(seen)).toEqual([true]);
  });

  it('finds a new channel and a new token at once', async () => {
    const { directory } = await listeningDirectory();
    const renewed = randomBytes(32);
    expect(await directory.byTokenHash(renewed)).toBeUndefined();
    const { id } = await create();
    await elsewhere.rotateToken(id, renewed, 1n);
    expect((await directory.byTokenHash(renewed))?.id).toBe(id);
  });

  it('refuses a rotated token within 2 s when its connection is silent, and receives changes on another one then', async () => {
    const { id, tokenHash } = await create();
    const { proxy, reached } = await by();
    const { changes, directory, log } = await listeningDirectory({ listensOn: reached });
    await directory.byTokenHash(tokenHash);
    proxy.silence();
    await elsewhere.rotateToken(id, randomBytes(32), 1n);
    const proof = changes.prove();
    expect((await directory.byTokenHash(tokenHash))?.id).toBe(id);
    nowMs += 1_001;
    expect(await directory.byTokenHash(tokenHash)).toBeUndefined();
    const received = once(log, 'received');
    nowMs += 2_001;
    expect(await proof).toBe(false);
    await received;
    expect(await changes.prove()).toBe(true);
  });

  it('uses no record from before when it listens again: changes in between were not notified', async () => {
    const { id, tokenHash } = await create();
    const { proxy, reached } = await by();
    const { changes, directory, log } = await listeningDirectory({ listensOn: reached });
    await directory.byTokenHash(tokenHash);
    await directory.byId(id);
    const lost = once(log, 'lost');
    proxy.refuse();
    await lost;
    expect(changes.notifiedUntilMs).toBeUndefined();
    await elsewhere.rotateToken(id, randomBytes(32), 1n);
    await elsewhere.updateSettings(id, { auto_read: true });
    const received = once(log, 'received');
    proxy.restore();
    await received;
    expect(await directory.byTokenHash(tokenHash)).toBeUndefined();
    expect((await directory.byId(id))?.settings.auto_read).toBe(true);
  });

  it('uses a record for no longer than a second while it is not notified', async () => {
    const { id, tokenHash } = await create();
    const { proxy, reached } = await by();
    const { directory, log } = await listeningDirectory({ listensOn: reached });
    const lost = once(log, 'lost');
    proxy.refuse();
    await lost;
    await directory.byTokenHash(tokenHash);
    await elsewhere.markDeleted(id);
    nowMs += 1_001;
    expect(await directory.byTokenHash(tokenHash)).toBeUndefined();
  });

  it.each(['byTokenHash', 'byId'] as const)(
    'does not cache a record that was read before a change and arrived after its notification (%s)',
    async (lookUp) => {
      const { id, tokenHash } = await create();
      const { proxy, reached } = await by();
      const { changes } = await listeningDirectory();
      const directory = new ChannelDirectory({ database: reached, changes, now: () => nowMs });
      const find = () => (lookUp === 'byId' ? directory.byId(id) : directory.byTokenHash(tokenHash));
      await reached.pool.query('SELECT 1'); // connected
      const held = proxy.holdAnswers();
      const found = find();
      await held;
      await elsewhere.markDeleted(id);
      expect(await changes.prove()).toBe(true);
      proxy.restore();
      expect(await found).toMatchObject({ id, deleted: false });
      const again = await find();
      expect(again?.deleted).toBe(lookUp === 'byId' ? true : undefined);
    },
  );

  it('goes on querying every second behind a pooler in transaction mode, where nothing fails and nothing is received', async () => {
    const { id, tokenHash } = await create();
    const { reached } = await by(poolerInTransactionMode);
    const { changes, directory, listens } = directoryOf({ listensOn: reached });
    const listening = once(listens, 'anew');
    changes.start();
    await listening;
    await directory.byTokenHash(tokenHash);
    const proof = changes.prove();
    await elsewhere.rotateToken(id, randomBytes(32), 1n);
    await database.pool.query('SELECT 1');
    expect(changes.notifiedUntilMs).toBeUndefined();
    nowMs += 1_001;
    expect(await directory.byTokenHash(tokenHash)).toBeUndefined();
    nowMs += 1_000;
    expect(await proof).toBe(false);
  });

  it('caches no longer than a second while the trigger of the table is missing or disabled', async () => {
    const schema = `spec_${randomBytes(6).toString('hex')}`;
    await database.pool.query(`CREATE SCHEMA ${schema}`);
    ends.push(() => database.pool.query(`DROP SCHEMA ${schema} CASCADE`));
    await database.pool.query(`CREATE TABLE ${schema}.channels (LIKE public.channels INCLUDING ALL)`);
    const alone = new URL(url);
    alone.searchParams.set('options', `-c search_path=${schema}`);
    const own = open(alone.href);
    ends.push(() => own.close());
    const { changes, log } = directoryOf({ reads: own });
    const lost = once(log, 'lost');
    const received = once(log, 'received');
    changes.start();
    expect(await lost).toEqual([{ reason: 'the trigger channels_changed is missing or disabled' }]);
    expect(changes.notifiedUntilMs).toBeUndefined();
    await own.pool.query(`CREATE TRIGGER channels_changed AFTER INSERT OR UPDATE OR DELETE ON channels
      FOR EACH ROW EXECUTE FUNCTION public.tell_channel_changed()`);
    await received;
    expect(await changes.prove()).toBe(true);
    await own.pool.query('ALTER TABLE channels DISABLE TRIGGER channels_changed');
    expect(await changes.prove()).toBe(false);
  });

  it('starts at once and ends quietly when PostgreSQL is away, and logs it once', async () => {
    const { proxy, reached } = await by();
    proxy.refuse();
    let tries = 0;
    const tried = new EventEmitter();
    const listen: RegionalDatabase['listen'] = (options) => {
      tried.emit(String((tries += 1)));
      return reached.listen(options);
    };
    const { changes, directory, log } = directoryOf({ reads: reached, listensOn: { listen } });
    const logged: unknown[] = [];
    log.on('lost', (details) => logged.push(details));
    const third = once(tried, '3');
    changes.start();
    await expect(directory.byId('any')).rejects.toThrow();
    await third;
    expect(logged).toHaveLength(1);
    expect(changes.notifiedUntilMs).toBeUndefined();
    await changes.close();
  });

  it('is notified of channels that are added, deleted or changed in any way, and not of writes that change nothing', async () => {
    const notified: string[] = [];
    const end = randomBytes(6).toString('hex');
    const ended = new EventEmitter();
    const listening = once(ended, 'listening');
    const listener = database.listen({
      channels: ['channel_changed'],
      purpose: 'spec',
      onListening: () => ended.emit('listening'),
      onNotification: (_channel, payload) => (payload === end ? ended.emit('end') : notified.push(payload)),
      onEnd: (error) => ended.emit('error', error),
    });
    ends.push(() => listener.close());
    await listening;
    const { id } = await create();
    const { id: rolledBack } = await create();
    const sql = (text: string) => otherDatabase.pool.query(text);
    await sql(`UPDATE channels SET name = name, settings = settings WHERE id = '${id}'`);
    for (const change of [
      `token_hash = '\\x0${randomInt(10)}'`,
      "standing = 'past_due'",
      "settings = '{}'",
      'deleted_at = now()',
    ]) {
      await sql(`UPDATE channels SET settings = '{"auto_read": true}' WHERE id = '${id}'`);
      await sql(`UPDATE channels SET ${change} WHERE id = '${id}'`);
    }
    await sql(`BEGIN; DELETE FROM channels WHERE id = '${rolledBack}'; ROLLBACK`);
    await sql(`DELETE FROM channels WHERE id = '${id}'`);
    await Promise.all([once(ended, 'end'), sql(`SELECT pg_notify('channel_changed', '${end}')`)]);
    const own = notified.filter((payload) => payload === id || payload === rolledBack);
    // Added; the first patch; four changes; the patch that undoes the third; deleted.
    expect(own).toEqual([id, rolledBack, ...Array<string>(7).fill(id)]);
  });
});
