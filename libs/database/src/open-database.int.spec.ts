import { randomInt } from 'node:crypto';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { openRegionalDatabase } from './open-database.js';

const STATEMENT_WITHIN_MS = 200;

describe('a database', () => {
  let proxy: FaultProxy;

  beforeAll(async () => {
    proxy = await FaultProxy.to(process.env.TEST_REGIONAL_DATABASE_URL ?? '');
  });
  afterAll(() => proxy.close());

  it('gives a connection up that has died without a word, and goes on with another', async () => {
    const database = openRegionalDatabase({
      url: proxy.url,
      applicationName: 'silent-connection-spec',
      maxConnections: 1,
      statementTimeoutMs: STATEMENT_WITHIN_MS,
    });
    await database.pool.query('SELECT 1');
    proxy.silence();
    await expect(database.pool.query('SELECT 2')).rejects.toThrow('Query read timeout');
    expect((await database.pool.query<{ three: number }>('SELECT 3 AS three')).rows).toEqual([{ three: 3 }]);
    await database.close();
  });

  it('ends a transaction that has fallen silent, with its locks, and goes on with another connection', async () => {
    const url = process.env.TEST_REGIONAL_DATABASE_URL ?? '';
    const names = { applicationName: 'silent-transaction-spec', maxConnections: 1 };
    const silent = openRegionalDatabase({ ...names, url, silentTransactionMs: 200 });
    const other = openRegionalDatabase({ ...names, url });
    const shard = randomInt(1_000_000, 2_000_000_000);
    await other.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 1)', [shard]);
    const connection = await silent.pool.connect();
    // One message: between two the transaction may be silent for too long on a busy machine.
    await connection.query(`BEGIN; SELECT 1 FROM shard_leases WHERE shard = ${shard} FOR KEY SHARE`);
    await other.pool.query('UPDATE shard_leases SET epoch = 2 WHERE shard = $1', [shard]); // waits for the lock
    await expect(connection.query('COMMIT')).rejects.toThrow();
    connection.release(true);
    expect((await silent.pool.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await Promise.all([silent.close(), other.close()]);
  });
});
