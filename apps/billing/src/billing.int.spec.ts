import { TestBilling } from './test-billing.js';

describe('billing that cannot start', () => {
  let billing: TestBilling;
  beforeAll(async () => {
    billing = await TestBilling.prepare();
  });
  afterAll(() => billing.close());

  it('because an entry of REGIONS leads to another region closes every connection that it had opened', async () => {
    const { database, pool } = { database: billing.region().database, pool: billing.database.pool };
    await database.pool.query("UPDATE region SET name = 'eu'");
    await expect(billing.start()).rejects.toThrow('of region eu');
    const open = async (): Promise<number> => {
      const { rows } = await pool.query<{ open: number }>(
        `SELECT count(*)::int AS open FROM pg_stat_activity WHERE application_name = 'billing' AND datname = ANY ($1)`,
        [[billing.databaseName, billing.region().databaseName]],
      );
      return rows[0]?.open ?? 0;
    };
    // The server notices the end of a connection soon after it.
    while ((await open()) > 0) await new Promise((resolve) => setImmediate(resolve));
    await database.pool.query("UPDATE region SET name = 'sg'");
    await billing.start();
    expect(await open()).toBeGreaterThan(0);
  });
});
