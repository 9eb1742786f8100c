/**
 * Users that the operator of the installation makes: by command, and by a link with which the first owner of an account makes
 * themselves one.
 *
 * Guarantees: a link works once and for a day; it is stored as a hash; user, password and membership are stored in the transaction
 * that uses it up, so that a link whose use failed works again. The password is never an argument of a command, which others see.
 */
import { createHash, randomBytes } from 'node:crypto';
import { appendAudit } from '@dormouse/audit-log';
import { defineStatement, transaction, type GlobalDatabase, type Queryable } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { addUser } from './new-user.js';
import { requireStrong, type Passwords } from './passwords.js';

const VALID_FOR_HOURS = 24;

const ADD_LINK = defineStatement({
  name: 'add-first-owner-link',
  scope: 'global',
  text: `INSERT INTO user_verifications (id, identifier, value, expires_at)
         VALUES ($1, $1, $2, now() + make_interval(hours => $3)) RETURNING expires_at`,
  parameters: ['text', 'text', 'int4'],
  row: { expires_at: 'timestamptz' },
});

const FIND_LINK = defineStatement({
  name: 'find-first-owner-link',
  scope: 'global',
  text: `SELECT value FROM user_verifications WHERE identifier = $1 AND expires_at > now()`,
  parameters: ['text'],
  row: { value: 'text' },
});

const USE_LINK = defineStatement({
  name: 'use-first-owner-link',
  scope: 'global',
  text: `DELETE FROM user_verifications WHERE identifier = $1 AND expires_at > now() RETURNING value`,
  parameters: ['text'],
  row: { value: 'text' },
});

const HAS_OWNER = defineStatement({
  name: 'has-owner',
  scope: 'global',
  text: `SELECT user_id FROM memberships WHERE account_id = $1 AND role = 'owner' LIMIT 1`,
  parameters: ['text'],
  row: { user_id: 'text' },
});

const MAKE_OWNER = defineStatement({
  name: 'make-owner',
  scope: 'global',
  text: `INSERT INTO memberships (account_id, user_id, role) VALUES ($1, $2, 'owner')
         ON CONFLICT (account_id, user_id) DO UPDATE SET role = 'owner'`,
  parameters: ['text', 'text'],
});

const SET_OPERATOR = defineStatement({
  name: 'set-operator',
  scope: 'global',
  text: `UPDATE users SET is_operator = $2, updated_at = now() WHERE id = $1`,
  parameters: ['text', 'bool'],
});

const FIND_USER = defineStatement({
  name: 'find-user-by-address',
  scope: 'global',
  text: `SELECT id FROM users WHERE email = $1`,
  parameters: ['text'],
  row: { id: 'text' },
});

const SET_PASSWORD = defineStatement({
  name: 'set-user-password',
  scope: 'global',
  text: `INSERT INTO user_credentials (id, user_id, provider_id, account_id, password)
         VALUES ($1, $2, 'credential', $2, $3)
         ON CONFLICT (provider_id, account_id) DO UPDATE SET password = excluded.password, updated_at = now()`,
  parameters: ['text', 'text', 'text'],
});

/** Who is to be made. */
export interface NewUser {
  name: string;
  /** In lower case. */
  email: string;
  password: string;
}

export interface FirstOwnerLink {
  token: string;
  validUntil: Date;
}

type Databases = Pick<GlobalDatabase, 'pool'>;

/**
 * Makes a user whose address counts as verified, or gives the user of the address this password.
 * @param grants `accountId`: owner of that account; `isOperator`: may use what operators use
 * @returns the user's id
 * @throws the driver's errors, such as for an account that does not exist
 */
export async function makeUser(
  database: Databases,
  passwords: Passwords,
  { name, email, password }: NewUser,
  { accountId, isOperator }: { accountId?: string; isOperator: boolean },
): Promise<string> {
  const passwordHash = await passwords.hash(password);
  return transaction(database, async (connection) => {
    const added = await addUser(connection, { name, email, passwordHash });
    const userId = added ?? (await FIND_USER.first(connection, email))?.id;
    if (userId === undefined) throw new Error('the user was removed at the same time');
    if (added === undefined)
      await SET_PASSWORD.count(connection, randomBytes(24).toString('base64url'), userId, passwordHash);
    await SET_OPERATOR.count(connection, userId, isOperator);
    if (accountId !== undefined) await MAKE_OWNER.count(connection, accountId, userId);
    await audit(connection, accountId ?? null, userId, { action: 'user.make', by: 'command line' });
    return userId;
  });
}

/** A link for the first owner of an account; undefined when the account has an owner. */
export async function addFirstOwnerLink(database: Databases, accountId: string): Promise<FirstOwnerLink | undefined> {
  if (await HAS_OWNER.first(database.pool, accountId)) return undefined;
  const token = randomBytes(32).toString('base64url');
  const added = await ADD_LINK.first(database.pool, identifierOf(token), accountId, VALID_FOR_HOURS);
  if (!added) throw new Error('the link was not stored');
  return { token, validUntil: added.expires_at };
}

/** Whether a link works. */
export async function isFirstOwnerLink(database: Databases, token: string): Promise<boolean> {
  return (await FIND_LINK.first(database.pool, identifierOf(token))) !== undefined;
}

/**
 * Makes the holder of a link the owner of its account, and an operator.
 * @throws {GatewayError} 400 for a link that does not work, a weak password, an address that a user has
 */
export async function acceptFirstOwner(
  database: Databases,
  passwords: Passwords,
  token: string,
  { name, email, password }: NewUser,
): Promise<void> {
  requireStrong(password, [name, email]);
  if (!(await isFirstOwnerLink(database, token))) throw linkDoesNotWork();
  const passwordHash = await passwords.hash(password);
  await transaction(database, async (connection) => {
    const link = await USE_LINK.first(connection, identifierOf(token));
    if (!link) throw linkDoesNotWork();
    const userId = await addUser(connection, { name, email, passwordHash });
    if (userId === undefined) throw new GatewayError(400, { details: 'email: belongs to a user already' });
    await SET_OPERATOR.count(connection, userId, true);
    await MAKE_OWNER.count(connection, link.value, userId);
    await audit(connection, link.value, userId, { action: 'user.make', by: 'link for the first owner' });
  });
}

function audit(
  connection: Queryable,
  accountId: string | null,
  userId: string,
  { action, by }: { action: string; by: string },
): Promise<void> {
  const object = { kind: 'user', id: userId };
  return appendAudit(connection, { accountId, actor: { kind: 'system', id: by }, action, object });
}

function identifierOf(token: string): string {
  return createHash('sha256').update(`first-owner:${token}`).digest('base64url');
}

function linkDoesNotWork(): GatewayError {
  return new GatewayError(400, { details: 'token: this link was used or is too old' });
}
