/**
 * What signed-in users see and change of themselves: sessions, password, address, second factor.
 *
 * Guarantee: what was ended is refused at the next request. Entering the password wrongly counts as a failed sign-in, so that a
 * stolen session is no way around its limits.
 */
import type { GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type {
  ChangePasswordBody,
  CurrentSession,
  Done,
  ProveBody,
  RecoveryCodes,
  SecondFactorSecrets,
  SessionList,
  StartSecondFactorBody,
} from '@dormouse/management-contract';
import { z } from 'zod';
import { recorded } from '../audit/recorded.js';
import type { AttemptLimits } from './attempt-limits.js';
import { EngineRefusal } from './engine-failures.js';
import { evenDuration } from './even-duration.js';
import { requireStrong, type Passwords } from './passwords.js';
import type { SecondFactorCodes } from './second-factor-codes.js';
import type { EngineAnswer, EngineCall, SignInEngine, Visitor } from './sign-in-engine.js';
import type { WithCookies } from './signing-in.js';
import { provenUntil, sessionRecord, userRecord } from './user-records.js';
import type { SignedInUser } from './user-sessions.js';

const DONE: Done = { success: true };
const engineSecrets = z.object({ totpURI: z.string(), backupCodes: z.array(z.string()) });
const engineRecoveryCodes = z.object({ backupCodes: z.array(z.string()) });

export interface OwnUserParts {
  database: Pick<GlobalDatabase, 'pool' | 'prisma'>;
  engine: SignInEngine;
  passwords: Passwords;
  codes: SecondFactorCodes;
  limits: AttemptLimits;
  hasMail: boolean;
}

/** Whose request it is. */
export interface Own {
  signedIn: SignedInUser;
  visitor: Visitor;
}

export class OwnUser {
  constructor(private readonly parts: OwnUserParts) {}

  /** The session of the request; it and its cookie are extended once a day. */
  async session({ signedIn, visitor }: Own): Promise<WithCookies<CurrentSession>> {
    const { cookies } = await this.parts.engine.call({ method: 'GET', path: '/get-session', visitor });
    return { body: await this.#current(signedIn), cookies };
  }

  async sessions({ signedIn: { user, session } }: Own): Promise<SessionList> {
    const rows = await this.parts.database.prisma.userSession.findMany({
      where: { userId: user.id, expiresAt: { gt: new Date() } },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    });
    return { sessions: rows.map((row) => sessionRecord(row, session.id)) };
  }

  async signOut({ visitor }: Own): Promise<WithCookies<Done>> {
    const { cookies } = await this.parts.engine.call({ path: '/sign-out', visitor });
    return { body: DONE, cookies };
  }

  /** @throws {GatewayError} 404 when the user has no such session */
  endSession(id: string, own: Own): Promise<Done> {
    return this.#recorded('user.end-session', own, async () => {
      const where = { id, userId: own.signedIn.user.id };
      const { count } = await this.parts.database.prisma.userSession.deleteMany({ where });
      if (count === 0) throw new GatewayError(404, { message: 'session not found' });
      return DONE;
    });
  }

  endSessions(own: Own): Promise<WithCookies<Done>> {
    return this.#recorded('user.end-sessions', own, async () => {
      await this.parts.database.prisma.userSession.deleteMany({ where: { userId: own.signedIn.user.id } });
      return this.signOut(own);
    });
  }

  /** Renews the proof of the session. @throws {GatewayError} 400 for a wrong password, 401 for a wrong code, 403, 429 */
  async prove({ password, code }: ProveBody, { signedIn, visitor }: Own): Promise<CurrentSession> {
    const { user, session } = signedIn;
    const { prisma } = this.parts.database;
    const from = { about: user.email, address: visitor.address };
    await this.parts.limits.count('sign-in', from);
    const credential = await prisma.userCredential.findFirst({ where: { userId: user.id, password: { not: null } } });
    if (!credential?.password) {
      throw new GatewayError(403, {
        details: 'this user has no password: sign in through the identity provider again',
      });
    }
    if (!(await this.parts.passwords.verify(credential.password, password))) {
      throw new GatewayError(400, { details: 'password: wrong' });
    }
    if (user.twoFactorEnabled) await this.#requireCode(user.id, code);
    await this.parts.limits.giveBack('sign-in', from);
    const provenAt = new Date();
    await prisma.userSession.updateMany({ where: { id: session.id }, data: { provenAt } });
    return this.#current({ user, session: { ...session, provenAt } });
  }

  /** Ends all other sessions. @throws {GatewayError} 400 for a wrong or weak password */
  async changePassword(body: ChangePasswordBody, own: Own): Promise<WithCookies<Done>> {
    const { email, name } = own.signedIn.user;
    requireStrong(body.password, [name, email]);
    const call = {
      path: '/change-password',
      body: { currentPassword: body.current_password, newPassword: body.password, revokeOtherSessions: true },
    };
    const change = () => this.#withPassword(own, 'current_password', call);
    const { cookies } = await this.#recorded('user.change-password', own, change);
    return { body: DONE, cookies };
  }

  rename(name: string, own: Own): Promise<Done> {
    const { id } = own.signedIn.user;
    return this.#recorded('user.rename', own, async () => {
      await this.parts.database.prisma.user.update({ where: { id }, data: { name } });
      return DONE;
    });
  }

  /** The address changes when the link in the mail to the new one is opened. @throws {GatewayError} 400, 403, 429 */
  async changeAddress(email: string, { signedIn, visitor }: Own): Promise<Done> {
    if (!this.parts.hasMail) throw new GatewayError(403, { details: 'this installation sends no mail' });
    if (email === signedIn.user.email) throw new GatewayError(400, { details: 'email: is the present one' });
    await this.parts.limits.count('mail', { about: email, address: visitor.address });
    return evenDuration(() =>
      this.#recorded('user.request-address', { signedIn, visitor }, async () => {
        await this.parts.engine.call({ path: '/change-email', body: { newEmail: email }, visitor });
        return DONE;
      }),
    );
  }

  async startSecondFactor({ password }: StartSecondFactorBody, own: Own): Promise<SecondFactorSecrets> {
    const call = { path: '/two-factor/enable', body: { password, method: 'totp' } };
    const { body } = await this.#withPassword(own, 'password', call);
    const { totpURI, backupCodes } = engineSecrets.parse(body);
    return { totp_uri: totpURI, recovery_codes: backupCodes };
  }

  /** The session gets a new cookie. @throws {GatewayError} 401 for a wrong code */
  async confirmSecondFactor(code: string, own: Own): Promise<WithCookies<Done>> {
    const call = { path: '/two-factor/verify-totp', body: { code }, visitor: own.visitor };
    const { cookies } = await this.#recorded('user.second-factor-on', own, () => this.parts.engine.call(call));
    return { body: DONE, cookies };
  }

  async renewRecoveryCodes({ password }: StartSecondFactorBody, own: Own): Promise<RecoveryCodes> {
    const call = { path: '/two-factor/generate-backup-codes', body: { password } };
    const renew = () => this.#withPassword(own, 'password', call);
    const { body } = await this.#recorded('user.renew-recovery-codes', own, renew);
    return { recovery_codes: engineRecoveryCodes.parse(body).backupCodes };
  }

  removeSecondFactor(own: Own): Promise<Done> {
    const { id } = own.signedIn.user;
    const { prisma } = this.parts.database;
    return this.#recorded('user.second-factor-off', own, async () => {
      await prisma.$transaction([
        prisma.user.update({ where: { id }, data: { twoFactorEnabled: false } }),
        prisma.userSecondFactor.deleteMany({ where: { userId: id } }),
        // A code of this factor is none of the next one.
        prisma.userSession.updateMany({ where: { userId: id }, data: { secondFactorAt: null } }),
      ]);
      return DONE;
    });
  }

  /** The log has what was tried before it is done, and whether it failed. Users stand in it by id, so their removal needs no change. */
  #recorded<Result>(action: string, { signedIn, visitor }: Own, work: () => Promise<Result>): Promise<Result> {
    const { address, requestId } = visitor;
    const actor = { kind: 'user', id: signedIn.user.id } as const;
    const entry = { accountId: null, actor, action, address, ...(requestId === undefined ? {} : { requestId }) };
    return recorded(this.parts.database, entry, work);
  }

  /** A call in which the engine looks at the password; a wrong one names the field and counts as a failed sign-in. */
  async #withPassword(
    { signedIn, visitor }: Own,
    field: string,
    call: Omit<EngineCall, 'visitor'>,
  ): Promise<EngineAnswer> {
    const from = { about: signedIn.user.email, address: visitor.address };
    await this.parts.limits.count('sign-in', from);
    try {
      const answer = await this.parts.engine.call({ ...call, visitor });
      await this.parts.limits.giveBack('sign-in', from);
      return answer;
    } catch (error) {
      if (error instanceof EngineRefusal && error.code === 'INVALID_PASSWORD') {
        throw new GatewayError(400, { details: `${field}: wrong` }, { cause: error });
      }
      throw error;
    }
  }

  async #requireCode(userId: string, code: string | undefined): Promise<void> {
    if (code === undefined) throw new GatewayError(400, { details: 'code: required' });
    if (await this.parts.codes.use(userId, code)) return;
    throw new GatewayError(401, { message: 'not proven', details: 'the code is wrong or was used' });
  }

  async #current({ user, session }: SignedInUser): Promise<CurrentSession> {
    const row = await this.parts.database.prisma.userSession.findUnique({ where: { id: session.id } });
    const until = provenUntil(session.provenAt, Date.now());
    return {
      user: userRecord(user),
      session: {
        ...sessionRecord(row ?? session, session.id),
        ...(until === undefined ? {} : { proven_until: until }),
      },
    };
  }
}
