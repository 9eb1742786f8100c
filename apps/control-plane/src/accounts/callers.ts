/**
 * Who makes a request, and whether they may.
 *
 * Guarantees: keys, sessions, memberships and roles are read from the global database at every request, so who was ended or
 * removed is refused at the next one, at every process. Without the database requests fail with 502.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '@dormouse/gateway-contract';
import { PASSWORD_REQUIRED, type Access } from '@dormouse/management-contract';
import { provenUntil } from '../users/user-records.js';
import type { SignedInUser, UserSessions } from '../users/user-sessions.js';
import { hashAccountKey } from './account-key.js';
import { accountNotFound, type Accounts, type Membership } from './accounts.js';
import type { Caller } from './caller.js';

/** What a row of the access table requires of members. */
export type MemberAccess = Extract<Access, { for: 'members' }>;

type Headers = IncomingHttpHeaders;

export class Callers {
  constructor(
    private readonly accounts: Pick<Accounts, 'byKey' | 'byId' | 'ofUser'>,
    private readonly sessions: Pick<UserSessions, 'of'>,
    private readonly now: () => number = Date.now,
  ) {}

  /** The holder of an account key; undefined when the key is unknown, revoked or past its end. */
  async byKey(key: string): Promise<Extract<Caller, { kind: 'key' }> | undefined> {
    const found = await this.accounts.byKey(hashAccountKey(key));
    return found && { kind: 'key', ...found };
  }

  /** The user of a request; undefined without a valid session. */
  async bySession(headers: Headers): Promise<SignedInUser | undefined> {
    return this.sessions.of(headers);
  }

  /**
   * The user in the account that the request chooses. Operators may choose every account, to look at it.
   * @throws {GatewayError} 400 when several are possible and none is chosen, 403 when there is none, 404 for another one
   */
  async inAccount(signedIn: SignedInUser, headers: Headers): Promise<Caller> {
    const memberships = await this.accounts.ofUser(signedIn.user.id);
    const named = chosenAccount(headers);
    const { twoFactorEnabled, isOperator } = signedIn.user;
    if (
      named !== undefined &&
      isOperator &&
      twoFactorEnabled &&
      !memberships.some(({ account }) => account.id === named)
    ) {
      const account = await this.accounts.byId(named);
      if (account) return { kind: 'user', account, role: 'viewer', signedIn, isLook: true };
    }
    const { account, role } = chosen(memberships, named);
    return { kind: 'user', account, role, signedIn };
  }

  /** @throws {GatewayError} 403 naming the role or scope that is needed, or the password; 404 for another account */
  requireAccess(caller: Caller, access: MemberAccess, headers: Headers): void {
    if (caller.kind === 'key') {
      const named = chosenAccount(headers);
      if (named !== undefined && named !== caller.account.id) throw accountNotFound();
      if (access.scope === undefined) throw needsUser();
      if (!caller.key.scopes.includes(access.scope)) {
        throw new GatewayError(403, { details: `the key needs the scope ${access.scope}` });
      }
      return;
    }
    if (caller.isLook) return; // the guard has let the request in
    if (!access.roles.includes(caller.role)) {
      const needed = access.roles.join(' or ');
      throw new GatewayError(403, { details: `this takes the role ${needed}; yours is ${caller.role}` });
    }
    this.requireProof(caller.signedIn, access);
  }

  /** @throws {GatewayError} 403 when the password must be entered again first */
  requireProof({ session }: SignedInUser, access: Access): void {
    const needsProof = 'proof' in access && access.proof === true;
    if (!needsProof || provenUntil(session.provenAt, this.now()) !== undefined) return;
    throw new GatewayError(403, {
      message: PASSWORD_REQUIRED,
      details: 'enter the password again first: POST /auth/prove',
    });
  }

  /** Whether the maker of a request may still do what it did. For answers that last, such as streams. */
  async isStillAllowed(
    caller: Caller,
    { key, headers }: { key: string | undefined; headers: Headers },
    { for: members, roles, scope }: MemberAccess,
  ): Promise<boolean> {
    try {
      const now = caller.kind === 'key' ? await this.byKey(key ?? '') : await this.#memberAgain(headers);
      if (now?.account.id !== caller.account.id) return false;
      // Without a proof: it was there when the answer began.
      this.requireAccess(now, { for: members, roles, ...(scope === undefined ? {} : { scope }) }, headers);
      return true;
    } catch (error) {
      if (error instanceof GatewayError) return false;
      throw error;
    }
  }

  async #memberAgain(headers: Headers): Promise<Caller | undefined> {
    const signedIn = await this.bySession(headers);
    return signedIn && this.inAccount(signedIn, headers);
  }
}

export function needsUser(): GatewayError {
  return new GatewayError(403, { details: 'this is for signed-in users; an account key has no user' });
}

function chosenAccount(headers: Headers): string | undefined {
  const named = headers['x-account'];
  return Array.isArray(named) ? named.join(',') : named;
}

function chosen(memberships: readonly Membership[], named: string | undefined): Membership {
  if (named !== undefined) {
    const found = memberships.find(({ account }) => account.id === named);
    if (!found) throw accountNotFound();
    return found;
  }
  const [first, second] = memberships;
  if (!first) {
    const details = 'the user is in no account: create one (POST /accounts) or accept an invitation';
    throw new GatewayError(403, { details });
  }
  if (second) {
    const details = 'X-Account: the user is in several accounts; name one by its id (GET /accounts lists them)';
    throw new GatewayError(400, { details });
  }
  return first;
}
