import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { MessageRetention, type MessageRetentionOptions } from './message-retention.js';

const DAY_S = 86_400;
const silent = { info: () => undefined, warn: () => undefined };

describe('MessageRetention', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  const nowS = Math.floor(Date.now() / 1_000);

  beforeAll(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'retention-spec' });
  });
  beforeEach(async () => {
    for (const table of [
      'channels',
      'messages',
      'receipts',
      'chats',
      'contacts',
      'groups',
      'events',
      'event_sequences',
    ])
      await query(`DELETE FROM ${table}`);
    for (const table of ['webhook_cursors', 'webhook_held_events', 'retention_rounds'])
      await query(`DELETE FROM ${table}`);
  });
  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  const query = (text: string, values: unknown[] = []) => database.pool.query<{ id: string }>(text, values);
  const channel = (id: string, days: number | null = null) =>
    query(`INSERT INTO channels (id, account_id, name, shard, retention_days) VALUES ($1, 'a', 'n', 0, $2)`, [
      id,
      days,
    ]);
  /** A message of a chat, sent and stored so many days ago, with a receipt, its chat and its author as a contact. */
  const message = async (channelId: string, id: string, ageDays: number, { chat = 'c', author = '77' } = {}) => {
    await query(
      `INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, author, author_name, type, source, timestamp, content,
         proto, created_at)
       VALUES ($1, $2, $3, 'key-' || $2, 'r', true, $4, 'Ada', 'text', 'mobile', $5, '{"text":{"body":"secret"}}', 'x',
         to_timestamp($6))`,
      [channelId, id, chat, author, nowS - ageDays * DAY_S, nowS - ageDays * DAY_S],
    );
    await query(`INSERT INTO receipts VALUES ($1, 'key-' || $2, '', 'sent', $3)`, [
      channelId,
      id,
      nowS - ageDays * DAY_S,
    ]);
    await query(
      `INSERT INTO chats (channel_id, id, type, timestamp) VALUES ($1, $2, 'contact', $3)
       ON CONFLICT (channel_id, id) DO UPDATE SET timestamp = greatest(chats.timestamp, excluded.timestamp)`,
      [channelId, chat, nowS - ageDays * DAY_S],
    );
    await query(`INSERT INTO contacts (channel_id, id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [channelId, author]);
  };
  /** An event with the content of a message, written so many days ago. */
  const event = (channelId: string, seq: number, ageDays: number) =>
    query(
      `WITH s AS (INSERT INTO event_sequences VALUES ($1, $2) ON CONFLICT (channel_id) DO UPDATE SET last_seq = $2)
       INSERT INTO events (channel_id, seq, id, type, method, payload, created_at)
       VALUES ($1, $2, gen_random_uuid(), 'messages', 'post', '{"messages":["secret"]}', to_timestamp($3))`,
      [channelId, seq, nowS - ageDays * DAY_S],
    );
  const webhook = (channelId: string, position: number) =>
    query(
      `INSERT INTO webhook_cursors (channel_id, webhook_id, position) VALUES ($1, 'w', $2)
       ON CONFLICT (channel_id, webhook_id) DO UPDATE SET position = $2`,
      [channelId, position],
    );
  const idsOf = async (table: string, column = 'id') =>
    (await query(`SELECT ${column}::text AS id FROM ${table} ORDER BY 1`)).rows.map(({ id }) => id);
  const retention = (options: Partial<MessageRetentionOptions> = {}) =>
    new MessageRetention({
      database,
      workerId: 'w',
      days: 90,
      everyMs: 0,
      pauseMs: 0,
      batch: 2,
      log: silent,
      ...options,
    });

  it('removes what is older than its channel stores it, with receipts, chats and contacts, and nothing else', async () => {
    const removed: Record<string, number> = {};
    await channel('default');
    await channel('week', 7);
    for (const [id, age] of [
      ['d1', 95],
      ['d2', 91],
      ['d3', 91],
      ['d4', 89],
    ] as const)
      await message('default', id, age);
    for (const [id, age] of [
      ['w1', 8],
      ['w2', 6],
    ] as const)
      await message('week', id, age);
    await message('week', 'w3', 10, { chat: 'quiet@s.whatsapp.net', author: '88' });
    const ended: (readonly string[])[] = [];
    await query(`UPDATE messages SET type = 'image', content = '{"image":{"id":"jpeg-3eb0000000000000001004-c002039eda2fd7"}}'
                 WHERE id = 'w3'`);
    await retention({
      onRemoved: (kind, rows) => (removed[kind] = (removed[kind] ?? 0) + rows),
      endFiles: (_connection, _channelId, ids) => Promise.resolve(void ended.push(ids)),
    }).run();
    expect(await idsOf('messages')).toEqual(['d4', 'w2']);
    expect(await idsOf('receipts', 'key_id')).toEqual(['key-d4', 'key-w2']);
    expect([await idsOf('chats'), await idsOf('contacts')]).toEqual([
      ['c', 'c'],
      ['77', '77'],
    ]);
    expect(removed).toMatchObject({ messages: 5, chats: 1, contacts: 1 });
  });

  it('keeps chats that the phone arranged or that are groups of the channel, and contacts of the address book', async () => {
    await channel('c');
    const chats = ['pinned', 'archived', 'muted', 'timed', 'group', 'plain'];
    for (const chat of chats) await message('c', `m-${chat}`, 100, { chat, author: `author-${chat}` });
    await query(`UPDATE chats SET pinned = id = 'pinned', archived = id = 'archived', mute_until_ms = (id = 'muted')::int,
                   ephemeral_s = CASE WHEN id = 'timed' THEN 60 END`);
    await query(`INSERT INTO groups (channel_id, id, member, facts, members) VALUES ('c', 'group', true, '{}', '[]')`);
    await query(`UPDATE contacts SET name = 'Of the address book' WHERE id = 'author-plain'`);
    await retention().run();
    expect([await idsOf('messages'), await idsOf('chats'), await idsOf('contacts')]).toEqual([
      [],
      ['archived', 'group', 'muted', 'pinned', 'timed'],
      ['author-plain'],
    ]);
  });

  it('keeps what a webhook has not had yet, and what was stored after it', async () => {
    await channel('c', 1);
    for (const [n, id] of ['a', 'b', 'd'].entries()) {
      await message('c', id, 5 - n);
      await event('c', n + 1, 5 - n);
    }
    await webhook('c', 1);
    const overdue: number[] = [];
    await retention({ onOverdue: (seconds) => overdue.push(seconds) }).run();
    expect(await idsOf('messages')).toEqual(['b', 'd']);
    // An event that is held at or before the position counts, too.
    await webhook('c', 3);
    await query(`INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation) VALUES ('c', 'w', 3, '')`);
    await retention().run();
    expect(await idsOf('messages')).toEqual(['d']);
    await query('DELETE FROM webhook_held_events');
    await retention({ onOverdue: (seconds) => overdue.push(seconds) }).run();
    expect([await idsOf('messages'), overdue.map((seconds) => Math.round(seconds / DAY_S))]).toEqual([[], [3, 0]]);
  });

  it('erases the content of a channel that stores none, an hour after it was stored, once every webhook has had it', async () => {
    await channel('none', 0);
    for (const [n, age] of [2, 0.5, 0.4, 0.01].entries()) {
      await message('none', `m${n}`, age);
      await event('none', n + 1, age);
    }
    await webhook('none', 2);
    const contents = async () => {
      const { rows } = await query(
        `SELECT id FROM messages WHERE content <> '{}' OR proto IS NOT NULL OR author_name IS NOT NULL`,
      );
      return rows.map(({ id }) => id).sort();
    };
    await retention().run();
    expect([await idsOf('messages'), await contents()]).toEqual([
      ['m1', 'm2', 'm3'],
      ['m2', 'm3'],
    ]);
    expect(await idsOf('events', 'seq')).toEqual(['3', '4']);
    expect(await idsOf('receipts', 'key_id')).toEqual(['key-m1', 'key-m2', 'key-m3']);
    await webhook('none', 4);
    await retention().run();
    expect([await contents(), await idsOf('events', 'seq')]).toEqual([['m3'], ['4']]);
  });

  it('goes on in another worker where one died, at whatever statement, and loses nothing', async () => {
    let deaths = 0;
    for (let endsAt = 1; ; endsAt += 1) {
      for (const table of ['messages', 'receipts', 'retention_rounds', 'channels']) await query(`DELETE FROM ${table}`);
      for (const id of ['a', 'b']) {
        await channel(id);
        for (let n = 0; n < 3; n += 1) await message(id, `${id}${n}`, 100);
        await message(id, `${id}-young`, 10);
      }
      const life = { left: endsAt };
      const died = await retention({ workerId: 'dies', database: mortal(database, life), page: 1 })
        .run()
        .then(
          () => false,
          () => true,
        );
      await query(`UPDATE retention_rounds SET held_until = now() - interval '1 s'`);
      await retention({ workerId: 'next', page: 1 }).run();
      expect([endsAt, await idsOf('messages'), await idsOf('receipts', 'key_id')]).toEqual([
        endsAt,
        ['a-young', 'b-young'],
        ['key-a-young', 'key-b-young'],
      ]);
      if (!died) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThan(10);
  });

  it('is done by one worker of the region at a time', async () => {
    await channel('c');
    for (let n = 0; n < 5; n += 1) await message('c', `m${n}`, 100);
    let second: boolean | undefined;
    const first = retention({
      onRemoved: () => undefined,
      endFiles: async () => undefined,
      database: {
        pool: new Proxy(database.pool, {
          get(pool, name) {
            const value: unknown = Reflect.get(pool, name, pool);
            if (name !== 'connect') return typeof value === 'function' ? (value.bind(pool) as unknown) : value;
            return async () => {
              second ??= await retention({ workerId: 'second' }).run();
              return pool.connect();
            };
          },
        }),
      },
    });
    expect([await first.run(), second, await idsOf('messages')]).toEqual([true, false, []]);
    expect(await retention({ workerId: 'second' }).run()).toBe(true);
  });

  it('looks at few rows of a channel with many, however many are younger', async () => {
    await channel('large');
    await query(
      `INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, author, type, source, timestamp, content)
       SELECT 'large', 'm' || n, 'c' || n % 50, 'k' || n, 'r', false, 'p' || n % 50, 'text', 'mobile', $1::bigint + n, '{}'
       FROM generate_series(1, 20000) n`,
      [nowS - 30_000],
    );
    for (let n = 0; n < 10; n += 1) await message('large', `old${n}`, 100 + n, { chat: `c${n}`, author: `p${n}` });
    const looked = async () => {
      await query('SELECT pg_stat_force_next_flush()');
      const { rows } = await query(
        `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::text AS id FROM pg_stat_user_tables
         WHERE relname IN ('messages', 'receipts', 'chats', 'contacts')`,
      );
      return Number(rows[0]?.id);
    };
    await database.close();
    database = openRegionalDatabase({ url: store.url, applicationName: 'retention-spec', maxConnections: 1 });
    await query('ANALYZE');
    const before = await looked();
    await retention({ batch: 200 }).run();
    expect((await looked()) - before).toBeLessThan(500);
    expect((await query(`SELECT count(*)::text AS id FROM messages`)).rows).toEqual([{ id: '20000' }]);
  });
});

/** The database as a worker reaches it that dies before one of its statements. */
function mortal(database: RegionalDatabase, life: { left: number }): Pick<RegionalDatabase, 'pool'> {
  const within = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        if (name === 'query') {
          return async (...given: unknown[]) => {
            life.left -= 1;
            // A connection that is lost rolls back by itself: its last statement still reaches the database here.
            if (life.left <= 0 && given[0] !== 'ROLLBACK') throw new Error('the worker died');
            return (await Reflect.apply(value, of, given)) as unknown;
          };
        }
        if (name === 'connect') return async () => within((await Reflect.apply(value, of, [])) as object);
        return value.bind(of) as unknown;
      },
    });
  return { pool: within(database.pool) };
}
