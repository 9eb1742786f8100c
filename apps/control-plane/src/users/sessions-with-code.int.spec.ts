import { OPERATIONS } from '@dormouse/management-contract';
import { PUBLIC_URL, RunningControlPlane, type Answer } from '../test-control-plane.js';
import { mailsTo, newUser, PASSWORD, signedIn, SpecBrowser, turnOnSecondFactor } from './test-browser.js';
import { TestIdentityProvider } from './test-identity-provider.js';

jest.setTimeout(60_000);

const refusalOf = ({ status, body }: Answer): unknown => [status, body['error']];
const CODE_REQUIRED = [
  401,
  expect.objectContaining({
    message: 'code required',
    details: 'a code of the second factor is required: POST /auth/sign-in/code',
  }),
];
const CODE_PAGE = `${PUBLIC_URL}/sign-in/code`;

describe('while the second factor of a user is on, a session counts once a code was given in it', () => {
  let plane: RunningControlPlane;
  let provider: TestIdentityProvider;
  let email: string;
  let count = 0;
  beforeAll(async () => {
    provider = await TestIdentityProvider.open();
    const { issuer } = provider;
    const identityProvider = { issuer, clientId: 'dormouse', clientSecret: 'provider secret', name: 'Acme' };
    const limited = { perAddress: 6, perNetwork: 0 };
    const none = { perAddress: 0, perNetwork: 0 };
    const attempts = { signUps: none, mails: none, failedSignIns: limited };
    plane = await RunningControlPlane.open({}, { identityProvider, attempts });
  });
  afterAll(async () => {
    await plane.close();
    await provider.close();
  });
  beforeEach(() => {
    count += 1;
    email = `user-${count}@example.com`;
  });

  /** Signs in through the identity provider; resolves with where the browser goes then. */
  const throughProvider = async (browser: SpecBrowser, returnTo: string): Promise<unknown> => {
    const started = await browser.call('POST', '/auth/identity-provider', { return_to: returnTo });
    const { url } = OPERATIONS.startIdentityProvider.answer.parse(started.body);
    const query = provider.signIn(url, { sub: `sub of ${email}`, email, email_verified: true, name: 'Ada' });
    const { headers } = await browser.send('GET', `/api/v1/auth/callback/oidc?${query.toString()}`);
    return headers['location'];
  };
  const session = async (browser: SpecBrowser) => browser.call('GET', '/auth/session');
  const statusOfSession = async (browser: SpecBrowser) => (await session(browser)).status;
  const giveCode = (browser: SpecBrowser, body: object) => browser.call('POST', '/auth/sign-in/code', body);
  const signIns = async () => {
    const { rows } = await plane.database.pool.query(
      `SELECT 1 FROM audit_log WHERE action = 'user.sign-in' AND actor_id = (SELECT id FROM users WHERE email = $1)`,
      [email],
    );
    return rows.length;
  };

  it('one that the identity provider began is refused everywhere until its code is given, which works once', async () => {
    const own = await signedIn(plane, email);
    const { codeAt } = await turnOnSecondFactor(own);
    const before = await signIns();
    const browser = new SpecBrowser(plane);
    browser.address = '203.0.113.9';
    expect(await throughProvider(browser, '/channels?page=2')).toBe(`${CODE_PAGE}?return_to=%2Fchannels%3Fpage%3D2`);
    for (const path of ['/auth/session', '/auth/sessions', '/accounts', '/channels', '/fleet']) {
      expect([path, refusalOf(await browser.call('GET', path))]).toEqual([path, CODE_REQUIRED]);
    }
    const prove = await browser.call('POST', '/auth/prove', { password: PASSWORD, code: codeAt(0) });
    expect(refusalOf(prove)).toEqual(CODE_REQUIRED);
    expect((await giveCode(browser, { code: codeAt(-1) })).status).toBe(401);
    expect([await statusOfSession(browser), await signIns()]).toEqual([401, before]);
    const answer = await giveCode(browser, { code: codeAt(0) });
    expect([answer.status, answer.body]).toMatchObject([200, { code_required: false, user: { email } }]);
    expect([await statusOfSession(browser), await signIns()]).toEqual([200, before + 1]);
    expect((await mailsTo(plane, email)).filter(({ kind }) => kind === 'new-sign-in')).toHaveLength(1);
    const other = new SpecBrowser(plane);
    await throughProvider(other, '/');
    expect((await giveCode(other, { code: codeAt(0) })).status).toBe(401);
    expect(await statusOfSession(other)).toBe(401);
  });

  it('one that the identity provider began takes a recovery code, each once', async () => {
    const { recoveryCodes } = await turnOnSecondFactor(await signedIn(plane, email));
    const [recoveryCode] = recoveryCodes;
    const browsers = [new SpecBrowser(plane), new SpecBrowser(plane)];
    for (const browser of browsers) await throughProvider(browser, '/');
    const answers = [];
    for (const browser of browsers) answers.push((await giveCode(browser, { recovery_code: recoveryCode })).status);
    expect(answers).toEqual([200, 401]);
    expect(await Promise.all(browsers.map(statusOfSession))).toEqual([200, 401]);
  });

  it('wrong codes in it are limited like wrong passwords', async () => {
    const { codeAt } = await turnOnSecondFactor(await signedIn(plane, email));
    const browser = new SpecBrowser(plane);
    await throughProvider(browser, '/');
    const answers = [];
    for (let attempt = 0; attempt < 7; attempt += 1) answers.push((await giveCode(browser, { code: '000000' })).status);
    expect(answers).toEqual([401, 401, 401, 401, 401, 401, 429]);
    expect((await giveCode(browser, { code: codeAt(0) })).status).toBe(429);
    expect(await statusOfSession(browser)).toBe(401);
  });

  it('turning it on leaves that session as it is; the other sessions of the user need a code', async () => {
    const here = await signedIn(plane, email);
    const there = new SpecBrowser(plane);
    await there.call('POST', '/auth/sign-in', { email, password: PASSWORD });
    const { codeAt } = await turnOnSecondFactor(here);
    expect(await statusOfSession(here)).toBe(200);
    expect(refusalOf(await session(there))).toEqual(CODE_REQUIRED);
    expect((await giveCode(there, { code: codeAt(0) })).status).toBe(200);
    expect(await Promise.all([here, there].map(statusOfSession))).toEqual([200, 200]);
  });

  it('one that is older than the mark of the code needs a code', async () => {
    const browser = await signedIn(plane, email);
    const { codeAt } = await turnOnSecondFactor(browser);
    await plane.database.pool.query(
      'UPDATE user_sessions SET second_factor_at = NULL WHERE user_id = (SELECT id FROM users WHERE email = $1)',
      [email],
    );
    expect(refusalOf(await session(browser))).toEqual(CODE_REQUIRED);
    expect((await giveCode(browser, { code: codeAt(0) })).status).toBe(200);
    expect(await statusOfSession(browser)).toBe(200);
  });

  it('it goes on after the password was changed, and a code of a factor that was turned off is none of the next', async () => {
    const browser = await signedIn(plane, email);
    await turnOnSecondFactor(browser);
    const changed = { current_password: PASSWORD, password: 'nine green kettles hum' };
    expect((await browser.call('POST', '/auth/password', changed)).status).toBe(200);
    expect(await statusOfSession(browser)).toBe(200);
    const back = { current_password: changed.password, password: PASSWORD };
    expect((await browser.call('POST', '/auth/password', back)).status).toBe(200);
    expect((await browser.call('DELETE', '/auth/second-factor')).status).toBe(200);
    const other = new SpecBrowser(plane);
    await other.call('POST', '/auth/sign-in', { email, password: PASSWORD });
    await turnOnSecondFactor(other);
    expect(await Promise.all([browser, other].map(statusOfSession))).toEqual([401, 200]);
  });

  it('operators need it too, and a user without a second factor needs none', async () => {
    await newUser(plane, email);
    const browser = new SpecBrowser(plane);
    expect(await throughProvider(browser, '/fleet')).toBe(`${PUBLIC_URL}/fleet`);
    await plane.database.pool.query('UPDATE users SET is_operator = true WHERE email = $1', [email]);
    expect((await browser.call('GET', '/fleet')).status).toBe(403);
    const { codeAt } = await turnOnSecondFactor(browser);
    expect((await browser.call('GET', '/fleet')).status).toBe(200);
    const other = new SpecBrowser(plane);
    expect(await throughProvider(other, '/fleet')).toBe(`${CODE_PAGE}?return_to=%2Ffleet`);
    expect(refusalOf(await other.call('GET', '/fleet'))).toEqual(CODE_REQUIRED);
    await giveCode(other, { code: codeAt(0) });
    expect((await other.call('GET', '/fleet')).status).toBe(200);
  });
});
