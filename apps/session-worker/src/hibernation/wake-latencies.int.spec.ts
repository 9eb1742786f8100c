import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { boundOf, WakeLatencies } from './wake-latencies.js';

interface Row {
  worker_id: string;
  up_to_ms: number;
  wakes: number;
  max_ms: number;
}

describe('WakeLatencies', () => {
  let store: TestStore;
  let database: RegionalDatabase;

  beforeAll(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'wake-latencies-spec' });
  });
  beforeEach(() => database.pool.query('DELETE FROM wake_latencies'));
  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  const rows = async (): Promise<Row[]> =>
    (
      await database.pool.query<Row>(
        `SELECT worker_id, up_to_ms, sum(wakes)::int AS wakes, max(max_ms)::int AS max_ms FROM wake_latencies
         GROUP BY worker_id, up_to_ms ORDER BY worker_id, up_to_ms`,
      )
    ).rows;
  const latencies = (workerId: string, pool: Pick<RegionalDatabase, 'pool'> = database, now = Date.now) =>
    new WakeLatencies({ database: pool, workerId, everyMs: 60_000, now });

  it('counts a duration under a bound that is at most 5 % and a millisecond above it', () => {
    for (const tookMs of [0, 1, 2, 17, 150, 151, 999, 12_345, 60_000]) {
      const bound = boundOf(tookMs);
      expect(bound).toBeGreaterThanOrEqual(tookMs);
      expect(bound).toBeLessThanOrEqual(Math.max(1, tookMs * 1.05 + 1));
    }
  });

  it('adds up what several workers wrote at several times', async () => {
    const [a, b] = [latencies('a'), latencies('b')];
    a.add(100);
    a.add(100);
    await a.write();
    a.add(99.5);
    b.add(400);
    await Promise.all([a.stop(), b.stop()]);
    expect(await rows()).toEqual([
      { worker_id: 'a', up_to_ms: boundOf(100), wakes: 3, max_ms: 100 },
      { worker_id: 'b', up_to_ms: boundOf(400), wakes: 1, max_ms: 400 },
    ]);
  });

  it('keeps what it could not write, and writes it once', async () => {
    let away = true;
    const query = (text: string, values: unknown[]) =>
      away ? Promise.reject(new Error('away')) : database.pool.query(text, values);
    const a = latencies('a', { pool: Object.assign(Object.create(database.pool), { query }) });
    a.add(10);
    await expect(a.write()).rejects.toThrow('away');
    a.add(10);
    away = false;
    await a.write();
    await a.stop();
    expect(await rows()).toEqual([{ worker_id: 'a', up_to_ms: boundOf(10), wakes: 2, max_ms: 10 }]);
  });

  it('forgets what is older than an hour', async () => {
    const old = latencies('old', database, () => Date.now() - 2 * 3_600_000);
    old.add(10);
    await old.write();
    expect(await rows()).toEqual([]);
  });
});
