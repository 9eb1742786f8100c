import { randomInt } from 'node:crypto';
import { FENCE_CTE, FencedError, fencedTransaction } from './fence.js';
import { openRegionalDatabase, type RegionalDatabase } from './open-database.js';

describe('the fence', () => {
  let database: RegionalDatabase;
  const shard = randomInt(1_000_000, 2_000_000_000);

  const takeOver = (epoch: bigint) =>
    database.pool.query('UPDATE shard_leases SET epoch = $2, owner_id = $3 WHERE shard = $1', [
      shard,
      epoch,
      `owner-${epoch}`,
    ]);
  const renew = () =>
    database.pool.query("UPDATE shard_leases SET expires_at = now() + interval '1 minute' WHERE shard = $1", [shard]);
  const noted = async () =>
    (await database.pool.query<{ id: string }>('SELECT id FROM workers WHERE id LIKE $1', [`${shard}-%`])).rows.map(
      ({ id }) => id,
    );
  const note = (text: string) =>
    [`INSERT INTO workers (id, version, expires_at) VALUES ($1, '1', now())`, [`${shard}-${text}`]] as [
      string,
      string[],
    ];

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'fence-spec',
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 1)', [shard]);
  });

  afterAll(async () => {
    await database.pool.query('DELETE FROM workers WHERE id LIKE $1', [`${shard}-%`]);
    await database.pool.query('DELETE FROM shard_leases WHERE shard = $1', [shard]);
    await database.close();
  });

  it('lets the newest epoch write and refuses an older one before anything is written', async () => {
    await fencedTransaction(database, { shard, epoch: 1n }, (connection) => connection.query(...note('first')));
    await takeOver(2n);
    const late = fencedTransaction(database, { shard, epoch: 1n }, (connection) => connection.query(...note('late')));
    await expect(late).rejects.toThrow(FencedError);
    expect(await noted()).toEqual([`${shard}-first`]);
  });

  it('keeps a new owner waiting until a write under way has committed', async () => {
    const order: string[] = [];
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let entered: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const writing = fencedTransaction(database, { shard, epoch: 2n }, async (connection) => {
      entered();
      await released;
      await connection.query(...note('under-way'));
      order.push('written');
    });
    await inside;
    const taking = takeOver(3n).then(() => order.push('taken over'));
    release();
    await Promise.all([writing, taking]);
    expect(order).toEqual(['written', 'taken over']);
    expect(await noted()).toContain(`${shard}-under-way`);
  });

  it('lets the owner renew its lease beside a write under way', async () => {
    await fencedTransaction(database, { shard, epoch: 3n }, async () => {
      await renew(); // on another connection: it would deadlock here if renewals waited for writers
    });
  });

  it('guards single statements as well', async () => {
    const write = (epoch: bigint) =>
      database.pool.query<{ held: string }>(
        `WITH ${FENCE_CTE}, written AS (
           INSERT INTO workers (id, version, expires_at) SELECT $3, '1', now() FROM fence RETURNING 1)
         SELECT count(*) AS held FROM fence`,
        [shard, epoch, `${shard}-single-${epoch}`],
      );
    expect((await write(3n)).rows[0]?.held).toBe('1');
    expect((await write(2n)).rows[0]?.held).toBe('0');
    expect(await noted()).not.toContain(`${shard}-single-2`);
  });

  it('rolls everything back when the work throws, and the connection stays usable', async () => {
    const failing = fencedTransaction(database, { shard, epoch: 3n }, async (connection) => {
      await connection.query(...note('undone'));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await noted()).not.toContain(`${shard}-undone`);
  });
});
