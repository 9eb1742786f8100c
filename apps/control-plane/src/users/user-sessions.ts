/**
 * Who makes a request, by the cookie of a session.
 *
 * Guarantees: looked up in the global database at every request. A session that was ended, a user who was removed and whose password
 * was changed are refused at the next request, at every process. A session of a user whose second factor is on is refused until a
 * code was given in it, however it was begun. Without the database requests with a session fail with 502.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { defineStatement, type GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { CODE_REQUIRED } from '@dormouse/management-contract';
import { readSessionToken } from './session-cookie.js';

export interface SessionUser {
  id: string;
  name: string;
  email: string;
  twoFactorEnabled: boolean;
  isOperator: boolean;
}

export interface UserSession {
  id: string;
  createdAt: Date;
  expiresAt: Date;
  /** When password or identity provider last proved who it is. */
  provenAt: Date | null;
}

/** A user with the session of a request. */
export interface SignedInUser {
  user: SessionUser;
  session: UserSession;
}

const FIND_SESSION = defineStatement({
  name: 'find-user-session',
  scope: 'global',
  text: `SELECT s.id, s.created_at, s.expires_at, s.proven_at, s.second_factor_at, u.id AS user_id, u.name, u.email, u.two_factor_enabled, u.is_operator
         FROM user_sessions s JOIN users u ON u.id = s.user_id WHERE s.token = $1 AND s.expires_at > now()`,
  parameters: ['text'],
  row: {
    id: 'text',
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
    proven_at: 'timestamptz?',
    second_factor_at: 'timestamptz?',
    user_id: 'text',
    name: 'text',
    email: 'text',
    two_factor_enabled: 'bool',
    is_operator: 'bool',
  },
});

/** The sessions of users. Nothing is cached. */
export class UserSessions {
  /** @param signIn origin and secret of the installation; undefined: nobody can sign in */
  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly signIn: { publicUrl: string; secret: string } | undefined,
  ) {}

  /**
   * The user and session of a request, or undefined without a valid session.
   * @throws {GatewayError} 401 when the session waits for a code
   * @throws the driver's errors
   */
  async of(headers: Pick<IncomingHttpHeaders, 'cookie'>): Promise<SignedInUser | undefined> {
    const found = await this.#find(headers);
    if (found?.needsCode) {
      const details = 'a code of the second factor is required: POST /auth/sign-in/code';
      throw new GatewayError(401, { message: CODE_REQUIRED, details });
    }
    return found?.signedIn;
  }

  /** The user and session of a request when only a code is missing. @throws the driver's errors */
  async waitingForCode(headers: Pick<IncomingHttpHeaders, 'cookie'>): Promise<SignedInUser | undefined> {
    const found = await this.#find(headers);
    return found?.needsCode ? found.signedIn : undefined;
  }

  async #find({
    cookie,
  }: Pick<IncomingHttpHeaders, 'cookie'>): Promise<{ signedIn: SignedInUser; needsCode: boolean } | undefined> {
    const token = this.signIn && readSessionToken(cookie, this.signIn);
    if (token === undefined) return undefined;
    const row = await FIND_SESSION.first(this.database.pool, token);
    if (!row) return undefined;
    return {
      needsCode: row.two_factor_enabled && row.second_factor_at === null,
      signedIn: {
        user: {
          id: row.user_id,
          name: row.name,
          email: row.email,
          twoFactorEnabled: row.two_factor_enabled,
          isOperator: row.is_operator,
        },
        session: { id: row.id, createdAt: row.created_at, expiresAt: row.expires_at, provenAt: row.proven_at },
      },
    };
  }
}
