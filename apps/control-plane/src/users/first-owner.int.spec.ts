import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PUBLIC_URL, RunningControlPlane } from '../test-control-plane.js';
import { PASSWORD, SpecBrowser, tokenOfLink } from './test-browser.js';

jest.setTimeout(60_000);

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

describe('users that the operator of an installation makes', () => {
  let plane: RunningControlPlane;
  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());

  const password = 'nine green kettles hum';
  const signIn = (email: string, secret: string) =>
    new SpecBrowser(plane).call('POST', '/auth/sign-in', { email, password: secret });
  const accept = (form: Record<string, string>) => new SpecBrowser(plane).call('POST', '/auth/first-owner', form);
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
  const newLink = async (accountId: string): Promise<string> => {
    const { link } = await run('create-first-owner', [accountId]);
    expect(String(link)).toMatch(`${PUBLIC_URL}/first-owner#token=`);
    return tokenOfLink(String(link));
  };
  const owners = async (accountId: string) => {
    const text = `SELECT u.email, u.is_operator FROM memberships m JOIN users u ON u.id = m.user_id
                  WHERE m.account_id = $1 AND m.role = 'owner' ORDER BY u.email`;
    return (await plane.database.pool.query<{ email: string; is_operator: boolean }>(text, [accountId])).rows;
  };

  it('are the first owner, once, by the link that the command prints while the account has none', async () => {
    const { accountId } = await plane.newAccount();
    const token = await newLink(accountId);
    const form = { token, name: 'Grace', email: `grace-${accountId}@example.com`.toLowerCase(), password };
    expect(await accept({ ...form, email: 'two@example.com, x@evil.test' })).toMatchObject({
      status: 400,
      body: { error: { details: 'email: must be one e-mail address' } },
    });
    expect(await accept({ ...form, password: 'password1234' })).toMatchObject({
      status: 400,
      body: { error: { details: expect.stringMatching(/^password: too easy to guess/) as string } },
    });
    const both = await Promise.all([accept(form), accept({ ...form, email: `x-${form.email}` })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    const [owner, ...others] = await owners(accountId);
    expect([owner?.is_operator, others]).toEqual([true, []]);
    expect((await signIn(owner?.email ?? '', password)).status).toBe(200);
    expect(await accept({ ...form, email: 'third@example.com' })).toMatchObject({
      status: 400,
      body: { error: { details: 'token: this link was used or is too old' } },
    });
    expect(await run('create-first-owner', [accountId])).toEqual({ link: null });
    expect(plane.logged.join('')).not.toContain(token);
  });

  it('are not made by a link that is a day old', async () => {
    const { accountId } = await plane.newAccount();
    const token = await newLink(accountId);
    await plane.database.pool.query(
      `UPDATE user_verifications SET expires_at = expires_at - interval '24 hours' WHERE value = $1`,
      [accountId],
    );
    expect((await accept({ token, name: 'Late', email: 'late@example.com', password })).status).toBe(400);
    expect(await owners(accountId)).toEqual([]);
  });

  it('are made by a command, which changes the one who has the address', async () => {
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
