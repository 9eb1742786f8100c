import { appendAudit } from '@dormouse/audit-log';
import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type { SignInOptions } from '@dormouse/management-contract';
import { AddressChange } from './address-change.js';
import { AttemptLimits } from './attempt-limits.js';
import { acceptFirstOwner, type NewUser } from './command-line-users.js';
import { KnownPlaces } from './known-places.js';
import { OwnUser } from './own-user.js';
import { Passwords } from './passwords.js';
import { SecondFactorCodes } from './second-factor-codes.js';
import { SignInEngine, type KnownUser } from './sign-in-engine.js';
import type { SignInSettings } from './sign-in-settings.js';
import type { SignedIn } from './sign-in-observer.js';
import { SigningIn } from './signing-in.js';
import { SigningUp } from './signing-up.js';
import { UserMails } from './user-mails.js';
import { UserSessions } from './user-sessions.js';

export interface SignInParts {
  signingUp: SigningUp;
  signingIn: SigningIn;
  ownUser: OwnUser;
  limits: AttemptLimits;
  passwords: Passwords;
}

/** Everything about users, put together; off without settings. */
export class SignIn {
  readonly #parts: SignInParts | undefined;

  constructor(
    private readonly database: GlobalDatabase,
    readonly settings: SignInSettings | undefined,
    log: Logger,
  ) {
    this.#parts = settings && partsOf(database, settings, log);
  }

  /** @throws {GatewayError} 403 while sign-in is off */
  get parts(): SignInParts {
    if (this.#parts) return this.#parts;
    throw new GatewayError(403, { details: 'nobody can sign in here: the installation has no AUTH_SECRET' });
  }

  /** Makes the holder of a link the first owner of its account. @throws {GatewayError} 400, 403 */
  acceptFirstOwner(token: string, user: NewUser): Promise<void> {
    return acceptFirstOwner(this.database, this.parts.passwords, token, user);
  }

  options(): SignInOptions {
    return this.#parts?.signingIn.options() ?? { sign_up: false };
  }
}

function partsOf(database: GlobalDatabase, settings: SignInSettings, log: Logger): SignInParts {
  const { publicUrl, secret, hasMail, attempts } = settings;
  const passwords = new Passwords();
  const codes = new SecondFactorCodes(database, secret);
  const limits = new AttemptLimits(database, attempts);
  const mails = new UserMails(database, publicUrl, hasMail);
  const sessions = new UserSessions(database, settings);
  const places = new KnownPlaces(database, hasMail);
  const onSignedIn = (signedIn: SignedIn): Promise<void> => places.see(signedIn);
  const engine: SignInEngine = new SignInEngine({
    database,
    settings,
    passwords,
    codes,
    mails,
    log,
    onSignedIn,
    onPasswordReset: (userId) => confirmByReset(database, userId),
    onKnownSignUp: (user) => notifyKnownUser(user, mails, engine),
  });
  return {
    signingUp: new SigningUp({
      database,
      settings,
      engine,
      limits,
      addressChange: new AddressChange(database, secret),
    }),
    signingIn: new SigningIn({ settings, engine, limits, database, sessions, onSignedIn }),
    ownUser: new OwnUser({ database, engine, passwords, codes, limits, hasMail }),
    limits,
    passwords,
  };
}

/** A link that was sent to an address proves it to be the user's. */
async function confirmByReset(database: GlobalDatabase, userId: string): Promise<void> {
  await database.prisma.user.update({ where: { id: userId }, data: { emailVerified: true } });
  const actor = { kind: 'user', id: userId } as const;
  await appendAudit(database.pool, { accountId: null, actor, action: 'user.reset-password' });
}

/**
 * Who has confirmed the address learns that somebody tried. Else a stranger may have been first, with a password of theirs: who
 * signs up now gets a mail to set a new one, which confirms the address too.
 */
async function notifyKnownUser(
  { id, email, emailVerified }: KnownUser,
  mails: UserMails,
  engine: SignInEngine,
): Promise<void> {
  if (emailVerified) return mails.sendSignUpAttempt(id);
  await engine.call({ path: '/request-password-reset', body: { email }, visitor: { headers: {}, address: '' } });
}
