import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { jest } from '@jest/globals';
import { PUBLIC_URL, RunningControlPlane } from '../test-control-plane.js';
import { newUser, PASSWORD, SpecBrowser, tokenIn } from './test-browser.js';

jest.setTimeout(60_000);

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

describe('pages that links lead to', () => {
  let plane: RunningControlPlane;
  let browser: SpecBrowser;
  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());
  beforeEach(() => {
    browser = new SpecBrowser(plane);
  });
  const open = (path: string, token: string) => browser.send('GET', `${path}?token=${encodeURIComponent(token)}`);
  // As browsers send a form of a page that names no referrer.
  const post = (path: string, form: Record<string, string>) =>
    browser.send('POST', path, {
      body: new URLSearchParams(form).toString(),
      type: 'application/x-www-form-urlencoded',
      headers: { origin: 'null' },
    });
  const hiddenToken = (html: string): string => /name="token" value="([^"]*)"/.exec(html)?.[1] ?? '';
  const signIn = (email: string, password: string) =>
    new SpecBrowser(plane).call('POST', '/auth/sign-in', { email, password });

  it('take the token out of the address, change nothing when opened, and confirm by a button', async () => {
    await browser.call('POST', '/auth/sign-up', { name: 'Ada', email: 'ada@example.com', password: PASSWORD });
    const token = await tokenIn(plane, 'ada@example.com', 'verify-address');
    const opened = await open('/verify-email', token);
    expect([opened.status, opened.headers['location']]).toEqual([303, '/verify-email']);
    expect(String(opened.headers['set-cookie'])).toMatch(/; Path=\/verify-email; .*HttpOnly; SameSite=Lax/);
    const shown = await browser.send('GET', '/verify-email');
    expect([shown.status, hiddenToken(shown.text)]).toEqual([200, token]);
    expect((await signIn('ada@example.com', PASSWORD)).status).toBe(403);
    expect((await post('/verify-email', { token: hiddenToken(shown.text) })).text).toContain(
      'Your address is confirmed',
    );
    expect((await signIn('ada@example.com', PASSWORD)).status).toBe(200);
    expect((await browser.send('GET', '/verify-email')).status).toBe(400);
    expect(plane.logged.join('')).not.toContain(token);
  });

  it('set a new password; a weak one is refused at its field, and a link that was used says so', async () => {
    await newUser(plane, 'bob@example.com');
    await browser.call('POST', '/auth/password-reset', { email: 'bob@example.com' });
    const token = await tokenIn(plane, 'bob@example.com', 'reset-password');
    await open('/new-password', token);
    const weak = await post('/new-password', { token, password: 'password1234' });
    expect([weak.status, weak.text]).toEqual([
      400,
      expect.stringContaining('role="alert">New password: too easy to guess'),
    ]);
    const password = 'nine green kettles hum';
    expect((await post('/new-password', { token, password })).status).toBe(200);
    expect((await signIn('bob@example.com', password)).status).toBe(200);
    const again = await post('/new-password', { token, password });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('This link was used, or is too old')]);
    expect(again.text).not.toContain('<form');
  });

  it('accept an invitation with a name and a password, once', async () => {
    const { accountId, accountKey } = await plane.newAccount();
    const body = { email: 'invited@example.com', role: 'developer' };
    expect((await plane.call(accountKey, 'POST', '/api/v1/account/invitations', { body })).status).toBe(201);
    const token = await tokenIn(plane, 'invited@example.com', 'invitation');
    expect((await open('/invitation', token)).headers['location']).toBe('/invitation');
    const form = { token, name: 'Invited', password: 'nine green kettles hum' };
    expect((await post('/invitation', { ...form, name: ' ' })).text).toContain('Your name: must not be empty');
    expect((await post('/invitation', form)).text).toContain('You are a member now');
    const again = await post('/invitation', form);
    expect([again.status, again.text]).toEqual([404, expect.stringContaining('This link was used, or is too old')]);
    expect((await signIn('invited@example.com', form.password)).status).toBe(200);
    const { rows } = await plane.database.pool.query('SELECT role FROM memberships WHERE account_id = $1', [accountId]);
    expect(rows).toEqual([{ role: 'developer' }]);
  });

  it('load nothing, name no referrer, are kept by no cache and shown in no frame', async () => {
    for (const path of [
      '/verify-email',
      '/new-password',
      '/invitation',
      '/first-owner',
      '/signed-in',
      '/sign-in-failed',
    ]) {
      const { headers, text } = await browser.send('GET', path);
      expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-/,
      );
      expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
      expect(text).not.toMatch(/<script|src=|href=/);
    }
  });

  it('show what was sent as text', async () => {
    await open('/new-password', '"><script>alert(1)</script>');
    const { text } = await browser.send('GET', '/new-password');
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;');
  });

  describe('of the first owner', () => {
    const run = async (
      script: string,
      argv: string[],
      env: Record<string, string> = {},
    ): Promise<Record<string, unknown>> => {
      const { stdout } = await promisify(execFile)(process.execPath, [`${DIST}${script}.js`, ...argv], {
        env: { ...process.env, GLOBAL_DATABASE_URL: plane.globalDatabaseUrl, PUBLIC_URL, ...env },
      });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const tokenOf = ({ link }: Record<string, unknown>): string =>
      new URL(String(link)).searchParams.get('token') ?? '';
    const owners = async (accountId: string) => {
      const text = `SELECT u.email, u.is_operator FROM memberships m JOIN users u ON u.id = m.user_id
                    WHERE m.account_id = $1 AND m.role = 'owner' ORDER BY u.email`;
      return (await plane.database.pool.query<{ email: string; is_operator: boolean }>(text, [accountId])).rows;
    };
    const password = 'nine green kettles hum';

    it('make them one, once, by the link that the command prints while the account has none', async () => {
      const { accountId } = await plane.newAccount();
      const token = tokenOf(await run('create-first-owner', [accountId]));
      const form = { token, name: 'Grace', email: `grace-${accountId}@example.com`.toLowerCase(), password };
      expect((await open('/first-owner', token)).status).toBe(303);
      expect((await browser.send('GET', '/first-owner')).text).toContain('autocomplete="new-password"');
      expect((await post('/first-owner', { ...form, email: 'two@example.com, x@evil.test' })).text).toContain(
        'E-mail address: must be one e-mail address',
      );
      const both = await Promise.all([
        post('/first-owner', form),
        post('/first-owner', { ...form, email: `x-${form.email}` }),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
      const [owner, ...others] = await owners(accountId);
      expect([owner?.is_operator, others]).toEqual([true, []]);
      expect((await signIn(owner?.email ?? '', password)).status).toBe(200);
      expect((await post('/first-owner', { ...form, email: 'third@example.com' })).status).toBe(400);
      expect(await run('create-first-owner', [accountId])).toEqual({ link: null });
    });

    it('expire after a day', async () => {
      const { accountId } = await plane.newAccount();
      const token = tokenOf(await run('create-first-owner', [accountId]));
      await plane.database.pool.query(
        `UPDATE user_verifications SET expires_at = expires_at - interval '24 hours' WHERE value = $1`,
        [accountId],
      );
      const form = { token, name: 'Late', email: 'late@example.com', password };
      expect((await post('/first-owner', form)).status).toBe(400);
      expect(await owners(accountId)).toEqual([]);
    });

    it('are not needed for users that a command makes; it changes the one who has the address', async () => {
      const { accountId } = await plane.newAccount();
      const make = (secret: string) =>
        run('create-user', ['--email', 'Sam@Example.com', '--name', 'Sam', '--account', accountId, '--operator'], {
          USER_PASSWORD: secret,
        });
      const first = await make(PASSWORD);
      expect(await make(password)).toEqual(first);
      expect((await signIn('sam@example.com', PASSWORD)).status).toBe(401);
      expect((await signIn('sam@example.com', password)).body).toMatchObject({ user: { operator: true } });
      expect(await owners(accountId)).toEqual([{ email: 'sam@example.com', is_operator: true }]);
    });
  });
});
