import { OPERATIONS } from '@dormouse/management-contract';
import { RunningControlPlane, type Answer } from '../test-control-plane.js';
import { mailsTo, newUser, PASSWORD, signedIn, SpecBrowser, tokenIn, turnOnSecondFactor } from './test-browser.js';

jest.setTimeout(60_000);

const detailsOf = ({ body }: Answer): string => String((body['error'] as Record<string, unknown>)['details']);
const refusalOf = (answer: Answer): [number, string] => [answer.status, detailsOf(answer)];

describe('users who are signed in', () => {
  let plane: RunningControlPlane;
  let email: string;
  let count = 0;
  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());
  beforeEach(() => {
    count += 1;
    email = `user-${count}@example.com`;
  });
  const signIn = (browser: SpecBrowser, password = PASSWORD): Promise<Answer> =>
    browser.call('POST', '/auth/sign-in', { email, password });
  const setProof = (agoMs: number) =>
    plane.database.pool.query(
      `UPDATE user_sessions SET proven_at = now() - make_interval(secs => $2 / 1000.0)
       WHERE user_id = (SELECT id FROM users WHERE email = $1)`,
      [email, agoMs],
    );

  describe('sessions', () => {
    it('are listed, and one that is ended elsewhere is refused at the next request', async () => {
      const here = await signedIn(plane, email);
      const there = new SpecBrowser(plane);
      await signIn(there);
      const { sessions } = OPERATIONS.listSessions.answer.parse((await here.call('GET', '/auth/sessions')).body);
      expect(sessions.map(({ current, address }) => [current, address])).toEqual([
        [false, '127.0.0.1'],
        [true, '127.0.0.1'],
      ]);
      const other = sessions.find(({ current }) => !current)?.id ?? '';
      expect((await there.call('GET', '/auth/session')).status).toBe(200);
      expect((await here.call('DELETE', `/auth/sessions/${other}`)).status).toBe(200);
      expect((await there.call('GET', '/auth/session')).status).toBe(401);
      expect((await here.call('GET', '/auth/session')).status).toBe(200);
      expect((await here.call('DELETE', `/auth/sessions/${other}`)).status).toBe(404);
    });

    it('of another user are not found and go on', async () => {
      const here = await signedIn(plane, email);
      const other = await signedIn(plane, `other-${email}`);
      const { session } = OPERATIONS.getSession.answer.parse((await other.call('GET', '/auth/session')).body);
      expect((await here.call('DELETE', `/auth/sessions/${session.id}`)).status).toBe(404);
      expect((await other.call('GET', '/auth/session')).status).toBe(200);
    });

    it('end all at once, and signing out ends the one of the request', async () => {
      const browsers = [await signedIn(plane, email), new SpecBrowser(plane), new SpecBrowser(plane)];
      for (const browser of browsers.slice(1)) await signIn(browser);
      const [first, second, third] = browsers;
      expect((await third?.call('POST', '/auth/sign-out'))?.status).toBe(200);
      expect(third?.cookies.size).toBe(0);
      expect((await second?.call('GET', '/auth/session'))?.status).toBe(200);
      expect((await first?.call('DELETE', '/auth/sessions'))?.status).toBe(200);
      for (const browser of browsers) expect((await browser.call('GET', '/auth/session')).status).toBe(401);
    });

    it.each([
      ['none', undefined],
      ['one without a signature', 'token'],
      ['one that somebody else signed', 'token.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
      ['broken text', '%'],
    ])('are not opened by %s', async (_title, value) => {
      const browser = new SpecBrowser(plane);
      if (value !== undefined) browser.cookies.set('dormouse.session_token', value);
      expect((await browser.call('GET', '/auth/session')).status).toBe(401);
    });

    it('end with the user: who was removed is refused at the next request', async () => {
      const browser = await signedIn(plane, email);
      await plane.database.prisma.user.delete({ where: { email } });
      expect((await browser.call('GET', '/auth/session')).status).toBe(401);
    });

    it('are refused for what changes something from another origin, or without one', async () => {
      const browser = await signedIn(plane, email);
      for (const origin of ['https://evil.test', 'null', 'http://dormouse.test.evil.test']) {
        const answer = await browser.call('POST', '/auth/sign-out', undefined, { origin });
        expect([answer.status, detailsOf(answer)]).toEqual([403, expect.stringMatching(/^origin: /)]);
      }
      expect((await browser.send('POST', '/api/v1/auth/sign-out')).status).toBe(403);
      expect((await browser.call('GET', '/auth/session')).status).toBe(200);
      const foreign = { origin: 'https://evil.test' };
      expect(
        (await new SpecBrowser(plane).call('POST', '/auth/sign-in', { email, password: PASSWORD }, foreign)).status,
      ).toBe(403);
    });
  });

  it('change their password with the present one, which ends the other sessions', async () => {
    const here = await signedIn(plane, email);
    const there = new SpecBrowser(plane);
    await signIn(there);
    const password = 'nine green kettles hum';
    const wrong = { current_password: 'not the password 1', password };
    expect(refusalOf(await here.call('POST', '/auth/password', wrong))).toEqual([400, 'current_password: wrong']);
    const weak = { current_password: PASSWORD, password: 'password1234' };
    expect(refusalOf(await here.call('POST', '/auth/password', weak))[0]).toBe(400);
    const right = { current_password: PASSWORD, password };
    expect((await here.call('POST', '/auth/password', right)).status).toBe(200);
    expect((await here.call('GET', '/auth/session')).status).toBe(200);
    expect((await there.call('GET', '/auth/session')).status).toBe(401);
    expect((await signIn(there)).status).toBe(401);
    expect((await signIn(there, password)).status).toBe(200);
  });

  it('change their address by a mail to the new one, and need a proof that is at most 15 minutes old', async () => {
    const browser = await signedIn(plane, email);
    const next = `new-${email}`;
    await setProof(16 * 60_000);
    const change = () => browser.call('POST', '/auth/address', { email: next });
    expect(refusalOf(await change())).toEqual([403, expect.stringContaining('POST /auth/prove')]);
    const wrong = await browser.call('POST', '/auth/prove', { password: 'not the password 1' });
    expect(refusalOf(wrong)).toEqual([400, 'password: wrong']);
    expect((await change()).status).toBe(403);
    const proven = await browser.call('POST', '/auth/prove', { password: PASSWORD });
    expect(OPERATIONS.prove.answer.parse(proven.body).session.proven_until).toBeGreaterThan(Date.now() / 1_000 + 890);
    expect((await change()).status).toBe(200);
    const before = OPERATIONS.getSession.answer.parse((await browser.call('GET', '/auth/session')).body);
    expect(before.user.email).toBe(email);
    const token = await tokenIn(plane, next, 'verify-address');
    expect((await new SpecBrowser(plane).call('POST', '/auth/verify-address', { token })).status).toBe(200);
    expect((await browser.call('GET', '/auth/session')).body).toMatchObject({ user: { email: next } });
    expect(
      (await new SpecBrowser(plane).call('POST', '/auth/sign-in', { email: next, password: PASSWORD })).status,
    ).toBe(200);
  });

  it('who change their address: a mail notifies the old one, once; a link works once, and not for the address of a user', async () => {
    const browser = await signedIn(plane, email);
    const [next, taken] = [`new-${email}`, `taken-${email}`];
    const tokens: string[] = [];
    for (const address of [taken, next]) {
      await browser.call('POST', '/auth/address', { email: address });
      tokens.push(await tokenIn(plane, address, 'verify-address'));
    }
    await newUser(plane, taken);
    const use = (token = '') => browser.call('POST', '/auth/verify-address', { token });
    const [toTaken, toNext] = tokens;
    const refused = [400, expect.stringMatching(/^token: /)];
    const notified = async () => (await mailsTo(plane, email)).filter(({ kind }) => kind === 'address-changed');
    expect(refusalOf(await use(toTaken))).toEqual(refused);
    expect(await notified()).toEqual([]);
    expect((await use(toNext)).status).toBe(200);
    expect(refusalOf(await use(toNext))).toEqual(refused);
    expect(await notified()).toMatchObject([{ to_address: email, data: { at: expect.any(String) as string } }]);
    expect((await browser.call('GET', '/auth/session')).body).toMatchObject({ user: { email: next } });
    const { rows } = await plane.database.pool.query(
      `SELECT action FROM audit_log WHERE action LIKE 'user.change-address%' AND actor_id = (SELECT id FROM users WHERE email = $1)`,
      [next],
    );
    expect(rows).toEqual([{ action: 'user.change-address' }]);
  });

  it('do not learn whether the address that they change to is known', async () => {
    const browser = await signedIn(plane, email);
    const known = `known-${email}`;
    await newUser(plane, known);
    const mails = (await mailsTo(plane, known)).length;
    const answers = await Promise.all(
      [known, `unknown-${email}`].map((address) => browser.call('POST', '/auth/address', { email: address })),
    );
    expect(answers.map(({ status, body }) => [status, body])).toEqual(Array(2).fill([200, { success: true }]));
    expect(await mailsTo(plane, known)).toHaveLength(mails);
  });

  it('change the name that others see', async () => {
    const browser = await signedIn(plane, email);
    expect((await browser.call('POST', '/auth/name', { name: ' ' })).status).toBe(400);
    expect((await browser.call('POST', '/auth/name', { name: 'Ada L.' })).status).toBe(200);
    expect((await browser.call('GET', '/auth/session')).body).toMatchObject({ user: { name: 'Ada L.', email } });
  });

  it('stand in the audit log by their id with what they did and tried to do, and no secret', async () => {
    const browser = await signedIn(plane, email);
    const password = 'nine green kettles hum';
    await browser.call('POST', '/auth/password', { current_password: 'not the password 1', password });
    await browser.call('POST', '/auth/password', { current_password: PASSWORD, password });
    await browser.call('DELETE', '/auth/sessions');
    const { rows } = await plane.database.pool.query<{ action: string }>(
      'SELECT * FROM audit_log WHERE actor_id = (SELECT id FROM users WHERE email = $1) ORDER BY id',
      [email],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      // By the confirmation of the address, and by password.
      ...['user.sign-in', 'user.sign-in'],
      'user.change-password',
      'user.change-password.failed',
      'user.change-password',
      'user.end-sessions',
    ]);
    for (const secret of [email, password, PASSWORD]) expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it('are notified by mail of a sign-in from a network that is new, not of the first one and not twice', async () => {
    const kinds = async () => (await mailsTo(plane, email)).filter(({ kind }) => kind === 'new-sign-in');
    const browser = await signedIn(plane, email);
    browser.address = '127.0.0.9';
    await signIn(browser);
    expect(await kinds()).toHaveLength(0);
    browser.address = '203.0.113.7';
    await signIn(browser);
    await signIn(browser);
    expect((await kinds()).map(({ data }) => data['address'])).toEqual(['203.0.113.7']);
  });

  describe('second factor', () => {
    const turnOn = async () => {
      const browser = await signedIn(plane, email);
      return { browser, ...(await turnOnSecondFactor(browser)) };
    };
    const firstStep = async (): Promise<SpecBrowser> => {
      const browser = new SpecBrowser(plane);
      expect((await signIn(browser)).body).toEqual({ code_required: true });
      expect((await browser.call('GET', '/auth/session')).status).toBe(401);
      return browser;
    };
    const withCode = (browser: SpecBrowser, body: object) => browser.call('POST', '/auth/sign-in/code', body);

    it('requires a code at the next sign-in, and no code is taken twice, at whatever browser', async () => {
      const { codeAt } = await turnOn();
      const [one, two] = [await firstStep(), await firstStep()];
      expect(refusalOf(await withCode(one, { code: codeAt(-1) }))).toEqual([401, 'the code is wrong or was used']);
      const both = await Promise.all([one, two].map((browser) => withCode(browser, { code: codeAt(0) })));
      expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
      const winner = both[0]?.status === 200 ? one : two;
      expect((await winner.call('GET', '/auth/session')).body).toMatchObject({ user: { second_factor: true } });
      expect((await withCode(await firstStep(), { code: codeAt(0) })).status).toBe(401);
      expect((await withCode(await firstStep(), { code: codeAt(1) })).status).toBe(200);
    });

    it('is replaced by a recovery code when the phone is lost: each works once, and it is turned off then', async () => {
      const { recoveryCodes } = await turnOn();
      const [recoveryCode = ''] = recoveryCodes;
      const browser = await firstStep();
      expect((await withCode(browser, { recovery_code: recoveryCode })).status).toBe(200);
      expect((await withCode(await firstStep(), { recovery_code: recoveryCode })).status).toBe(401);
      expect((await browser.call('DELETE', '/auth/second-factor')).status).toBe(200);
      expect((await signIn(new SpecBrowser(plane))).body).toMatchObject({ code_required: false });
    });

    it('is not turned off without a proof, and a proof takes the code too', async () => {
      const { browser, codeAt } = await turnOn();
      await setProof(16 * 60_000);
      expect((await browser.call('DELETE', '/auth/second-factor')).status).toBe(403);
      const prove = (body: object) => browser.call('POST', '/auth/prove', { password: PASSWORD, ...body });
      expect(refusalOf(await prove({}))).toEqual([400, 'code: required']);
      expect((await prove({ code: codeAt(-1) })).status).toBe(401);
      expect((await browser.call('DELETE', '/auth/second-factor')).status).toBe(403);
      expect((await prove({ code: codeAt(0) })).status).toBe(200);
      expect((await browser.call('DELETE', '/auth/second-factor')).status).toBe(200);
    });

    it('gives up a sign-in after five wrong codes', async () => {
      const { codeAt } = await turnOn();
      const browser = await firstStep();
      for (let attempt = 0; attempt < 5; attempt += 1) {
        expect((await withCode(browser, { code: '000000' })).status).toBe(401);
      }
      expect((await withCode(browser, { code: codeAt(0) })).status).toBe(401);
    });

    it('is stored encrypted, and its secret and codes are not logged', async () => {
      const { recoveryCodes, secret } = await turnOn();
      const { rows } = await plane.database.pool.query('SELECT * FROM user_second_factors');
      const kept = JSON.stringify(rows) + plane.logged.join('');
      for (const text of [...recoveryCodes, secret.base32, secret.utf8]) expect(kept).not.toContain(text);
    });

    it('needs the password to be turned on, and a right code', async () => {
      const browser = await signedIn(plane, email);
      const start = (password: string) => browser.call('POST', '/auth/second-factor', { password });
      expect(refusalOf(await start('not the password 1'))).toEqual([400, 'password: wrong']);
      expect((await start(PASSWORD)).status).toBe(200);
      expect((await browser.call('POST', '/auth/second-factor/confirm', { code: '000000' })).status).toBe(401);
      expect((await signIn(new SpecBrowser(plane))).body).toMatchObject({ code_required: false });
    });
  });
});
