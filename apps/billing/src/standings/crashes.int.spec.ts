import { randomUUID } from 'node:crypto';
import { NumberPull } from '../numbers/number-pull.js';
import { TestBilling } from '../test-billing.js';
import { Life, mortal, unending } from '../test-mortal.js';
import { Recompute } from './recompute.js';
import { StandingOutbox } from './standing-outbox.js';

jest.setTimeout(120_000);

const RULES = { isOn: true, freeNumbers: 1, graceMs: 1_000 };

describe('billing that dies', () => {
  let billing: TestBilling;
  beforeAll(async () => {
    billing = await TestBilling.prepare();
  });
  afterAll(() => billing.close());

  /** Everything that billing does from a link to the flag, once. */
  const run = async (life: Life): Promise<void> => {
    const database = mortal(billing.database, life);
    const regional = mortal(billing.region().database, life);
    await new NumberPull({ database }).pull({ region: 'sg', database: regional });
    const recompute = new Recompute({ database, rules: RULES, nowMs: Date.now });
    for (const accountId of await recompute.due()) await recompute.account(accountId);
    await new StandingOutbox(database).deliver('sg', regional);
  };

  it.each(['before', 'after'] as const)(
    '%s any of its statements loses no number, no standing and no notice, and repeats none',
    async (how) => {
      const sg = billing.region();
      let deaths = 0;
      for (let endsAt = 1; ; endsAt += 1) {
        const accountId = randomUUID();
        const deleted = await sg.link(accountId);
        await run(unending());
        const next = await sg.link(accountId);
        const last = await sg.link(accountId);
        await run(unending());
        expect(await Promise.all([next, last].map((id) => sg.notices(id)))).toEqual([[402], [402]]);
        await sg.directory.markDeleted(deleted);
        const late = await sg.link(accountId);
        const died = await run(Life.endingAt(endsAt, how)).then(
          () => false,
          () => true,
        );
        await run(unending());
        await run(unending());
        const standings = await Promise.all(
          [next, last, late].map(async (id) => (await sg.directory.byId(id))?.standing),
        );
        expect([endsAt, ...standings]).toEqual([endsAt, 'good', 'over_free_allowance', 'over_free_allowance']);
        const notices = await Promise.all([next, last, late].map((id) => sg.notices(id)));
        expect([endsAt, ...notices]).toEqual([endsAt, [402, 200], [402], [402]]);
        const { rows } = await billing.database.pool.query<{ entries: number }>(
          'SELECT count(*)::int AS entries FROM audit_log WHERE account_id = $1',
          [accountId],
        );
        expect([endsAt, rows[0]?.entries]).toEqual([endsAt, 4]);
        if (!died) break;
        deaths += 1;
      }
      // Reading and storing numbers, marking them, computing, sending, marking: each with its transaction.
      expect(deaths).toBeGreaterThan(20);
    },
  );
});
