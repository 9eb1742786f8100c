/**
 * better-auth, set up for the tables of users, and the only place that calls it.
 *
 * What it is given and refused: sessions are rows and are looked up at every request (no cookie cache, no other storage); links
 * in mails lead to our pages; what a link carries is stored as a hash; tokens of identity providers are not stored; the address
 * of a request is the one that we found, not a header's. Its own rate limits, error pages and telemetry are off. A session that a
 * code began is marked so; any other waits for one while the second factor is on (`user-sessions.ts`).
 *
 * Its failures become errors of the gateway, so that they leave in the envelope. Without PostgreSQL every call fails with 502;
 * an identity provider that is away fails sign-ins through it alone, which is why those have an instance of their own.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { MANAGEMENT_PREFIX } from '@dormouse/management-contract';
import { betterAuth, type BetterAuthOptions, type GenericEndpointContext } from 'better-auth';
import { genericOAuth } from 'better-auth/plugins/generic-oauth';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { engineFailure } from './engine-failures.js';
import type { Passwords } from './passwords.js';
import type { SecondFactorCodes } from './second-factor-codes.js';
import { isCodePath, signInObserver, type SignedIn } from './sign-in-observer.js';
import type { SignInSettings } from './sign-in-settings.js';
import { CREDENTIAL_TABLE, SECOND_FACTOR_TABLE, SESSION_TABLE, USER_TABLE, VERIFICATION_TABLE } from './user-tables.js';
import { RESET_MINUTES, VERIFY_HOURS, type UserMails } from './user-mails.js';

/** Where the engine listens, as it believes. */
export const ENGINE_PATH = `${MANAGEMENT_PREFIX}/auth`;
const ADDRESS_HEADER = 'x-dormouse-address';
export const SESSION_DAYS = 14;
const DAY_S = 86_400;

/** The identity provider's id in the tables. */
export const IDENTITY_PROVIDER = 'oidc';
/** Headers of a request that the engine may see. */
const PASSED_HEADERS = ['cookie', 'user-agent'] as const;

/** Who makes a request. */
export interface Visitor {
  headers: IncomingHttpHeaders;
  /** IP address, as trusted proxies name it. */
  address: string;
  requestId?: string;
}

export interface EngineCall {
  method?: 'GET' | 'POST';
  /** Below {@link ENGINE_PATH}. */
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: object;
  visitor: Visitor;
}

export interface EngineAnswer {
  /** What it answered, parsed. */
  body: unknown;
  /** Values of `Set-Cookie`. */
  cookies: string[];
  /** Where it redirects to. */
  location?: string;
}

export interface EngineParts {
  database: GlobalDatabase;
  settings: SignInSettings;
  passwords: Passwords;
  codes: SecondFactorCodes;
  mails: UserMails;
  log: Logger;
  /** Called after every completed sign-in, before it is answered. */
  onSignedIn: (signedIn: SignedIn) => Promise<void>;
  /** Called when a user has set a new password by a link in a mail. */
  onPasswordReset: (userId: string) => Promise<void>;
  /** Called when somebody signs up with the address of a user. */
  onKnownSignUp: (user: KnownUser) => Promise<void>;
}

/** Whose address somebody signed up with. */
export interface KnownUser {
  id: string;
  email: string;
  emailVerified: boolean;
}

type Handler = (request: Request) => Promise<Response>;

export class SignInEngine {
  readonly #handler: Handler;
  #identityProvider: Handler | undefined;

  constructor(private readonly parts: EngineParts) {
    this.#handler = betterAuth(optionsOf(parts)).handler;
  }

  /** @throws {GatewayError} for whatever the engine refuses */
  call(call: EngineCall): Promise<EngineAnswer> {
    return this.#send(this.#handler, call);
  }

  /** The same through the instance that knows the identity provider. */
  callIdentityProvider(call: EngineCall): Promise<EngineAnswer> {
    this.#identityProvider ??= betterAuth(optionsOf(this.parts, identityProviderOf(this.parts.settings))).handler;
    return this.#send(this.#identityProvider, call);
  }

  async #send(
    handler: Handler,
    { method = 'POST', path, query = {}, body, visitor }: EngineCall,
  ): Promise<EngineAnswer> {
    const { publicUrl } = this.parts.settings;
    const headers = new Headers({ [ADDRESS_HEADER]: visitor.address, origin: publicUrl });
    for (const name of PASSED_HEADERS) {
      const value = visitor.headers[name];
      if (value !== undefined) headers.set(name, value);
    }
    if (body) headers.set('content-type', 'application/json');
    const search = new URLSearchParams(query).toString();
    const url = `${publicUrl}${ENGINE_PATH}${path}${search === '' ? '' : `?${search}`}`;
    const answer = await handler(
      new Request(url, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }),
    );
    const text = await answer.text();
    const parsed: unknown = text === '' ? undefined : JSON.parse(text);
    if (answer.status >= 400) throw engineFailure(answer.status, parsed);
    const location = answer.headers.get('location');
    return { body: parsed, cookies: answer.headers.getSetCookie(), ...(location === null ? {} : { location }) };
  }
}

function optionsOf(parts: EngineParts, ...morePlugins: NonNullable<BetterAuthOptions['plugins']>) {
  const { database, settings, passwords, codes, mails, log, onSignedIn, onPasswordReset, onKnownSignUp } = parts;
  return {
    appName: 'Dormouse',
    baseURL: settings.publicUrl,
    basePath: ENGINE_PATH,
    secret: settings.secret,
    database: database.pool,
    trustedOrigins: [settings.publicUrl],
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    // Errors that are not its own, of the database or of the thread pool, reach us as they are.
    onAPIError: { throw: true, errorURL: `${settings.publicUrl}/sign-in-failed` },
    logger: { log: (level, message) => logOf(log, level, message) },
    advanced: {
      cookiePrefix: 'dormouse',
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: {
        validateSchema: false,
        generateId: ({ model }) => (model === 'user' ? newUserId() : randomUUID()),
      },
    },
    user: { ...USER_TABLE, changeEmail: { enabled: true } },
    session: { ...SESSION_TABLE, expiresIn: SESSION_DAYS * DAY_S, updateAge: DAY_S, freshAge: 0 },
    account: {
      ...CREDENTIAL_TABLE,
      updateAccountOnSignIn: false,
      accountLinking: { enabled: true, requireLocalEmailVerified: true },
    },
    verification: { ...VERIFICATION_TABLE, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      disableSignUp: !settings.isSignUpOpen || !settings.hasMail,
      requireEmailVerification: true,
      autoSignIn: false,
      minPasswordLength: 1,
      maxPasswordLength: 200,
      password: {
        hash: (password) => passwords.hash(password),
        verify: ({ hash, password }) => passwords.verify(hash, password),
      },
      resetPasswordTokenExpiresIn: RESET_MINUTES * 60,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token }) => mails.sendReset(user.id, token),
      onPasswordReset: ({ user }) => onPasswordReset(user.id),
      onExistingUserSignUp: ({ user }) => onKnownSignUp(user),
    },
    emailVerification: {
      expiresIn: VERIFY_HOURS * 3_600,
      sendOnSignUp: true,
      autoSignInAfterVerification: true,
      sendVerificationEmail: ({ user, token }) => mails.sendVerification(user.email, user.name, token),
    },
    databaseHooks: {
      session: {
        create: {
          before: (session, context) => {
            const marks = { provenAt: provenAt(session), secondFactorAt: secondFactorAt(context) };
            return Promise.resolve({ data: { ...session, ...marks } });
          },
        },
      },
      account: {
        create: {
          before: (account) =>
            Promise.resolve({ data: { ...account, accessToken: null, refreshToken: null, idToken: null } }),
        },
      },
    },
    plugins: [
      twoFactor({ issuer: new URL(settings.publicUrl).host, allowPasswordless: true, schema: SECOND_FACTOR_TABLE }),
      signInObserver({ codes, onSignedIn }),
      ...morePlugins,
    ],
  } satisfies BetterAuthOptions;
}

function identityProviderOf({ identityProvider, isSignUpOpen }: SignInSettings) {
  if (!identityProvider) throw new Error('there is no identity provider');
  const { issuer, clientId, clientSecret, name } = identityProvider;
  return genericOAuth({
    config: [
      {
        providerId: IDENTITY_PROVIDER,
        name,
        clientId,
        clientSecret,
        discoveryUrl: `${issuer}/.well-known/openid-configuration`,
        scopes: ['openid', 'profile', 'email'],
        requireIdTokenVerification: true,
        requireEmailVerification: true,
        disableSignUp: !isSignUpOpen,
      },
    ],
  });
}

/** A session that replaces another keeps its proof; a new one begins with one. */
function provenAt(session: object): unknown {
  return Reflect.get(session, 'provenAt') ?? new Date();
}

/** A session that a code began has the second factor; one that replaces another after a change of the password keeps it. */
function secondFactorAt(context: GenericEndpointContext | null): unknown {
  const path = context?.path ?? '';
  if (isCodePath(path)) return new Date();
  const replaced: unknown = path === '/change-password' ? context?.context.session?.session : undefined;
  return (typeof replaced === 'object' && replaced !== null && Reflect.get(replaced, 'secondFactorAt')) || null;
}

export function newUserId(): string {
  return `usr_${randomBytes(12).toString('base64url')}`;
}

/** Its messages can hold addresses and parts of rows: only their level and first words are kept. */
function logOf(log: Logger, level: string, message: string): void {
  if (level === 'error') log.warn({ engine: message.split(/[:\n]/)[0]?.slice(0, 80) }, 'sign-in engine failed');
}
