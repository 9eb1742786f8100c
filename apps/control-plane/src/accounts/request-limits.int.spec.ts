import { OPERATOR_KEY, RunningControlPlane } from '../test-control-plane.js';
import { detailsOf, SpecUser } from './test-members.js';

jest.setTimeout(60_000);

describe('limits of the management API', () => {
  let plane: RunningControlPlane;
  beforeAll(async () => {
    plane = await RunningControlPlane.open({ perAccount: 10, badKeysPerAddress: 5, channelsPerAccount: 2 });
  });
  afterAll(() => plane.close());

  it('refuse requests of an account beyond its limit for a minute, with Retry-After', async () => {
    const { accountKey } = await plane.newAccount();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => plane.call(accountKey, 'GET', '/api/v1/account')),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(10).fill(200), 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    const retryAfterS = Number(refused?.headers['retry-after']);
    expect([retryAfterS > 50, retryAfterS <= 60]).toEqual([true, true]);
    expect(refused?.body).toMatchObject({ error: { code: 429, details: 'too many requests from this account' } });
    const { accountKey: other } = await plane.newAccount();
    expect((await plane.call(other, 'GET', '/api/v1/account')).status).toBe(200);
  });

  it('refuse to create more channels than an account may have', async () => {
    const { accountKey } = await plane.newAccount();
    const create = () => plane.call(accountKey, 'POST', '/api/v1/channels', { body: { name: 'Shop' } });
    expect([(await create()).status, (await create()).status]).toEqual([201, 201]);
    const refused = await create();
    expect([refused.status, refused.body]).toEqual([
      403,
      expect.objectContaining({
        error: expect.objectContaining({ details: expect.stringContaining('2 channels') as string }) as object,
      }),
    ]);
  });

  it('hold exactly when many channels are created at once', async () => {
    const { accountKey } = await plane.newAccount();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => plane.call(accountKey, 'POST', '/api/v1/channels', { body: { name: 'Shop' } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403, 403, 403]);
  });

  it('refuse an address that guesses keys, but not requests from there with a key that was valid before', async () => {
    const { accountKey } = await plane.newAccount();
    expect((await plane.call(accountKey, 'GET', '/api/v1/account')).status).toBe(200);
    const guess = (path: string, index: number) => plane.call(`dmk_guess${index}`, 'GET', `/api/v1${path}`);
    for (let index = 0; index < 5; index += 1) expect((await guess('/account', index)).status).toBe(401);
    for (const path of ['/account', '/fleet']) {
      const refused = await guess(path, 9);
      expect([refused.status, Number(refused.headers['retry-after']) >= 1]).toEqual([429, true]);
    }
    expect((await plane.call(accountKey, 'GET', '/api/v1/account')).status).toBe(200);
    expect((await plane.call(OPERATOR_KEY, 'GET', '/api/v1/fleet')).status).toBe(200);
  });
});

describe('limits of creating channels', () => {
  let plane: RunningControlPlane;
  let user: SpecUser;
  let accountId: string;
  const create = () => user.call('POST', '/channels', { name: 'Shop' });
  const setLimits = (body: object) =>
    plane.call(OPERATOR_KEY, 'PUT', `/api/v1/operators/accounts/${accountId}/limits`, { body });

  beforeAll(async () => {
    plane = await RunningControlPlane.open({ channelsPerHalfHour: 3, neverLinkedChannels: 2 });
  });
  afterAll(() => plane.close());
  beforeEach(async () => {
    user = await SpecUser.create(plane);
    accountId = String((await user.call('POST', '/accounts', { name: 'Acme' })).body['id']);
  });

  it('refuse more than a number of channels that were never linked, and count those that were linked once no more', async () => {
    const ids = [await create(), await create()].map(({ body }) => (body['channel'] as { id: string }).id);
    const refused = await create();
    expect([refused.status, detailsOf(refused)]).toEqual([
      403,
      expect.stringContaining('2 channels that were never linked'),
    ]);
    await plane.regional.pool.query('UPDATE channels SET first_linked_at = now() WHERE id = $1', [ids[0]]);
    expect((await create()).status).toBe(201);
  });

  it('refuse more than a number in half an hour, deleted ones included, with the exact time until the next', async () => {
    await setLimits({ never_linked_channels: 0 });
    const { body } = await create();
    await user.call('DELETE', `/channels/${(body['channel'] as { id: string }).id}`);
    await Promise.all([create(), create()]);
    const oldest =
      "UPDATE channels SET created_at = now() - interval '1700 s' WHERE account_id = $1 AND deleted_at IS NOT NULL";
    await plane.database.pool.query(oldest, [accountId]);
    const refused = await create();
    expect([refused.status, detailsOf(refused)]).toEqual([
      429,
      expect.stringContaining('3 channels within half an hour'),
    ]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(95);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(100);
    await plane.database.pool.query(
      "UPDATE channels SET created_at = now() - interval '1800 s' WHERE account_id = $1 AND deleted_at IS NOT NULL",
      [accountId],
    );
    expect((await create()).status).toBe(201);
  });

  it('are what an operator sets for an account, and none for accounts that operators make', async () => {
    const limits = { channels_per_half_hour: 1, never_linked_channels: 0 };
    expect(await setLimits(limits)).toMatchObject({ status: 200, body: limits });
    expect([(await create()).status, (await create()).status]).toEqual([201, 429]);
    await setLimits({ channels_per_half_hour: 0, never_linked_channels: 0 });
    for (let count = 0; count < 4; count += 1) expect((await create()).status).toBe(201);
    const { accountKey } = await plane.newAccount();
    for (let count = 0; count < 4; count += 1) {
      expect((await plane.call(accountKey, 'POST', '/api/v1/channels', { body: { name: 'Shop' } })).status).toBe(201);
    }
    const unknown = await plane.call(OPERATOR_KEY, 'PUT', '/api/v1/operators/accounts/acc_none/limits', {
      body: limits,
    });
    expect(unknown.status).toBe(404);
  });
});
