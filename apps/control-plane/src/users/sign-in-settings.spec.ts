import { DEFAULT_ATTEMPTS } from './attempt-limits.js';
import { signInFrom } from './sign-in-settings.js';

const switches = {
  PUBLIC_URL: 'https://dormouse.example.com/',
  AUTH_SECRET: 'x'.repeat(32),
  SIGN_UPS_PER_NETWORK: 7,
  FAILED_SIGN_INS_PER_NETWORK: 8,
  MAILS_PER_NETWORK: 9,
  OIDC_NAME: 'Acme',
};
const provider = { OIDC_ISSUER: 'https://id.example.com/', OIDC_CLIENT_ID: 'dormouse', OIDC_CLIENT_SECRET: 's' };

describe('the settings of sign-in', () => {
  it('are none without AUTH_SECRET: nobody can sign in', () => {
    expect(signInFrom({ ...switches, AUTH_SECRET: undefined })).toBeUndefined();
  });

  it('close sign-up without mail, and open it with', () => {
    expect(signInFrom(switches)).toMatchObject({
      publicUrl: 'https://dormouse.example.com',
      isSignUpOpen: false,
      hasMail: false,
      attempts: { signUps: { perAddress: DEFAULT_ATTEMPTS.signUps.perAddress, perNetwork: 7 } },
    });
    const withMail = { ...switches, SMTP_URL: 'smtp://mail' };
    expect(signInFrom(withMail)).toMatchObject({ isSignUpOpen: true, hasMail: true });
    expect(signInFrom({ ...withMail, SIGN_UP: 'closed' })).toMatchObject({ isSignUpOpen: false });
    expect(signInFrom({ ...switches, ...provider, SIGN_UP: 'open' })).toMatchObject({
      isSignUpOpen: true,
      identityProvider: { issuer: 'https://id.example.com', name: 'Acme' },
    });
  });

  it.each([
    [{ PUBLIC_URL: undefined }, /AUTH_SECRET: given without PUBLIC_URL/],
    [{ PUBLIC_URL: 'https://dormouse.example.com/path' }, /PUBLIC_URL: must be scheme, host and port alone/],
    [{ SIGN_UP: 'open' as const }, /SIGN_UP: open needs SMTP_URL/],
    [{ OIDC_ISSUER: 'https://id.example.com' }, /OIDC_ISSUER: given without OIDC_CLIENT_ID, OIDC_CLIENT_SECRET/],
  ])('refuse %j', (changed, message) => {
    expect(() => signInFrom({ ...switches, ...changed })).toThrow(message);
  });
});
