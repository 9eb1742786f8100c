import { randomBytes } from 'node:crypto';
import { migrate, openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { ADA, incoming, own } from '../example-records.js';
import { MessageWriter } from './message-writer.js';

jest.setTimeout(30_000);

/** After how many executions PostgreSQL keeps one plan for a prepared statement. */
const UNTIL_PLAN_IS_KEPT = 6;
const MANY = 500;

describe('the writes of sends and of what is received', () => {
  const fence: Fence = { shard: 1, epoch: 1n };
  const serverUrl = process.env.TEST_REGIONAL_DATABASE_URL ?? '';
  const name = `plans_${randomBytes(6).toString('hex')}`;
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).toString();
  let server: RegionalDatabase;
  let database: RegionalDatabase;

  beforeAll(async () => {
    server = openRegionalDatabase({ url: serverUrl, applicationName: 'kept-plans-spec' });
    await server.pool.query(`CREATE DATABASE "${name}" TEMPLATE template0`);
    await migrate(url, 'regional');
    database = openRegionalDatabase({ url, applicationName: 'kept-plans-spec', maxConnections: 1, plansOnce: true });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES (1, 1)');
  });
  afterAll(async () => {
    await database.close();
    await server.pool.query(`DROP DATABASE "${name}" WITH (FORCE)`);
    await server.close();
  });

  /** Rows of these tables that were looked at so far. */
  const looked = async (): Promise<Record<string, number>> => {
    await database.pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await database.pool.query<{ table: string; rows: string }>(
      `SELECT relname AS table, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS rows FROM pg_stat_user_tables
       WHERE relname IN ('messages', 'receipts', 'chats', 'contacts', 'events')`,
    );
    return Object.fromEntries(rows.map(({ table, rows: count }) => [table, Number(count)]));
  };

  const send = async (writer: MessageWriter, channelId: string, keyId: string) => {
    await writer.recordMessage(fence, channelId, own(keyId));
    await writer.recordStatuses(fence, channelId, [
      { keyId, status: 'sent', timestamp: 101 },
      { keyId, status: 'delivered', timestamp: 102 },
    ]);
  };
  const receive = async (writer: MessageWriter, channelId: string, keyId: string) => {
    await writer.recordMessage(fence, channelId, incoming(keyId));
    const viewed = { viewerId: '15550003333', timestamp: 103 };
    await writer.recordStatuses(fence, channelId, [{ keyId: `O-${keyId}`, status: 'read', ...viewed }]);
  };
  const fill = (writer: MessageWriter, channelId: string) =>
    writer.recordHistory(fence, channelId, {
      chats: Array.from({ length: MANY }, (_, n) => ({ id: `1666${n}@s.whatsapp.net` })),
      contacts: Array.from({ length: MANY }, (_, n) => ({ id: `1666${n}`, name: `Contact ${n}` })),
      messages: Array.from({ length: MANY }, (_, n) => own(`O${n}`)),
    });
  /** Tables of which the work reads more than a few rows for each of `count`. */
  const walkedBy = async (count: number, work: () => Promise<unknown>): Promise<[string, number][]> => {
    const before = await looked();
    await work();
    const after = await looked();
    expect(after['messages']).toBeGreaterThan(before['messages'] ?? 0);
    return Object.entries(after)
      .map(([table, rows]): [string, number] => [table, rows - (before[table] ?? 0)])
      .filter(([, rows]) => rows > 25 * count);
  };

  it('look at a few rows in a large channel, though their plans were made while it was empty', async () => {
    const writer = new MessageWriter({ database });
    await writer.recordHistory(fence, 'c', { chats: [{ id: ADA }] });
    for (let n = 0; n < UNTIL_PLAN_IS_KEPT; n += 1) {
      await send(writer, 'c', `O-${n}`);
      await receive(writer, 'c', `${n}`);
    }
    await fill(writer, 'c');
    const walked = await walkedBy(1, async () => {
      await send(writer, 'c', 'O-late');
      await receive(writer, 'c', 'late');
    });
    expect(walked).toEqual([]);
  });

  it('do so in many large channels at the same time', async () => {
    const writer = new MessageWriter({ database });
    const channels = Array.from({ length: 5 }, (_, n) => `many-${n}`);
    for (const channel of channels) await writer.recordHistory(fence, channel, { chats: [{ id: ADA }] });
    for (let n = 0; n < UNTIL_PLAN_IS_KEPT; n += 1) {
      await Promise.all(channels.map((channel) => send(writer, channel, `O-${n}`)));
    }
    for (const channel of channels) await fill(writer, channel);
    const walked = await walkedBy(channels.length, () =>
      Promise.all(channels.map((channel) => send(writer, channel, 'O-late'))),
    );
    expect(walked).toEqual([]);
  });

  it('do so in a large channel that the statistics know nothing of', async () => {
    const other = new MessageWriter({ database });
    await other.recordHistory(fence, 'known', { chats: [{ id: ADA }] });
    await fill(other, 'known');
    await database.pool.query('ANALYZE');
    const writer = new MessageWriter({ database });
    const channels = Array.from({ length: 5 }, (_, n) => `unknown-${n}`);
    for (const channel of channels) {
      await writer.recordHistory(fence, channel, { chats: [{ id: ADA }] });
      await fill(writer, channel);
    }
    const walked = await walkedBy(channels.length * 3 * UNTIL_PLAN_IS_KEPT, async () => {
      for (let n = 0; n < UNTIL_PLAN_IS_KEPT; n += 1) {
        await Promise.all(channels.map((channel) => send(writer, channel, `O-${n}`)));
        for (const channel of channels) await send(writer, channel, `O--${n}`);
        for (const channel of channels) await receive(writer, channel, `${n}`);
      }
    });
    expect(walked).toEqual([]);
  });
});
