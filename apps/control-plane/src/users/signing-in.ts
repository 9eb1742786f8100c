/**
 * Sign-ins: by password, by a second step, through the identity provider.
 *
 * Guarantees: an unknown address and a wrong password are answered alike, after one computed hash and after an even duration.
 * Failures are limited for each address and each network; what succeeds is not counted. While the second factor of a user is on,
 * no sign-in is complete without a code, also through the identity provider.
 */
import type { GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type {
  IdentityProviderAddress,
  SignInAnswer,
  SignInBody,
  SignInCodeBody,
  SignInOptions,
  StartIdentityProviderBody,
} from '@dormouse/management-contract';
import { z } from 'zod';
import { evenFailure } from './even-duration.js';
import type { AttemptLimits } from './attempt-limits.js';
import { IDENTITY_PROVIDER, type EngineAnswer, type SignInEngine, type Visitor } from './sign-in-engine.js';
import type { SignInSettings } from './sign-in-settings.js';
import { sessionCookieName } from './session-cookie.js';
import type { SignedIn } from './sign-in-observer.js';
import { userRecord } from './user-records.js';
import type { SignedInUser, UserSessions } from './user-sessions.js';

/** Pages that a sign-in through the identity provider ends at. */
export const SIGNED_IN_PAGE = '/signed-in';
export const SIGN_IN_FAILED_PAGE = '/sign-in-failed';
/** Where a code is entered; `return_to` in its query is the path to go on to. */
export const SIGN_IN_CODE_PAGE = '/sign-in/code';

/** An answer, with the cookies that go with it. */
export interface WithCookies<Body> {
  body: Body;
  cookies: string[];
}

/** What an identity provider sends a browser back with. */
export const callbackQuery = z.record(z.string(), z.string().max(4_096));

const engineUser = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  twoFactorEnabled: z.boolean().nullish().transform(Boolean),
  isOperator: z.boolean().nullish().transform(Boolean),
});
/** Without a user, a code is required. */
const engineSignIn = z.union([z.object({ user: engineUser }), z.object({ twoFactorRedirect: z.literal(true) })]);
const engineAddress = z.object({ url: z.string() });

export interface SigningInParts {
  settings: SignInSettings;
  engine: SignInEngine;
  limits: AttemptLimits;
  database: Pick<GlobalDatabase, 'prisma'>;
  sessions: Pick<UserSessions, 'waitingForCode'>;
  /** Called when a session that waited for a code has it. */
  onSignedIn: (signedIn: SignedIn) => Promise<void>;
}

export class SigningIn {
  constructor(private readonly parts: SigningInParts) {}

  options(): SignInOptions {
    const { isSignUpOpen, hasMail, identityProvider } = this.parts.settings;
    return {
      sign_up: isSignUpOpen && hasMail,
      ...(identityProvider ? { identity_provider: identityProvider.name } : {}),
    };
  }

  /** @throws {GatewayError} 401, 403 for an address that is not verified, 429, 503 */
  async signIn({ email, password }: SignInBody, visitor: Visitor): Promise<WithCookies<SignInAnswer>> {
    const from = { about: email, address: visitor.address };
    await this.parts.limits.count('sign-in', from);
    const call = { path: '/sign-in/email', body: { email, password }, visitor };
    const answer = await evenFailure(() => this.parts.engine.call(call));
    await this.parts.limits.giveBack('sign-in', from);
    return signInAnswer(answer);
  }

  /**
   * The second step of a sign-in by password, or what a session waits for that was begun without a code: through the identity
   * provider, or before the second factor was turned on elsewhere.
   * @throws {GatewayError} 400 without a code, 401, 429
   */
  async signInWithCode(body: SignInCodeBody, visitor: Visitor): Promise<WithCookies<SignInAnswer>> {
    const call = secondStep(body);
    const incomplete = await this.parts.sessions.waitingForCode(visitor.headers);
    if (incomplete) return this.#complete(incomplete, call, visitor);
    // With a session the engine would take the code for something else.
    const waiting = withoutSession(visitor, sessionCookieName(this.parts.settings.publicUrl));
    return signInAnswer(await this.parts.engine.call({ ...call, visitor: waiting }));
  }

  /** @throws {GatewayError} 404 without an identity provider, 503 while it does not answer */
  async startIdentityProvider(
    { return_to: path = SIGNED_IN_PAGE }: StartIdentityProviderBody,
    visitor: Visitor,
  ): Promise<WithCookies<IdentityProviderAddress>> {
    const { publicUrl } = this.#requireIdentityProvider();
    const body = {
      provider: IDENTITY_PROVIDER,
      callbackURL: publicUrl + path,
      errorCallbackURL: publicUrl + SIGN_IN_FAILED_PAGE,
      disableRedirect: true,
    };
    const answer = await this.parts.engine.callIdentityProvider({ path: '/sign-in/social', body, visitor });
    return { body: engineAddress.parse(answer.body), cookies: answer.cookies };
  }

  /** What the identity provider sends the browser back with. Resolves with where the browser goes next. */
  async finishIdentityProvider(
    query: Readonly<Record<string, string>>,
    visitor: Visitor,
  ): Promise<WithCookies<{ location: string }>> {
    const { publicUrl } = this.#requireIdentityProvider();
    const call = { method: 'GET', path: `/callback/${IDENTITY_PROVIDER}`, query, visitor } as const;
    const { location, cookies } = await this.parts.engine.callIdentityProvider(call);
    // Why it failed would show whether a user has the address.
    const failed = publicUrl + SIGN_IN_FAILED_PAGE;
    if (location === undefined || location.startsWith(failed)) return { body: { location: failed }, cookies };
    const cookie = cookies.map((one) => one.split(';')[0]).join('; ');
    if (!(await this.parts.sessions.waitingForCode({ cookie }))) return { body: { location }, cookies };
    const next = new URLSearchParams({ return_to: location.slice(publicUrl.length) });
    return { body: { location: `${publicUrl}${SIGN_IN_CODE_PAGE}?${next.toString()}` }, cookies };
  }

  /** Wrong codes count as failed sign-ins: the engine limits them for the second step of a sign-in by password alone. */
  async #complete(
    { user, session }: SignedInUser,
    call: SecondStep,
    visitor: Visitor,
  ): Promise<WithCookies<SignInAnswer>> {
    const { limits, engine, database, onSignedIn } = this.parts;
    const from = { about: user.email, address: visitor.address };
    await limits.count('sign-in', from);
    const answer = signInAnswer(await engine.call({ ...call, visitor }));
    await database.prisma.userSession.updateMany({ where: { id: session.id }, data: { secondFactorAt: new Date() } });
    await limits.giveBack('sign-in', from);
    const browser = visitor.headers['user-agent'] ?? '';
    await onSignedIn({ userId: user.id, sessionId: session.id, address: visitor.address, browser });
    return answer;
  }

  #requireIdentityProvider(): SignInSettings {
    const { settings } = this.parts;
    if (settings.identityProvider) return settings;
    throw new GatewayError(404, { details: 'there is no identity provider here' });
  }
}

function signInAnswer({ body, cookies }: EngineAnswer): WithCookies<SignInAnswer> {
  const answer = engineSignIn.parse(body);
  if ('user' in answer) return { body: { code_required: false, user: userRecord(answer.user) }, cookies };
  return { body: { code_required: true }, cookies };
}

interface SecondStep {
  path: string;
  body: object;
}

function secondStep({ code, recovery_code: recoveryCode }: SignInCodeBody): SecondStep {
  if (code !== undefined) return { path: '/two-factor/verify-totp', body: { code } };
  if (recoveryCode !== undefined) return { path: '/two-factor/verify-backup-code', body: { code: recoveryCode } };
  throw new GatewayError(400, { details: 'code: required, or recovery_code' });
}

function withoutSession({ headers, address }: Visitor, name: string): Visitor {
  const cookie = headers.cookie
    ?.split(';')
    .filter((pair) => pair.split('=')[0]?.trim() !== name)
    .join(';');
  return { headers: { ...headers, ...(cookie === undefined ? {} : { cookie }) }, address };
}
