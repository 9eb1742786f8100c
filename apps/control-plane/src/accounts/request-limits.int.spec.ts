import { jest } from '@jest/globals';
import { OPERATOR_KEY, RunningControlPlane } from '../test-control-plane.js';

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
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
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
