import { randomBytes } from 'node:crypto';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { channelsDueForBilling, clearBillingDue } from './channel-billing.js';
import { ChannelDirectory } from './channel-directory.js';

describe('What is due for billing', () => {
  const shard = 7;
  const fence = { shard, epoch: 1n };
  let store: TestStore;
  let database: RegionalDatabase;
  let directory: ChannelDirectory;

  beforeAll(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'channel-billing-spec' });
    directory = new ChannelDirectory({ database });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 1)', [shard]);
  });
  afterAll(async () => {
    await database.close();
    await store.drop();
  });
  beforeEach(() => database.pool.query('DELETE FROM channels'));

  const create = async (): Promise<string> => {
    const id = `CH-${randomBytes(6).toString('hex')}`;
    await directory.create({ id, accountId: 'account', name: 'Shop', tokenHash: randomBytes(32), shard });
    return id;
  };
  const link = (id: string, linked = true) =>
    directory.recordSessionState(fence, id, { state: linked ? 'open' : 'closed', linked });
  const due = () => channelsDueForBilling(database.pool, 100);

  it('is a number from its first link on, which stays the first after it was logged out and linked again', async () => {
    const id = await create();
    await directory.recordSessionState(fence, id, { state: 'connecting' });
    await link(id, false);
    expect(await due()).toEqual([]);
    await link(id);
    const [first] = await due();
    expect(first).toEqual({ id, accountId: 'account', firstLinkedAt: expect.any(Date), deletedAt: null });
    expect(await clearBillingDue(database.pool, await due())).toBe(1);
    await link(id, false);
    await link(id);
    expect(await due()).toEqual([]);
    await directory.markDeleted(id);
    expect(await due()).toEqual([{ ...first, deletedAt: expect.any(Date) }]);
  });

  it('is not a channel that was deleted without ever having been linked', async () => {
    const id = await create();
    await directory.markDeleted(id);
    expect(await due()).toEqual([]);
  });

  it('stays due when it was deleted after it had been read', async () => {
    const id = await create();
    await link(id);
    const read = await due();
    await directory.markDeleted(id);
    expect(await clearBillingDue(database.pool, read)).toBe(0);
    expect(await due()).toEqual([{ ...read[0], deletedAt: expect.any(Date) }]);
    expect(await clearBillingDue(database.pool, await due())).toBe(1);
    expect(await due()).toEqual([]);
  });

  it('is not lost with the transaction of the link, and not there without it', async () => {
    const id = await create();
    const connection = await database.pool.connect();
    await connection.query('BEGIN');
    await directory.recordSessionState(fence, id, { state: 'open', linked: true }, connection);
    await connection.query('ROLLBACK');
    connection.release();
    expect(await due()).toEqual([]);
  });

  it('comes in the order of the first links, as many as are fetched', async () => {
    const ids = [await create(), await create(), await create()];
    for (const id of ids.toReversed()) {
      // Two links of the same millisecond are in the order of their ids.
      await database.pool.query(`UPDATE channels SET first_linked_at = first_linked_at - interval '1 s'`);
      await link(id);
    }
    expect((await channelsDueForBilling(database.pool, 2)).map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 2));
  });
});
