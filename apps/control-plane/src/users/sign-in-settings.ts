import { ConfigError, requireTogether, type Read } from '@dormouse/bootstrap';
import { DEFAULT_ATTEMPTS, type AttemptSettings } from './attempt-limits.js';

/** How people sign in at this installation. */
export interface SignInSettings {
  /** Scheme, host and port as browsers see them, without a trailing slash. */
  publicUrl: string;
  /** Signs sessions and links, encrypts second factors. */
  secret: string;
  /** Whether anybody may become a user; else people are invited. */
  isSignUpOpen: boolean;
  /** Whether mail is sent. */
  hasMail: boolean;
  identityProvider?: IdentityProviderSettings;
  attempts: AttemptSettings;
}

export interface IdentityProviderSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** As people know it. */
  name: string;
}

interface SignInSwitches extends Read {
  PUBLIC_URL?: string | undefined;
  AUTH_SECRET?: string | undefined;
  SMTP_URL?: string | undefined;
  SIGN_UP?: 'open' | 'closed' | undefined;
  SIGN_UPS_PER_NETWORK: number;
  FAILED_SIGN_INS_PER_NETWORK: number;
  MAILS_PER_NETWORK: number;
  OIDC_ISSUER?: string | undefined;
  OIDC_CLIENT_ID?: string | undefined;
  OIDC_CLIENT_SECRET?: string | undefined;
  OIDC_NAME: string;
}

/**
 * The settings of sign-in from the switches; undefined without `AUTH_SECRET`: nobody can sign in then.
 * @throws {ConfigError} for switches that do not fit each other
 */
export function signInFrom(env: SignInSwitches): SignInSettings | undefined {
  requireTogether(env, ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET']);
  const { AUTH_SECRET: secret, PUBLIC_URL: url } = env;
  if (secret === undefined) return undefined;
  if (url === undefined) throw new ConfigError(['AUTH_SECRET: given without PUBLIC_URL; set both']);
  const hasMail = env.SMTP_URL !== undefined;
  const identityProvider = identityProviderFrom(env);
  if (env.SIGN_UP === 'open' && !hasMail && !identityProvider) {
    throw new ConfigError(['SIGN_UP: open needs SMTP_URL, to verify addresses, or an identity provider (OIDC_ISSUER)']);
  }
  return {
    publicUrl: originOf(url),
    secret,
    isSignUpOpen: (env.SIGN_UP ?? (hasMail ? 'open' : 'closed')) === 'open',
    hasMail,
    ...(identityProvider ? { identityProvider } : {}),
    attempts: {
      signUps: { ...DEFAULT_ATTEMPTS.signUps, perNetwork: env.SIGN_UPS_PER_NETWORK },
      failedSignIns: { ...DEFAULT_ATTEMPTS.failedSignIns, perNetwork: env.FAILED_SIGN_INS_PER_NETWORK },
      mails: { ...DEFAULT_ATTEMPTS.mails, perNetwork: env.MAILS_PER_NETWORK },
    },
  };
}

/** @throws {ConfigError} for an address with a path */
export function originOf(url: string): string {
  const { origin, pathname, search, hash } = new URL(url);
  if (pathname !== '/' || search !== '' || hash !== '') {
    throw new ConfigError(['PUBLIC_URL: must be scheme, host and port alone, such as https://dormouse.example.com']);
  }
  return origin;
}

function identityProviderFrom(env: SignInSwitches): IdentityProviderSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: name } = env;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer: issuer.replace(/\/+$/, ''), clientId, clientSecret, name };
}
