import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { rowsOfPlan } from '@dormouse/stack/test-stores';
import { DUE_TO_WAKE } from './channel-sleep.js';
import { LINKED_AWAKE, TO_TIDY } from './shard-channels.js';

const url = process.env.TEST_REGIONAL_DATABASE_URL ?? '';
const SLEEPING = 4_000;

describe('searches for the channels of a shard that its worker has work for', () => {
  let database: RegionalDatabase;
  /** Far from the shards other specs use. */
  const shard = randomInt(1_000_000, 2_000_000_000);
  const prefix = randomBytes(6).toString('hex');

  beforeAll(async () => {
    // As a worker opens it: what counts is the plan for any values.
    database = openRegionalDatabase({ url, applicationName: 'shard-channels-spec', plansOnce: true });
    await database.pool.query(
      `INSERT INTO channels (id, account_id, name, token_hash, shard, linked, session_state, wake_at)
       SELECT $1 || n, 'account', 'Sleeps', sha256(($1 || n)::bytea), $2, true, 'hibernated',
              now() + interval '1 day' FROM generate_series(1, $3::int) AS n`,
      [prefix, shard, SLEEPING],
    );
    await database.pool.query(
      `INSERT INTO channels (id, account_id, name, token_hash, shard, linked, session_state)
       VALUES ($1 || 'open', 'account', 'Awake', sha256(($1 || 'open')::bytea), $2, true, 'open')`,
      [prefix, shard],
    );
    await database.pool.query('ANALYZE channels');
  });
  afterAll(async () => {
    await database.pool.query('DELETE FROM channels WHERE shard = $1', [shard]);
    await database.close();
  });

  it.each([
    { finds: 'those that are awake', statement: LINKED_AWAKE, parameters: () => `${shard}`, found: 1 },
    { finds: 'what is half done', statement: TO_TIDY, parameters: () => `${shard}`, found: 0 },
    { finds: 'those due to wake', statement: DUE_TO_WAKE, parameters: () => `ARRAY[${shard}], 16`, found: 0 },
  ])('the search for $finds reads none of those that sleep', async ({ statement, parameters, found }) => {
    const connection = await database.pool.connect();
    try {
      await connection.query(`PREPARE search AS ${statement.declaration.text}`);
      const plan = await rowsOfPlan(connection, `EXECUTE search (${parameters()})`, []);
      expect(plan.found).toBe(found);
      expect(plan.read).toBeLessThan(20);
    } finally {
      connection.release(true);
    }
  });
});
