import { createHmac, randomBytes } from 'node:crypto';
import { KEY_SCOPES, type KeyScope, type Role } from '@dormouse/management-contract';
import { PUBLIC_URL, SIGN_IN, type Answer, type Method, type RunningControlPlane } from '../test-control-plane.js';
import { newKey } from './account-key.js';

const HOUR_MS = 3_600_000;

/** A user of a spec with a session, both written straight into the tables: specs of signing in sign in. */
export class SpecUser {
  private constructor(
    private readonly plane: RunningControlPlane,
    readonly id: string,
    readonly email: string,
    readonly cookie: string,
  ) {}

  static async create(
    plane: RunningControlPlane,
    { operator = false, secondFactor = false, provenAgoMs = 0 } = {},
  ): Promise<SpecUser> {
    const id = randomBytes(9).toString('hex');
    const email = `${id}@example.com`;
    const token = randomBytes(16).toString('hex');
    const { pool } = plane.database;
    await pool.query(
      `INSERT INTO users (id, name, email, email_verified, is_operator, two_factor_enabled) VALUES ($1, $2, $3, true, $4, $5)`,
      [id, `User ${id}`, email, operator, secondFactor],
    );
    const now = Date.now();
    await pool.query(
      `INSERT INTO user_sessions (id, user_id, token, expires_at, proven_at, second_factor_at)
       VALUES ($1, $1, $2, $3, $4, CASE WHEN $5 THEN now() END)`,
      [id, token, new Date(now + HOUR_MS), new Date(now - provenAgoMs), secondFactor],
    );
    const signature = createHmac('sha256', SIGN_IN.secret).update(token).digest('base64');
    const cookie = `dormouse.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
    return new SpecUser(plane, id, email, cookie);
  }

  /** Makes this user a member, or gives them another role. */
  async join(accountId: string, role: Role): Promise<this> {
    await this.plane.database.pool.query(
      `INSERT INTO memberships (account_id, user_id, role) VALUES ($1, $2, $3)
       ON CONFLICT (account_id, user_id) DO UPDATE SET role = $3`,
      [accountId, this.id, role],
    );
    return this;
  }

  /** Makes a request below `/api/v1` as a page of this installation. */
  call(method: Method, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.plane.call(undefined, method, `/api/v1${path}`, {
      ...(body === undefined ? {} : { body }),
      headers: { cookie: this.cookie, origin: PUBLIC_URL, ...headers },
    });
  }
}

/** Adds a key with these scopes to an account. */
export async function addKey(
  plane: RunningControlPlane,
  accountId: string,
  scopes: readonly KeyScope[] = KEY_SCOPES,
): Promise<string> {
  const { minted, stored } = newKey(accountId, scopes);
  await plane.database.pool.query(
    'INSERT INTO account_keys (id, account_id, key_hash, label, scopes) VALUES ($1, $2, $3, $4, $5)',
    [minted.keyId, accountId, stored.keyHash, 'spec', stored.scopes],
  );
  return minted.accountKey;
}

/** The `details` of a failure. */
export function detailsOf({ body }: Answer): string | undefined {
  const error = body['error'];
  const details: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'details') : undefined;
  return typeof details === 'string' ? details : undefined;
}
