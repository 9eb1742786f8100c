import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { DeletedChannels } from './deleted-channels.js';

const silent = { info: () => undefined, warn: () => undefined };

/** Emptied by the edge, which has a spec of its own. */
const OF_OTHERS = ['idempotency_keys'];

/** A value of each type of column, for a row that only has to be there. */
const SAMPLES: Readonly<Record<string, string>> = {
  text: `'x'`,
  integer: '1',
  bigint: '1',
  boolean: 'false',
  bytea: `'\\x00'`,
  uuid: 'gen_random_uuid()',
  jsonb: `'{}'`,
  'timestamp with time zone': 'now()',
};

describe('a deleted channel', () => {
  let test: { database: TestStore; bucket: TestBucket };
  let database: RegionalDatabase;
  let storage: ObjectStorage;
  let tables: string[];

  beforeAll(async () => {
    test = { database: await createTestDatabase('regional'), bucket: await createTestBucket() };
    database = openRegionalDatabase({ url: test.database.url, applicationName: 'deleted-channels-spec' });
    storage = new ObjectStorage({ ...test.bucket, attempts: 1 });
    const { rows } = await database.pool.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> ALL ($1)`,
      [OF_OTHERS],
    );
    tables = rows.map(({ name }) => name);
  });
  afterAll(async () => {
    storage.close();
    await database.close();
    await Promise.all([test.database.drop(), test.bucket.drop()]);
  });

  const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);

  /** Puts a row of the channel into every table whose rows are of channels, those of later migrations included. */
  const fill = async (id: string): Promise<void> => {
    const { rows } = await database.pool.query<{ table: string; column: string; type: string }>(
      `SELECT table_name AS table, column_name AS column, data_type AS type FROM information_schema.columns c
       WHERE table_schema = 'public' AND table_name <> ALL ($1) AND (column_name = 'channel_id' OR
         (is_nullable = 'NO' AND column_default IS NULL AND EXISTS (SELECT 1 FROM information_schema.columns k
           WHERE k.table_schema = 'public' AND k.table_name = c.table_name AND k.column_name = 'channel_id')))`,
      [OF_OTHERS],
    );
    for (const table of new Set(rows.map((row) => row.table))) {
      const columns = rows.filter((row) => row.table === table);
      const values = columns.map(({ column, type }) => {
        if (column === 'channel_id') return `'${id}'`;
        return table === 'media_objects' && column === 'key' ? `'media/${id}/a'` : (SAMPLES[type] ?? 'NULL');
      });
      const names = columns.map(({ column }) => `"${column}"`).join(', ');
      await query(`INSERT INTO "${table}" (${names}) VALUES (${values.join(', ')}) ON CONFLICT DO NOTHING`);
    }
    await query(
      `INSERT INTO media_network_copies (object_key, variant, direct_path, media_key, file_sha256, file_enc_sha256, file_length,
         prepared, uploaded_at) VALUES ('media/' || $1 || '/a', 'v', '', '', '', '', 1, '{}', now())`,
      [id],
    );
    for (const key of [`media/${id}/a`, `media/${id}/lost`, `sessions/${id}/1-1`])
      await storage.put(key, Buffer.from('x'));
  };
  const add = async (id: string, facts: { deletedMin?: number; state?: string; billed?: boolean } = {}) => {
    const { deletedMin, state = 'closed', billed = false } = facts;
    await query(
      `INSERT INTO channels (id, account_id, name, shard, phone, session_state, billing_due, deleted_at)
       VALUES ($1, 'a', 'Name of ' || $1, 0, '15550001111', $2, $3, now() - make_interval(mins => $4))`,
      [id, state, billed, deletedMin ?? null],
    );
    await fill(id);
  };
  /** Tables with a row that names the channel, and its objects. */
  const holding = async (id: string): Promise<string[]> => {
    const found: string[] = [];
    for (const table of tables) {
      const { rowCount } = await query(
        `SELECT 1 FROM "${table}" t WHERE position($1 IN to_jsonb(t)::text) > 0 LIMIT 1`,
        [id],
      );
      if (rowCount !== 0) found.push(table);
    }
    for await (const { key } of storage.list('')) if (key.includes(id)) found.push(key);
    return found.sort();
  };
  const purge = (options: { storage?: ObjectStorage; onWaiting?: (seconds: number) => void } = {}) =>
    new DeletedChannels({
      database,
      storage,
      workerId: 'w',
      everyMs: 0,
      batch: 2,
      pauseMs: 0,
      log: silent,
      ...options,
    }).run();

  it('is gone from every table and from the bucket, and the others stay as they are', async () => {
    await add('LIVE-1');
    const before = await holding('LIVE-1');
    // All of them have a channel_id: a table that a later migration adds is among them.
    expect(before.length).toBeGreaterThan(25);
    await add('GONE-1', { deletedMin: 31 });
    await query(
      `INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content)
       SELECT 'GONE-1', 'm' || n, 'c', 'k' || n, 'r', false, 'text', 'mobile', n, '{}' FROM generate_series(1, 5) n`,
    );
    expect(await holding('GONE-1')).toEqual(before.map((name) => name.replace('LIVE-1', 'GONE-1')));
    await purge();
    expect([await holding('GONE-1'), await holding('LIVE-1')]).toEqual([[], before]);
  });

  it('is purged at once, and what comes late within half an hour', async () => {
    const waiting: number[] = [];
    await add('GONE-2', { deletedMin: 1 });
    await purge({ onWaiting: (seconds) => waiting.push(seconds) });
    expect(await holding('GONE-2')).toEqual(['channels']);
    await fill('GONE-2');
    await query(`UPDATE channels SET deleted_at = now() - interval '31 minutes' WHERE id = 'GONE-2'`);
    await purge({ onWaiting: (seconds) => waiting.push(seconds) });
    await purge({ onWaiting: (seconds) => waiting.push(seconds) });
    expect([await holding('GONE-2'), waiting.map((seconds) => Math.round(seconds / 60))]).toEqual([[], [1, 31, 0]]);
  });

  it('waits for the end of its session, and is a record without names until billing has seen its end', async () => {
    await add('GONE-3', { deletedMin: 31, state: 'open', billed: true });
    const before = await holding('GONE-3');
    await purge();
    expect(await holding('GONE-3')).toEqual(before);
    await query(`UPDATE channels SET session_state = 'closed' WHERE id = 'GONE-3'`);
    await purge();
    const { rows } = await query(`SELECT name, phone, settings FROM channels WHERE id = 'GONE-3'`);
    expect([await holding('GONE-3'), rows]).toEqual([['channels'], [{ name: '', phone: null, settings: {} }]]);
    await query(`UPDATE channels SET billing_due = false WHERE id = 'GONE-3'`);
    await purge();
    expect(await holding('GONE-3')).toEqual([]);
  });

  it('is left in the middle by a worker that ends, and goes on in the next', async () => {
    await add('GONE-5', { deletedMin: 31 });
    await query(
      `INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content)
       SELECT 'GONE-5', 'm' || n, 'c', 'k' || n, 'r', false, 'text', 'mobile', n, '{}' FROM generate_series(1, 50) n`,
    );
    const stopsIn = async (what: { name: string; text: string; values: unknown[] }) => {
      if (what.name === 'purge-messages') void ending.stop();
      return database.pool.query(what);
    };
    const pool = new Proxy(database.pool, {
      get: (target, name): unknown => (name === 'query' ? stopsIn : Reflect.get(target, name, target)),
    });
    const ending = new DeletedChannels({
      ...{ database: { ...database, pool }, storage, workerId: 'ends', everyMs: 0, batch: 2, log: silent },
    });
    const run = ending.run();
    await expect(run).rejects.toThrow('aborted');
    expect(await holding('GONE-5')).toContain('messages');
    await purge();
    expect(await holding('GONE-5')).toEqual([]);
  });

  it('keeps for the next round what cannot be purged; its other parts and the other channels go', async () => {
    await add('GONE-6', { deletedMin: 31 });
    await add('GONE-7', { deletedMin: 31 });
    await query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`);
    await query(`CREATE TRIGGER refuse BEFORE DELETE ON media_files FOR EACH ROW WHEN (OLD.channel_id = 'GONE-6')
                 EXECUTE FUNCTION refuse()`);
    await purge();
    const left = ['channels', 'media/GONE-6/a', 'media/GONE-6/lost'];
    const ofFiles = ['media_files', 'media_network_copies', 'media_objects', 'media_usage'];
    expect([await holding('GONE-6'), await holding('GONE-7')]).toEqual([[...left, ...ofFiles].sort(), []]);
    await query('DROP TRIGGER refuse ON media_files');
    await purge();
    expect(await holding('GONE-6')).toEqual([]);
  });

  it('goes when the storage is back, if that was away', async () => {
    await add('GONE-4', { deletedMin: 31 });
    const away = new ObjectStorage({ ...test.bucket, endpoint: 'http://127.0.0.1:9', attempts: 1 });
    await purge({ storage: away });
    away.close();
    expect(await holding('GONE-4')).toContain('media/GONE-4/a');
    await purge();
    expect(await holding('GONE-4')).toEqual([]);
  });
});
