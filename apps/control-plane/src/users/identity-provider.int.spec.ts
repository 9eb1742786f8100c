import { OPERATIONS } from '@dormouse/management-contract';
import { PUBLIC_URL, RunningControlPlane } from '../test-control-plane.js';
import { newUser, PASSWORD, SpecBrowser } from './test-browser.js';
import { TestIdentityProvider, type ProviderUser } from './test-identity-provider.js';

jest.setTimeout(60_000);

describe('sign-in through an identity provider', () => {
  let plane: RunningControlPlane;
  let provider: TestIdentityProvider;
  let browser: SpecBrowser;
  beforeAll(async () => {
    provider = await TestIdentityProvider.open();
    const { issuer } = provider;
    plane = await RunningControlPlane.open(
      {},
      { identityProvider: { issuer, clientId: 'dormouse', clientSecret: 'provider secret', name: 'Acme' } },
    );
  });
  afterAll(async () => {
    await plane.close();
    await provider.close();
  });
  beforeEach(() => {
    browser = new SpecBrowser(plane);
    provider.forges = false;
  });
  const userAt = (email: string, isVerified: boolean): ProviderUser => {
    return { sub: `sub of ${email}`, email, email_verified: isVerified, name: 'Ada' };
  };
  const start = async (body: object = {}): Promise<string> => {
    const answer = await browser.call('POST', '/auth/identity-provider', body);
    return OPERATIONS.startIdentityProvider.answer.parse(answer.body).url;
  };
  const comeBack = async (query: URLSearchParams): Promise<string> => {
    const { status, headers } = await browser.send('GET', `/api/v1/auth/callback/oidc?${query.toString()}`);
    expect(status).toBe(303);
    return String(headers['location']);
  };
  const signIn = async (user: ProviderUser): Promise<string> => comeBack(provider.signIn(await start(), user));
  const emailOfSession = async (): Promise<unknown> => {
    const { body } = await browser.call('GET', '/auth/session');
    return (body['user'] as { email?: string } | undefined)?.email;
  };

  it('makes a user of a verified address, who returns to the path that was given, and stores no token', async () => {
    expect((await browser.call('GET', '/auth/options')).body).toEqual({ sign_up: true, identity_provider: 'Acme' });
    const url = await start({ return_to: '/channels' });
    expect(new URL(url).searchParams.get('redirect_uri')).toBe(`${PUBLIC_URL}/api/v1/auth/callback/oidc`);
    expect(await comeBack(provider.signIn(url, userAt('ada@example.com', true)))).toBe(`${PUBLIC_URL}/channels`);
    expect(await emailOfSession()).toBe('ada@example.com');
    await signIn(userAt('ada@example.com', true));
    const { rows } = await plane.database.pool.query('SELECT * FROM user_credentials');
    expect(rows).toMatchObject([{ provider_id: 'oidc', access_token: null, refresh_token: null, id_token: null }]);
  });

  it('is joined to the user of the address if both sides have verified it', async () => {
    await newUser(plane, 'bob@example.com');
    expect(await signIn(userAt('bob@example.com', true))).toBe(`${PUBLIC_URL}/signed-in`);
    expect(await emailOfSession()).toBe('bob@example.com');
    const byPassword = { email: 'bob@example.com', password: PASSWORD };
    expect((await new SpecBrowser(plane).call('POST', '/auth/sign-in', byPassword)).status).toBe(200);
  });

  it('is not joined when the provider has not verified the address', async () => {
    await newUser(plane, 'carl@example.com');
    expect(await signIn(userAt('carl@example.com', false))).toBe(`${PUBLIC_URL}/sign-in-failed`);
    expect(await emailOfSession()).toBeUndefined();
    // An unknown one is answered alike.
    expect(await signIn(userAt('unknown@example.com', false))).toBe(`${PUBLIC_URL}/sign-in-failed`);
  });

  it('is not joined to a user who has not confirmed the address: a stranger may have signed up with it', async () => {
    const stranger = { name: 'Eve', email: 'dora@example.com', password: PASSWORD };
    await new SpecBrowser(plane).call('POST', '/auth/sign-up', stranger);
    for (const _attempt of [1, 2]) {
      expect(await signIn(userAt('dora@example.com', true))).toBe(`${PUBLIC_URL}/sign-in-failed`);
      expect(await emailOfSession()).toBeUndefined();
    }
    expect((await browser.call('POST', '/auth/sign-in', stranger)).status).toBe(403);
  });

  it('fails with a token that the provider has not signed, in another browser, and when it is played back', async () => {
    provider.forges = true;
    expect(await signIn(userAt('eve@example.com', true))).toContain('/sign-in-failed');
    provider.forges = false;
    const query = provider.signIn(await start(), userAt('eve@example.com', true));
    browser = new SpecBrowser(plane);
    expect(await comeBack(query)).toContain('/sign-in-failed');
    expect(await emailOfSession()).toBeUndefined();
    const second = provider.signIn(await start(), userAt('frank@example.com', true));
    expect(await comeBack(second)).toBe(`${PUBLIC_URL}/signed-in`);
    expect(await comeBack(second)).toContain('/sign-in-failed');
  });

  it.each(['https://evil.test/', '//evil.test', '/\\evil.test'])('does not return to %s', async (path) => {
    const answer = await browser.call('POST', '/auth/identity-provider', { return_to: path });
    expect([answer.status, answer.body['error']]).toEqual([400, expect.objectContaining({ code: 400 })]);
  });

  it('needs the provider; sign-in by password does not', async () => {
    const away = { issuer: 'http://127.0.0.1:9', clientId: 'dormouse', clientSecret: 's', name: 'Acme' };
    const other = await RunningControlPlane.open({}, { identityProvider: away });
    try {
      await newUser(other, 'grace@example.com');
      const visitor = new SpecBrowser(other);
      expect((await visitor.call('POST', '/auth/identity-provider', {})).status).toBe(503);
      const byPassword = { email: 'grace@example.com', password: PASSWORD };
      expect((await visitor.call('POST', '/auth/sign-in', byPassword)).status).toBe(200);
    } finally {
      await other.close();
    }
  });
});
