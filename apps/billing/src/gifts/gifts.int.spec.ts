import { randomUUID } from 'node:crypto';
import { TEST_BILLING_SECRET, TestBilling } from '../test-billing.js';

jest.setTimeout(60_000);

describe('free numbers that an operator gives', () => {
  let billing: TestBilling;
  let nowMs: number;
  beforeAll(async () => {
    nowMs = Date.UTC(2027, 0, 10);
    billing = await TestBilling.open({ nowMs: () => nowMs });
  });
  afterAll(() => billing.close());

  const requester = { actor: { kind: 'operator', id: 'ada', name: 'Ada' }, requestId: 'request-1' };
  const call = async (name: string, body: object, secret = TEST_BILLING_SECRET) => {
    const response = await fetch(`${billing.url}/internal/billing/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const give = (accountId: string, given: object) => call('give-free-numbers', { accountId, requester, given });
  const refused = async () => {
    const accountId = randomUUID();
    const sg = billing.region();
    const ids = [await sg.link(accountId), await sg.link(accountId), await sg.link(accountId)] as const;
    await Promise.all([sg.becomes(ids[1], 'over_free_allowance'), sg.becomes(ids[2], 'over_free_allowance')]);
    return { accountId, sg, ids };
  };

  it('has the numbers served, and refused again when it ends by the clock', async () => {
    const { accountId, sg, ids } = await refused();
    const endsAt = nowMs / 1_000 + 3_600;
    const answer = await give(accountId, { numbers: 1, reason: 'a promise', ends_at: endsAt });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        free: 2,
        given: [{ numbers: 1, reason: 'a promise', granted_by: 'Ada', ends_at: endsAt, in_effect: true }],
      },
    });
    await sg.becomes(ids[1], 'good');
    expect((await sg.directory.byId(ids[2]))?.standing).toBe('over_free_allowance');
    nowMs += 3_600_000;
    await sg.becomes(ids[1], 'over_free_allowance');
    expect(await sg.notices(ids[1])).toEqual([402, 200, 402]);
    expect((await call('free-numbers', { accountId })).body).toMatchObject({ free: 1, given: [{ in_effect: false }] });
  });

  it('is replaced by another one, and ended at once', async () => {
    const { accountId, sg, ids } = await refused();
    await give(accountId, { numbers: 5, reason: 'a trial' });
    await Promise.all([sg.becomes(ids[1], 'good'), sg.becomes(ids[2], 'good')]);
    const replaced = await give(accountId, { numbers: 1, reason: 'a smaller one' });
    expect(replaced.body).toMatchObject({ free: 2, given: [{ in_effect: true }, { in_effect: false }] });
    await sg.becomes(ids[2], 'over_free_allowance');
    for (const _repeated of [1, 2]) {
      expect((await call('end-free-numbers', { accountId, requester })).body).toMatchObject({ free: 1 });
    }
    await sg.becomes(ids[1], 'over_free_allowance');
    const { rows } = await billing.database.pool.query<{ action: string; actor_id: string }>(
      `SELECT action, actor_id FROM audit_log WHERE account_id = $1 AND action LIKE 'free-numbers%' ORDER BY id`,
      [accountId],
    );
    expect(rows).toEqual([
      { action: 'free-numbers.give', actor_id: 'ada' },
      { action: 'free-numbers.give', actor_id: 'ada' },
      { action: 'free-numbers.end', actor_id: 'ada' },
    ]);
  });

  it('counts before the number is linked: it is never refused', async () => {
    const accountId = randomUUID();
    const sg = billing.region();
    await give(accountId, { numbers: 1, reason: 'a promise' });
    const ids = [await sg.link(accountId), await sg.link(accountId), await sg.link(accountId)] as const;
    await sg.becomes(ids[2], 'over_free_allowance');
    expect(await sg.notices(ids[1])).toEqual([]);
  });

  it.each([
    [{ numbers: 0, reason: 'x' }, /^given\.numbers: must be at least 1/],
    [{ numbers: 1.5, reason: 'x' }, /^given\.numbers: /],
    [{ numbers: 1, reason: '' }, /^given\.reason: must have a reason/],
    [{ numbers: 1, reason: 'a\u0000' }, /^given\.reason: /],
    [{ numbers: 1, reason: 'x', ends_at: 1 }, /^ends_at: must be in the future/],
    [{ numbers: 1 }, /^given\.reason: /],
  ])('is refused with 400 that names the field: %j', async (given, details) => {
    const answer = await give(randomUUID(), given);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { details: expect.stringMatching(details) as string } },
    });
  });

  it('takes the secret of the control plane, and nothing else', async () => {
    const answer = await call('free-numbers', { accountId: 'a' }, 'another secret');
    expect([answer.status, answer.body]).toMatchObject([401, { error: { code: 401 } }]);
  });
});
