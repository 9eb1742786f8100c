import { randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import { migrate, openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { ADA, incoming, own } from './example-records.js';
import { MessageWriter } from './message-writer.js';

jest.setTimeout(30_000);

/** After so many executions PostgreSQL keeps one plan for a prepared statement. */
const UNTIL_PLAN_IS_KEPT = 6;
const MESSAGES = 500;

describe('the writes of sends and of what is heard', () => {
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
    database = openRegionalDatabase({ url, applicationName: 'kept-plans-spec', maxConnections: 1 });
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
       WHERE relname IN ('messages', 'receipts', 'chats', 'events')`,
    );
    return Object.fromEntries(rows.map(({ table, rows: count }) => [table, Number(count)]));
  };

  it('look at a few rows in a large channel, though their plans were made while it was empty', async () => {
    const writer = new MessageWriter({ database });
    await writer.recordHistory(fence, 'c', { chats: [{ id: ADA }] });
    const send = async (keyId: string) => {
      await writer.recordMessage(fence, 'c', own(keyId));
      await writer.recordStatuses(fence, 'c', [
        { keyId, status: 'sent', timestamp: 101 },
        { keyId, status: 'delivered', timestamp: 102 },
      ]);
    };
    const hear = async (keyId: string) => {
      await writer.recordMessage(fence, 'c', incoming(keyId));
      const viewed = { viewerId: '15550003333', timestamp: 103 };
      await writer.recordStatuses(fence, 'c', [{ keyId: `O-${keyId}`, status: 'read', ...viewed }]);
    };
    for (let n = 0; n < UNTIL_PLAN_IS_KEPT; n += 1) {
      await send(`O-${n}`);
      await hear(`${n}`);
    }
    const messages = Array.from({ length: MESSAGES }, (_, n) => own(`O${n}`));
    await writer.recordHistory(fence, 'c', { messages });
    const before = await looked();
    await send('O-late');
    await hear('late');
    const after = await looked();
    const many = Object.entries(after)
      .map(([table, rows]) => [table, rows - (before[table] ?? 0)] as const)
      .filter(([, rows]) => rows > 20);
    expect(many).toEqual([]);
    expect(after['messages']).toBeGreaterThan(before['messages'] ?? 0);
  });
});
