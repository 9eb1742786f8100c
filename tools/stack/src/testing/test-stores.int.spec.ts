import { claimTestRedis, createTestDatabase, sharedTestDatabaseUrl } from './test-stores.js';
import { withConnection } from '../stores/postgres.js';
import { redisLines } from '../stores/redis-wire.js';

async function tables(url: string): Promise<string[]> {
  return withConnection(url, async (connection) => {
    const { rows } = await connection.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    return rows.map((row) => row.name);
  });
}

describe('test stores', () => {
  it('shares a migrated database of each scope', async () => {
    expect(await tables(sharedTestDatabaseUrl('global'))).toContain('accounts');
    expect(await tables(sharedTestDatabaseUrl('regional'))).toContain('shard_leases');
  });

  it('gives each caller a migrated database of its own, even many at once', async () => {
    const stores = await Promise.all([1, 2, 3, 4].map(() => createTestDatabase('regional')));
    expect(new Set(stores.map((store) => store.url)).size).toBe(4);
    const [one, two] = stores;
    await withConnection(one?.url ?? '', (connection) =>
      connection.query('INSERT INTO shard_leases (shard) VALUES (1)'),
    );
    const others = await withConnection(two?.url ?? '', (connection) => connection.query('SELECT 1 FROM shard_leases'));
    expect(others.rowCount).toBe(0);
    await Promise.all(stores.map((store) => store.drop()));
    await expect(tables(one?.url ?? '')).rejects.toThrow(/does not exist/);
  });

  it('gives each caller an empty Redis database of its own', async () => {
    const [one, two] = await Promise.all([claimTestRedis(), claimTestRedis()]);
    const select = (url: string): string => `SELECT ${new URL(url).pathname.slice(1)}`;
    await redisLines(one.url, [select(one.url), 'SET key value']);
    expect(await redisLines(two.url, [select(two.url), 'EXISTS key'])).toEqual(['+OK', ':0']);
    expect(await redisLines(one.url, [select(one.url), 'DBSIZE'])).toEqual(['+OK', ':1']);
    await one.drop();
    expect(await redisLines(one.url, [select(one.url), 'DBSIZE'])).toEqual(['+OK', ':0']);
  });

  it('reports a refusal by Redis as an error', async () => {
    const { url } = await claimTestRedis();
    await expect(redisLines(url, ['NOSUCHCOMMAND'])).rejects.toThrow(/Redis refused: ERR unknown command/);
  });
});
