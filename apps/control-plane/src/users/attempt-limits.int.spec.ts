import { RunningControlPlane, type Answer } from '../test-control-plane.js';
import { AttemptLimits } from './attempt-limits.js';
import { newUser, PASSWORD, SpecBrowser } from './test-browser.js';

jest.setTimeout(60_000);

const limit = { perAddress: 3, perNetwork: 6 };

describe('limits of attempts', () => {
  let plane: RunningControlPlane;
  let count = 0;
  beforeAll(async () => {
    plane = await RunningControlPlane.open({}, { attempts: { signUps: limit, failedSignIns: limit, mails: limit } });
  });
  afterAll(() => plane.close());
  beforeEach(() => plane.database.pool.query('DELETE FROM attempt_counts'));
  const from = (address: string): SpecBrowser => {
    const browser = new SpecBrowser(plane);
    browser.address = address;
    return browser;
  };
  const newAddress = (): string => `limited-${(count += 1)}@example.com`;
  const refused = (answer: Answer | undefined): void => {
    expect(answer?.status).toBe(429);
    const seconds = Number(answer?.headers['retry-after']);
    expect(seconds).toBeGreaterThan(890);
    expect(seconds).toBeLessThanOrEqual(3_600);
  };

  it.each([
    ['sign-in', { password: 'not the password 1' }, [401, 401, 401]],
    ['sign-up', { name: 'Ada', password: PASSWORD }, [200, 200, 200]],
    ['password-reset', {}, [200, 200, 200]],
    ['verification-mail', {}, [200, 200, 200]],
  ])('of %s hold for an address, from any network, many at once and known or not', async (path, body, statuses) => {
    const email = newAddress();
    const tries = Array.from({ length: 8 }, (_, index) =>
      from(`192.0.2.${index + 1}`).call('POST', `/auth/${path}`, { ...body, email }),
    );
    const answers = await Promise.all(tries);
    const sorted = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(sorted).toEqual([...statuses, ...Array<number>(5).fill(429)]);
    refused(answers.find(({ status }) => status === 429));
    const other = await from('192.0.2.1').call('POST', `/auth/${path}`, { ...body, email: newAddress() });
    expect(other.status).toBe(statuses[0]);
  });

  it('hold for a network, whatever the addresses; IPv6 addresses of one line are one network', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      const body = { email: newAddress(), password: 'not the password 1' };
      statuses.push((await from(`2001:db8:1:2::${index + 1}`).call('POST', '/auth/sign-in', body)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429]);
    const elsewhere = from('2001:db8:1:3::1').call('POST', '/auth/sign-in', { email: newAddress(), password: 'x' });
    expect((await elsewhere).status).toBe(401);
  });

  it('do not count sign-ins that succeed', async () => {
    const email = newAddress();
    await newUser(plane, email);
    for (let index = 0; index < 10; index += 1) {
      expect((await from('192.0.2.77').call('POST', '/auth/sign-in', { email, password: PASSWORD })).status).toBe(200);
    }
  });

  it('are shared by all processes, name the time that is left, and do not store addresses', async () => {
    const settings = { signUps: limit, failedSignIns: limit, mails: limit };
    const [one, two] = [new AttemptLimits(plane.database, settings), new AttemptLimits(plane.database, settings)];
    const attempt = { about: newAddress(), address: '192.0.2.200' };
    await one.count('mail', attempt);
    await two.count('mail', attempt);
    await one.count('mail', attempt);
    await plane.database.pool.query('UPDATE attempt_counts SET expire = $1', [Date.now() + 100_000]);
    const refusal: unknown = await two.count('mail', attempt).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 429 });
    // The rest of the window, not the whole.
    const retryAfterS = Number(Reflect.get(Object(refusal), 'retryAfterS'));
    expect([retryAfterS > 60, retryAfterS <= 100]).toEqual([true, true]);
    const { rows } = await plane.database.pool.query('SELECT key FROM attempt_counts');
    expect(JSON.stringify(rows)).not.toContain('@');
  });
});
