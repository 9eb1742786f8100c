import { randomBytes } from 'node:crypto';
import { appendAudit } from '@dormouse/audit-log';
import { defineStatement, transaction, type GlobalDatabase, type Queryable, type RowOf } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { ROLES, type AccountLimits, type Role } from '@dormouse/management-contract';
import type { Cause } from './cause.js';
import { isKeyScope, newKey, type MintedKey, type UsedKey } from './account-key.js';

export interface Account {
  id: string;
  name: string;
  createdAt: Date;
}

/** An account and what a user is in it. */
export interface Membership {
  account: Account;
  role: Role;
}

/** Accounts that one user may create. */
const ACCOUNTS_PER_USER = 20;

export const newId = (prefix: string): string => prefix + randomBytes(9).toString('base64url');

const ACCOUNT_ROW = { id: 'text', name: 'text', created_at: 'timestamptz' } as const;

const BY_KEY = defineStatement({
  name: 'account-by-key',
  scope: 'global',
  text: `SELECT a.id, a.name, a.created_at, k.id AS key_id, k.label, k.scopes, k.created_by, k.expires_at, k.last_used_at
         FROM account_keys k JOIN accounts a ON a.id = k.account_id
         WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
           AND a.deleted_at IS NULL`,
  parameters: ['bytea'],
  row: {
    ...ACCOUNT_ROW,
    key_id: 'text',
    label: 'text',
    scopes: 'text[]?',
    created_by: 'text?',
    expires_at: 'timestamptz?',
    last_used_at: 'timestamptz?',
  },
});

const OF_USER = defineStatement({
  name: 'accounts-of-user',
  scope: 'global',
  text: `SELECT a.id, a.name, a.created_at, m.role FROM memberships m JOIN accounts a ON a.id = m.account_id
         WHERE m.user_id = $1 AND a.deleted_at IS NULL ORDER BY m.created_at, a.id`,
  parameters: ['text'],
  row: { ...ACCOUNT_ROW, role: 'text' },
});

const FIND = defineStatement({
  name: 'find-account',
  scope: 'global',
  text: 'SELECT id, name, created_at FROM accounts WHERE id = $1 AND deleted_at IS NULL',
  parameters: ['text'],
  row: ACCOUNT_ROW,
});

const LOCK = defineStatement({
  name: 'lock-account',
  scope: 'global',
  text: 'SELECT id, name, created_at FROM accounts WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE',
  parameters: ['text'],
  row: ACCOUNT_ROW,
});

const CREATE = defineStatement({
  name: 'create-account',
  scope: 'global',
  text: `INSERT INTO accounts (id, name, channels_per_half_hour, never_linked_channels) VALUES ($1, $2, $3, $4)
         RETURNING id, name, created_at`,
  parameters: ['text', 'text', 'int4?', 'int4?'],
  row: ACCOUNT_ROW,
});

const ADD_KEY = defineStatement({
  name: 'add-first-account-key',
  scope: 'global',
  text: 'INSERT INTO account_keys (id, account_id, key_hash, label, scopes) VALUES ($1, $2, $3, $4, $5)',
  parameters: ['text', 'text', 'bytea', 'text', 'text[]'],
});

const ADD_MEMBER = defineStatement({
  name: 'add-member',
  scope: 'global',
  // The user's row is locked, so that a user who is just erased becomes no member.
  text: `INSERT INTO memberships (account_id, user_id, role) SELECT $1, u.id, $3 FROM users u WHERE u.id = $2 FOR KEY SHARE
         ON CONFLICT (account_id, user_id) DO NOTHING`,
  parameters: ['text', 'text', 'text'],
});

const LOCK_USER = defineStatement({
  name: 'lock-user-of-new-account',
  scope: 'global',
  text: 'SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE',
  parameters: ['text'],
  row: { id: 'text' },
});

const RENAME = defineStatement({
  name: 'rename-account',
  scope: 'global',
  text: `UPDATE accounts SET name = $2 WHERE id = $1 AND deleted_at IS NULL RETURNING id, name, created_at`,
  parameters: ['text', 'text'],
  row: ACCOUNT_ROW,
});

const LIMITS_ROW = { channels_per_half_hour: 'int4?', never_linked_channels: 'int4?' } as const;

const GET_LIMITS = defineStatement({
  name: 'account-limits',
  scope: 'global',
  text: `SELECT channels_per_half_hour, never_linked_channels FROM accounts WHERE id = $1 AND deleted_at IS NULL`,
  parameters: ['text'],
  row: LIMITS_ROW,
});

const SET_LIMITS = defineStatement({
  name: 'set-account-limits',
  scope: 'global',
  text: `UPDATE accounts SET channels_per_half_hour = $2, never_linked_channels = $3
         WHERE id = $1 AND deleted_at IS NULL RETURNING channels_per_half_hour, never_linked_channels`,
  parameters: ['text', 'int4?', 'int4?'],
  row: LIMITS_ROW,
});

/** Accounts. Nothing is cached between requests, so an ended key and a removed member are refused at once. */
export class Accounts {
  constructor(private readonly database: Pick<GlobalDatabase, 'pool'>) {}

  /** The account of a key, and the key; undefined when it is unknown, revoked or past its end, or its account has ended. */
  async byKey(hash: Buffer): Promise<{ account: Account; key: UsedKey } | undefined> {
    const row = await BY_KEY.first(this.database.pool, hash);
    if (!row) return undefined;
    const key: UsedKey = {
      id: row.key_id,
      name: row.label,
      scopes: (row.scopes ?? []).filter(isKeyScope),
      createdBy: row.created_by,
      expiresAt: row.expires_at,
      lastUsedAt: row.last_used_at,
    };
    return { account: toAccount(row), key };
  }

  /** The accounts that a user is in, in the order of joining. */
  async ofUser(userId: string): Promise<Membership[]> {
    const rows = await OF_USER.all(this.database.pool, userId);
    return rows.map((row) => ({ account: toAccount(row), role: toRole(row.role) }));
  }

  /** The account, unless it has ended. */
  async byId(accountId: string): Promise<Account | undefined> {
    const row = await FIND.first(this.database.pool, accountId);
    return row && toAccount(row);
  }

  /** Adds an account with one key that may do everything, for the operator of the installation: without limits of creation. */
  async create(name: string): Promise<MintedKey> {
    const { minted, stored } = newKey(newId('acc_'));
    const { accountId } = minted;
    await transaction(this.database, async (connection) => {
      await CREATE.first(connection, accountId, name, 0, 0);
      await ADD_KEY.count(connection, minted.keyId, accountId, stored.keyHash, 'first key', stored.scopes);
    });
    return minted;
  }

  /** Adds an account whose owner is a user. @throws {GatewayError} 403 when the user has created too many */
  async createFor(userId: string, name: string, cause: Cause): Promise<Membership> {
    return transaction(this.database, async (connection) => {
      // Creations of one user wait for each other, so that many at once do not pass the limit.
      if (!(await LOCK_USER.first(connection, userId))) throw new GatewayError(401, { message: 'not signed in' });
      if ((await OF_USER.all(connection, userId)).length >= ACCOUNTS_PER_USER) {
        throw new GatewayError(403, { details: `a user may be in ${ACCOUNTS_PER_USER} accounts: leave one first` });
      }
      const row = await CREATE.first(connection, newId('acc_'), name, null, null);
      if (!row) throw new Error('the account was not written');
      await ADD_MEMBER.count(connection, row.id, userId, 'owner');
      await appendAudit(connection, { ...cause, ...about(row.id), action: 'account.create', details: { name } });
      return { account: toAccount(row), role: 'owner' };
    });
  }

  /** @throws {GatewayError} 404 */
  async rename(accountId: string, name: string, cause: Cause): Promise<Account> {
    return transaction(this.database, async (connection) => {
      const row = await RENAME.first(connection, accountId, name);
      if (!row) throw accountNotFound();
      await appendAudit(connection, { ...cause, ...about(accountId), action: 'account.rename', details: { name } });
      return toAccount(row);
    });
  }

  /** @throws {GatewayError} 404 */
  async limits(accountId: string): Promise<AccountLimits> {
    const row = await GET_LIMITS.first(this.database.pool, accountId);
    if (!row) throw accountNotFound();
    return shownLimits(row);
  }

  /** @throws {GatewayError} 404 */
  async setLimits(accountId: string, limits: AccountLimits, cause: Cause): Promise<AccountLimits> {
    const { channels_per_half_hour: perHalfHour, never_linked_channels: neverLinked } = limits;
    return transaction(this.database, async (connection) => {
      const row = await SET_LIMITS.first(connection, accountId, perHalfHour ?? null, neverLinked ?? null);
      if (!row) throw accountNotFound();
      await appendAudit(connection, {
        ...cause,
        ...about(accountId),
        action: 'account.set-limits',
        details: { ...row },
      });
      return shownLimits(row);
    });
  }
}

/** Locks an account for the rest of a transaction; undefined when there is none, or it has ended. */
export async function lockAccount(connection: Queryable, accountId: string): Promise<Account | undefined> {
  const row = await LOCK.first(connection, accountId);
  return row && toAccount(row);
}

/** Makes a user a member. False when the user is one already. */
export async function addMember(
  connection: Queryable,
  accountId: string,
  userId: string,
  role: Role,
): Promise<boolean> {
  return (await ADD_MEMBER.count(connection, accountId, userId, role)) === 1;
}

export function accountNotFound(): GatewayError {
  return new GatewayError(404, { message: 'account not found' });
}

/** A role of the database. One that this version does not know may only read. */
export function toRole(stored: string): Role {
  return ROLES.find((role) => role === stored) ?? 'viewer';
}

function about(accountId: string) {
  return { accountId, object: { kind: 'account', id: accountId } };
}

function shownLimits(row: RowOf<typeof GET_LIMITS>): AccountLimits {
  const { channels_per_half_hour: perHalfHour, never_linked_channels: neverLinked } = row;
  return {
    ...(perHalfHour === null ? {} : { channels_per_half_hour: perHalfHour }),
    ...(neverLinked === null ? {} : { never_linked_channels: neverLinked }),
  };
}

function toAccount({ id, name, created_at: createdAt }: { id: string; name: string; created_at: Date }): Account {
  return { id, name, createdAt };
}
