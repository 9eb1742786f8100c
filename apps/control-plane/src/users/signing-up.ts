/**
 * From a stranger to a user: sign-up, confirmation of the address, reset of the password.
 *
 * Guarantee: no answer, no duration and no mail shows a stranger whether an address belongs to a user. Known and unknown addresses
 * get the same answer after the same work (a sign-up computes one hash in any case), which ends at an even duration; what differs
 * stands in a mail to the address itself.
 */
import type { GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type { Done, ResetPasswordBody, SignUpBody } from '@dormouse/management-contract';
import type { AddressChange } from './address-change.js';
import type { AttemptLimits } from './attempt-limits.js';
import { EngineRefusal } from './engine-failures.js';
import { evenDuration } from './even-duration.js';
import { requireStrong } from './passwords.js';
import type { SignInEngine, Visitor } from './sign-in-engine.js';
import type { SignInSettings } from './sign-in-settings.js';
import type { WithCookies } from './signing-in.js';

const DONE: Done = { success: true };

export interface SigningUpParts {
  database: Pick<GlobalDatabase, 'prisma'>;
  settings: SignInSettings;
  engine: SignInEngine;
  limits: AttemptLimits;
  addressChange: AddressChange;
}

export class SigningUp {
  constructor(private readonly parts: SigningUpParts) {}

  /** @throws {GatewayError} 403 while sign-up is closed, 400 for a weak password, 429 */
  async signUp({ name, email, password }: SignUpBody, visitor: Visitor): Promise<Done> {
    const { settings, engine, limits, database } = this.parts;
    if (!settings.isSignUpOpen || !settings.hasMail) {
      throw new GatewayError(403, { details: 'sign-up is closed here: ask an owner of an account for an invitation' });
    }
    requireStrong(password, [name, email]);
    await limits.count('sign-up', { about: email, address: visitor.address });
    return evenDuration(async () => {
      try {
        await engine.call({ path: '/sign-up/email', body: { name, email, password }, visitor });
      } catch (error) {
        // Two sign-ups of one address at once: the other one was first.
        const isLate = error instanceof EngineRefusal && error.code === 'FAILED_TO_CREATE_USER';
        if (!isLate || !(await database.prisma.user.findUnique({ where: { email }, select: { id: true } })))
          throw error;
      }
      return DONE;
    });
  }

  /** @throws {GatewayError} 403 without mail, 429 */
  async sendVerification(email: string, visitor: Visitor): Promise<Done> {
    this.#requireMail();
    await this.parts.limits.count('mail', { about: email, address: visitor.address });
    return evenDuration(async () => {
      await this.parts.engine.call({
        path: '/send-verification-email',
        body: { email },
        visitor: withoutCookies(visitor),
      });
      return DONE;
    });
  }

  /**
   * Confirms an address, or changes it to one that is confirmed. Signs in who confirms the address of a sign-up: the first time.
   * @throws {GatewayError} 400 `token: …`
   */
  async verifyAddress(token: string, visitor: Visitor): Promise<WithCookies<Done>> {
    if (await this.parts.addressChange.use(token, visitor)) return { body: DONE, cookies: [] };
    const call = { method: 'GET', path: '/verify-email', query: { token } } as const;
    const { cookies } = await this.parts.engine.call({ ...call, visitor: withoutCookies(visitor) });
    return { body: DONE, cookies };
  }

  /** @throws {GatewayError} 403 without mail, 429 */
  async requestReset(email: string, visitor: Visitor): Promise<Done> {
    this.#requireMail();
    await this.parts.limits.count('mail', { about: email, address: visitor.address });
    return evenDuration(async () => {
      await this.parts.engine.call({ path: '/request-password-reset', body: { email }, visitor });
      return DONE;
    });
  }

  /** Ends all sessions of the user. @throws {GatewayError} 400 for a weak password or a token that is not valid */
  async reset({ token, password }: ResetPasswordBody, visitor: Visitor): Promise<Done> {
    requireStrong(password, []);
    await this.parts.engine.call({ path: '/reset-password', body: { token, newPassword: password }, visitor });
    return DONE;
  }

  #requireMail(): void {
    if (!this.parts.settings.hasMail) {
      throw new GatewayError(403, { details: 'this installation sends no mail: ask its operator for a link' });
    }
  }
}

/** The answer must not depend on a session that the browser has. */
function withoutCookies({ headers, address }: Visitor): Visitor {
  const { cookie: _cookie, ...rest } = headers;
  return { headers: rest, address };
}
