import { RunningControlPlane, type Answer } from '../test-control-plane.js';
import { SignIn } from './sign-in.js';
import { mailsTo, newUser, PASSWORD, SpecBrowser, tokenIn } from './test-browser.js';

jest.setTimeout(60_000);

const detailsOf = ({ body }: Answer): string => String((body['error'] as Record<string, unknown>)['details']);

describe('a new user', () => {
  let plane: RunningControlPlane;
  let browser: SpecBrowser;
  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());
  beforeEach(() => {
    browser = new SpecBrowser(plane);
  });
  const signUp = (email: string, password = PASSWORD): Promise<Answer> =>
    browser.call('POST', '/auth/sign-up', { name: 'Ada', email, password });
  const signIn = (email: string, password = PASSWORD): Promise<Answer> =>
    browser.call('POST', '/auth/sign-in', { email, password });

  it('gets a session only after the link in the mail was used, by a cookie that scripts cannot read', async () => {
    expect((await signUp('Ada@Example.com')).status).toBe(200);
    const early = await signIn('ada@example.com');
    expect([early.status, early.headers['set-cookie']]).toEqual([403, undefined]);
    const token = await tokenIn(plane, 'ada@example.com', 'verify-address');
    await browser.send('GET', `/verify-email?token=${token}`);
    expect((await signIn('ada@example.com')).status).toBe(403);
    expect((await browser.call('POST', '/auth/verify-address', { token })).status).toBe(200);
    const answer = await signIn('ADA@example.com');
    expect(answer.body).toEqual({
      code_required: false,
      user: {
        id: expect.stringMatching(/^usr_/) as string,
        name: 'Ada',
        email: 'ada@example.com',
        second_factor: false,
        operator: false,
      },
    });
    expect(String(answer.headers['set-cookie'])).toMatch(/^dormouse\.session_token=.*HttpOnly; SameSite=Lax/i);
    expect((await browser.call('GET', '/auth/session')).status).toBe(200);
  });

  it('is signed in by the confirmation of the address, the first time alone', async () => {
    await signUp('carol@example.com');
    const token = await tokenIn(plane, 'carol@example.com', 'verify-address');
    const confirm = (by: SpecBrowser) => by.call('POST', '/auth/verify-address', { token });
    expect((await confirm(browser)).status).toBe(200);
    expect((await browser.call('GET', '/auth/session')).body).toMatchObject({ user: { email: 'carol@example.com' } });
    const elsewhere = new SpecBrowser(plane);
    const again = await confirm(elsewhere);
    expect([again.status, again.headers['set-cookie']]).toEqual([200, undefined]);
    expect((await elsewhere.call('GET', '/auth/session')).status).toBe(401);
  });

  it.each([
    ['a wrong token', { token: 'x.y.z' }],
    ['an altered token', undefined],
  ])('is not confirmed by %s', async (_title, given) => {
    const email = `bob-${_title.length}@example.com`;
    await signUp(email);
    const token = await tokenIn(plane, email, 'verify-address');
    const altered = given ?? { token: `${token.slice(0, -4)}AAAA` };
    const answer = await browser.call('POST', '/auth/verify-address', altered);
    expect([answer.status, detailsOf(answer)]).toEqual([400, expect.stringMatching(/^token: /)]);
    expect((await signIn(email)).status).toBe(403);
  });

  it.each([
    ['a line break', 'eve@example.com\r\nBcc: x@evil.test', /^email: /],
    ['two addresses', 'eve@example.com, x@evil.test', /^email: must be one e-mail address/],
    ['a name', 'Eve <eve@example.com>', /^email: must be one e-mail address/],
    ['no domain', 'eve', /^email: must be one e-mail address/],
  ])('is refused with %s in the address', async (_title, email, details) => {
    const answer = await signUp(email);
    expect([answer.status, detailsOf(answer)]).toEqual([400, expect.stringMatching(details)]);
    expect(await mailsTo(plane, email)).toEqual([]);
  });

  it.each([
    ['short', 'kurz 1', /^password: must have at least 10 characters/],
    ['known', 'password1234', /^password: too easy to guess/],
    ['repeated', 'aaaaaaaaaaaaaaaa', /^password: too easy to guess/],
    ['made of the address', 'eve.smith2026', /^password: too easy to guess/],
  ])('is refused with a password that is %s', async (_title, password, details) => {
    const answer = await signUp('eve.smith@example.com', password);
    expect([answer.status, detailsOf(answer)]).toEqual([400, expect.stringMatching(details)]);
  });

  it('has a password that is stored as an argon2id hash, and neither it nor a link is logged', async () => {
    await newUser(plane, 'carl@example.com');
    await signIn('carl@example.com');
    const { rows } = await plane.database.pool.query<{ password: string }>(
      `SELECT password FROM user_credentials c JOIN users u ON u.id = c.user_id WHERE u.email = 'carl@example.com'`,
    );
    expect(rows[0]?.password).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const token = await tokenIn(plane, 'carl@example.com', 'verify-address');
    const log = plane.logged.join('');
    for (const secret of [PASSWORD, token, ...browser.cookies.values()]) expect(log).not.toContain(secret);
  });

  it('sets a new password by mail, once, which ends all sessions', async () => {
    await newUser(plane, 'dora@example.com');
    await signIn('dora@example.com');
    expect((await browser.call('POST', '/auth/password-reset', { email: 'dora@example.com' })).status).toBe(200);
    const token = await tokenIn(plane, 'dora@example.com', 'reset-password');
    const password = 'nine green kettles hum';
    expect((await browser.call('POST', '/auth/password-reset/confirm', { token, password })).status).toBe(200);
    expect((await browser.call('GET', '/auth/session')).status).toBe(401);
    expect((await signIn('dora@example.com')).status).toBe(401);
    expect((await signIn('dora@example.com', password)).status).toBe(200);
    const again = await browser.call('POST', '/auth/password-reset/confirm', { token, password });
    expect([again.status, detailsOf(again)]).toEqual([400, expect.stringMatching(/^token: /)]);
  });

  describe('whose address may be known', () => {
    const known = 'known@example.com';
    beforeAll(() => newUser(plane, known));
    const computedBy = async (work: () => Promise<unknown>): Promise<number> => {
      const { passwords } = plane.app.get(SignIn).parts;
      const before = passwords.computed;
      await work();
      return passwords.computed - before;
    };

    it.each([
      ['/auth/sign-in', { password: 'not the password 1' }],
      ['/auth/sign-up', { name: 'Ada', password: 'a new password 17 owls' }],
      ['/auth/password-reset', {}],
      ['/auth/verification-mail', {}],
    ])('gets from %s the same answer after the same number of hashes as an unknown one', async (path, body) => {
      for (const run of [1, 2, 3]) {
        const answers: Answer[] = [];
        const hashes: number[] = [];
        for (const email of [known, `unknown-${run}-${path.length}@example.com`]) {
          const tries = new SpecBrowser(plane);
          hashes.push(await computedBy(async () => answers.push(await tries.call('POST', path, { ...body, email }))));
        }
        expect(hashes[0]).toBe(hashes[1]);
        const [first, second] = answers.map(({ status, body: { ...rest }, headers }) => ({
          status,
          rest,
          names: Object.keys(headers).sort(),
        }));
        expect(first).toEqual(second);
      }
    });

    it('is notified by mail, once a day, that somebody tried to sign up; the stranger gets no session and no mail', async () => {
      await signUp(known, 'a new password 17 owls');
      await signUp(known, 'a new password 17 owls');
      const kinds = (await mailsTo(plane, known)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'sign-up-attempt')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'verify-address')).toHaveLength(1);
      expect((await signIn(known, 'a new password 17 owls')).status).toBe(401);
      expect((await signIn(known)).status).toBe(200);
    });

    it('is not lost to a stranger who signed up with it first: a mail sets a new password and confirms it', async () => {
      const email = 'taken@example.com';
      await signUp(email, 'password of the stranger 9');
      expect((await signUp(email)).body).toEqual({ success: true });
      const token = await tokenIn(plane, email, 'reset-password');
      const reset = await browser.call('POST', '/auth/password-reset/confirm', { token, password: PASSWORD });
      expect(reset.status).toBe(200);
      expect((await signIn(email, 'password of the stranger 9')).status).toBe(401);
      expect((await signIn(email)).status).toBe(200);
    });

    it('is one user when it signs up twice at the same time, and both get the same answer', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => signUp('twice@example.com')));
      expect(answers.map(({ status, body }) => [status, body])).toEqual(Array(3).fill([200, { success: true }]));
    });
  });
});

describe('sign-up', () => {
  it('is closed without mail, and the answer names what to do', async () => {
    const plane = await RunningControlPlane.open({}, { hasMail: false, isSignUpOpen: false });
    try {
      const browser = new SpecBrowser(plane);
      expect((await browser.call('GET', '/auth/options')).body).toEqual({ sign_up: false });
      const answer = await browser.call('POST', '/auth/sign-up', {
        name: 'A',
        email: 'a@example.com',
        password: PASSWORD,
      });
      expect([answer.status, detailsOf(answer)]).toEqual([403, expect.stringContaining('invitation')]);
    } finally {
      await plane.close();
    }
  });
});
