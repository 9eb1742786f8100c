import type { Job } from '@dormouse/queues';
import { randomUUID } from 'node:crypto';
import { NumberJobs } from '../numbers/number-jobs.js';
import { TestBilling } from '../test-billing.js';

jest.setTimeout(60_000);

describe('standings on their way from stored facts to the regions', () => {
  let billing: TestBilling;
  let nowMs: number;
  beforeAll(async () => {
    billing = await TestBilling.open({ regions: ['sg', 'eu'], nowMs: () => nowMs, switches: { GRACE_S: '86400' } });
  });
  beforeEach(() => {
    nowMs = Date.UTC(2027, 0, 10);
  });
  afterAll(() => billing.close());

  it('refuse the second number of an account soon after its link, and leave the first one and its customer alone', async () => {
    const sg = billing.region();
    const accountId = randomUUID();
    const first = await sg.link(accountId);
    await sg.seen(first);
    const second = await sg.link(accountId);
    await sg.becomes(second, 'over_free_allowance');
    expect(await sg.notices(second)).toEqual([402]);
    expect((await sg.directory.byId(first))?.standing).toBe('good');
    expect(await sg.notices(first)).toEqual([]);
    expect((await sg.directory.byId(second))?.session).toMatchObject({ state: 'open', linked: true });
  });

  it('give the free place of a deleted number to the next one, in the order of first links over all regions', async () => {
    const sg = billing.region('sg');
    const eu = billing.region('eu');
    const accountId = randomUUID();
    const first = await sg.link(accountId);
    const second = await eu.link(accountId);
    const third = await sg.link(accountId);
    await Promise.all([eu.becomes(second, 'over_free_allowance'), sg.becomes(third, 'over_free_allowance')]);
    await sg.directory.markDeleted(first);
    await eu.becomes(second, 'good');
    expect(await eu.notices(second)).toEqual([402, 200]);
    expect((await sg.directory.byId(third))?.standing).toBe('over_free_allowance');
  });

  it('keep counting a number that was logged out', async () => {
    const sg = billing.region();
    const accountId = randomUUID();
    const first = await sg.link(accountId);
    const second = await sg.link(accountId);
    await sg.becomes(second, 'over_free_allowance');
    await sg.directory.recordSessionState({ shard: 0, epoch: 1n }, first, { state: 'closed', linked: false });
    const third = await sg.link(accountId);
    await sg.becomes(third, 'over_free_allowance');
    expect(await sg.notices(second)).toEqual([402]);
  });

  it('follow what was bought, a failed payment only after its grace, and the payment', async () => {
    const sg = billing.region();
    const accountId = randomUUID();
    await sg.link(accountId);
    const second = await sg.link(accountId);
    const third = await sg.link(accountId);
    await Promise.all([second, third].map((id) => sg.becomes(id, 'over_free_allowance')));
    await billing.setFacts(accountId, { status: 'active', bought: 1 });
    await sg.becomes(second, 'good');
    const unpaid = { status: 'past_due', bought: 1, oldestUnpaidAtMs: nowMs - 1_000 };
    await billing.setFacts(accountId, unpaid);
    await computed(accountId);
    expect((await sg.directory.byId(second))?.standing).toBe('good');
    nowMs += 86_399_000;
    // The same, read again: by the clock alone nothing is refused.
    await billing.setFacts(accountId, { ...unpaid, asOfMs: nowMs - 1_000 });
    await computed(accountId);
    expect((await sg.directory.byId(second))?.standing).toBe('good');
    await billing.setFacts(accountId, unpaid);
    await sg.becomes(second, 'past_due');
    await billing.setFacts(accountId, { status: 'active', bought: 1 });
    await sg.becomes(second, 'good');
    expect(await sg.notices(second)).toEqual([402, 200, 402, 200]);
    expect(await sg.notices(third)).toEqual([402]);
  });

  it('stay as they are while the status of the subscription is one that is not known', async () => {
    const sg = billing.region();
    const accountId = randomUUID();
    await sg.link(accountId);
    const second = await sg.link(accountId);
    await sg.becomes(second, 'over_free_allowance');
    await billing.setFacts(accountId, { status: 'active', bought: 1 });
    await sg.becomes(second, 'good');
    await billing.setFacts(accountId, { status: 'on_the_moon', bought: 0 });
    await computed(accountId);
    expect(await sg.notices(second)).toEqual([402, 200]);
  });

  it('come all the same when Redis is flushed: only later', async () => {
    const sg = billing.region();
    const accountId = randomUUID();
    const first = await sg.link(accountId);
    await sg.seen(first);
    await billing.redis.drop();
    const second = await sg.link(accountId);
    await sg.becomes(second, 'over_free_allowance');
  });

  it('reach the other regions while one is away, and that one with the newest standing when it is back', async () => {
    const sg = billing.region('sg');
    const eu = billing.region('eu');
    const accountId = randomUUID();
    const first = await sg.link(accountId);
    const away = await eu.link(accountId);
    await eu.becomes(away, 'over_free_allowance');
    eu.proxy.refuse();
    const unseen = await eu.link(accountId);
    await billing.setFacts(accountId, { status: 'active', bought: 1 });
    await stored(away, 'good');
    await billing.setFacts(accountId, { status: 'unpaid', bought: 1 });
    await stored(away, 'past_due');
    await billing.setFacts(accountId, { status: 'active', bought: 1 });
    await stored(away, 'good');
    const third = await sg.link(accountId);
    await sg.becomes(third, 'over_free_allowance');
    expect((await eu.directory.byId(away))?.standing).toBe('over_free_allowance');
    eu.proxy.restore();
    await eu.becomes(away, 'good');
    // Linked before the third, so it stands before it: the place that was bought is the second's.
    await eu.becomes(unseen, 'over_free_allowance');
    expect(await eu.notices(away)).toEqual([402, 200]);
    expect(await sg.notices(first)).toEqual([]);
  });

  it('are in the audit log, each change once', async () => {
    const sg = billing.region();
    const accountId = randomUUID();
    await sg.link(accountId);
    const second = await sg.link(accountId);
    await sg.becomes(second, 'over_free_allowance');
    const { rows } = await billing.database.pool.query(
      'SELECT action, object_id, details FROM audit_log WHERE account_id = $1',
      [accountId],
    );
    const details = { standing: 'over_free_allowance', before: 'good' };
    expect(rows).toEqual([{ action: 'channel.standing', object_id: second, details }]);
  });

  it('are computed anew when free numbers are configured otherwise, and all good when billing is turned off', async () => {
    const sg = billing.region();
    const accountId = randomUUID();
    const ids = [await sg.link(accountId), await sg.link(accountId), await sg.link(accountId)];
    await sg.becomes(ids[2] ?? '', 'over_free_allowance');
    await billing.stop();
    await billing.start({ FREE_NUMBERS: '2' });
    await sg.becomes(ids[1] ?? '', 'good');
    expect((await sg.directory.byId(ids[2] ?? ''))?.standing).toBe('over_free_allowance');
    await billing.stop();
    await billing.start({ STRIPE_SECRET_KEY: '', STRIPE_WEBHOOK_SECRET: '' });
    await sg.becomes(ids[2] ?? '', 'good');
    await billing.stop();
    await billing.start();
    await sg.becomes(ids[1] ?? '', 'over_free_allowance');
  });

  it('are computed anew when another grace is configured: longer, an unpaid invoice stops nothing any more', async () => {
    const sg = billing.region();
    const accountId = randomUUID();
    await sg.link(accountId);
    const second = await sg.link(accountId);
    await billing.setFacts(accountId, { status: 'past_due', bought: 1, oldestUnpaidAtMs: nowMs - 86_400_000 });
    await sg.becomes(second, 'past_due');
    await billing.stop();
    await billing.start({ GRACE_S: '172800' });
    await sg.becomes(second, 'good');
    await billing.stop();
    await billing.start();
    await sg.becomes(second, 'past_due');
  });

  it('are there after one look at the region of a link: nothing else waits for its next look', async () => {
    const sg = billing.region();
    await billing.stop();
    const jobs: NumberJobs[] = [];
    const begun = jest.spyOn(NumberJobs.prototype, 'onApplicationBootstrap');
    begun.mockImplementation(function (this: NumberJobs) {
      jobs.push(this);
    });
    const before = randomUUID();
    await billing.setFacts(before, { status: null });
    await billing.start({}, { regionPollMs: 600_000 });
    await computed(before); // the one look at the start
    const accountId = randomUUID();
    await sg.link(accountId);
    const second = await sg.link(accountId);
    for (const each of jobs) await each.process({ name: 'sg' } as Job);
    await sg.becomes(second, 'over_free_allowance');
    begun.mockRestore();
    await billing.stop();
    await billing.start();
  });

  /** Resolves when nothing of the account is to be computed. */
  const computed = (accountId: string) =>
    eventually('SELECT 1 FROM billing_accounts WHERE account_id = $1 AND dirty_since IS NULL', [accountId]);
  const stored = (id: string, standing: string) =>
    eventually('SELECT 1 FROM channel_standings WHERE channel_id = $1 AND standing = $2', [id, standing]);
  const eventually = async (query: string, values: string[]): Promise<void> => {
    while ((await billing.database.pool.query(query, values)).rowCount === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
});
