/**
 * The keys of an account.
 *
 * Guarantees: a key is shown once and stored as a hash. It can do no more than its maker, whether a key (scopes, end) or a user
 * (role), as they are in the transaction that stores it: a maker who is ended or removed at the same time leaves no key behind.
 * An ended key is refused at the next request, and with it the keys that it made, and those that these made. Ending a key that
 * got into wrong hands ends what was made with it. Each change is in the audit log in its own transaction, without the key.
 */
import { appendAudit } from '@dormouse/audit-log';
import { defineStatement, transaction, type GlobalDatabase, type Queryable, type RowOf } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import {
  SCOPES_OF_ROLE,
  type CreateKeyBody,
  type KeyCreated,
  type KeyRecord,
  type KeyScope,
} from '@dormouse/management-contract';
import { isKeyScope, newKey } from './account-key.js';
import { accountNotFound, lockAccount, toRole } from './accounts.js';
import type { Caller } from './caller.js';
import type { Cause } from './cause.js';

/** Keys that one account may have. */
const KEYS_PER_ACCOUNT = 200;

const KEY_COLUMNS = 'id, label, scopes, created_at, created_by, created_by_key, expires_at, last_used_at';
const KEY_ROW = {
  id: 'text',
  label: 'text',
  scopes: 'text[]?',
  created_at: 'timestamptz',
  created_by: 'text?',
  created_by_key: 'text?',
  expires_at: 'timestamptz?',
  last_used_at: 'timestamptz?',
} as const;

const LIST = defineStatement({
  name: 'list-account-keys',
  scope: 'global',
  text: `SELECT ${KEY_COLUMNS} FROM account_keys
         WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
           AND ($2::text IS NULL OR created_by = $2)
         ORDER BY created_at DESC, id`,
  parameters: ['text', 'text?'],
  row: KEY_ROW,
});

const ADD = defineStatement({
  name: 'add-account-key',
  scope: 'global',
  text: `INSERT INTO account_keys (id, account_id, key_hash, label, scopes, created_by, created_by_key, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${KEY_COLUMNS}`,
  parameters: ['text', 'text', 'bytea', 'text', 'text[]', 'text?', 'text?', 'timestamptz?'],
  row: KEY_ROW,
});

const END = defineStatement({
  name: 'end-account-key',
  scope: 'global',
  text: `WITH RECURSIVE ending AS (
           SELECT id FROM account_keys
           WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND ($3::text IS NULL OR created_by = $3)
           UNION SELECT k.id FROM account_keys k JOIN ending e ON k.created_by_key = e.id WHERE k.account_id = $1)
         UPDATE account_keys SET revoked_at = now() WHERE id IN (SELECT id FROM ending) AND revoked_at IS NULL RETURNING id`,
  parameters: ['text', 'text', 'text?'],
  row: { id: 'text' },
});

const END_BEYOND = defineStatement({
  name: 'end-account-keys-beyond',
  scope: 'global',
  text: `UPDATE account_keys SET revoked_at = now()
         WHERE account_id = $1 AND created_by = $2 AND revoked_at IS NULL AND NOT coalesce(scopes, '{}') <@ $3::text[]`,
  parameters: ['text', 'text', 'text[]'],
});

const IS_LIVE_KEY = defineStatement({
  name: 'is-live-account-key',
  scope: 'global',
  text: `SELECT id FROM account_keys
         WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
  parameters: ['text', 'text'],
  row: { id: 'text' },
});

const ROLE_OF = defineStatement({
  name: 'role-of-member',
  scope: 'global',
  text: 'SELECT role FROM memberships WHERE account_id = $1 AND user_id = $2',
  parameters: ['text', 'text'],
  row: { role: 'text' },
});

export class Keys {
  constructor(private readonly database: Pick<GlobalDatabase, 'pool'>) {}

  /** Keys that work, the newest first; those of a developer alone when a developer requests them. */
  async list(caller: Caller): Promise<KeyRecord[]> {
    return (await LIST.all(this.database.pool, caller.account.id, ownAlone(caller))).map(shown);
  }

  /** @throws {GatewayError} 400 for an end in the past, 403 for more than the caller may do, 409 beyond the number of keys */
  async create(caller: Caller, body: CreateKeyBody, cause: Cause): Promise<KeyCreated> {
    const expiresAt = endOf(body);
    const accountId = caller.account.id;
    const { minted, stored } = newKey(accountId, body.scopes);
    return transaction(this.database, async (connection) => {
      if (!(await lockAccount(connection, accountId))) throw accountNotFound();
      await requireNoMore(connection, caller, body.scopes, expiresAt);
      const isFull = (await LIST.all(connection, accountId, null)).length >= KEYS_PER_ACCOUNT;
      if (isFull)
        throw new GatewayError(409, { details: `an account has ${KEYS_PER_ACCOUNT} keys at most: end one first` });
      const { keyHash, scopes } = stored;
      const row = await ADD.first(
        connection,
        minted.keyId,
        accountId,
        keyHash,
        body.name,
        scopes,
        ...makersOf(caller),
        expiresAt,
      );
      if (!row) throw new Error('the key was not written');
      const details = { name: body.name, scopes: scopes.join(' '), expires_at: expiresAt?.toISOString() ?? null };
      await append(connection, accountId, minted.keyId, { ...cause, action: 'key.create', details });
      return { key: shown(row), secret: minted.accountKey };
    });
  }

  /** Ends a key and those that were made with it. @throws {GatewayError} 404 when the account, or the developer who ends it, has no such key */
  async end(caller: Caller, keyId: string, cause: Cause): Promise<void> {
    const accountId = caller.account.id;
    await transaction(this.database, async (connection) => {
      // A key that is just creating another one waits, and then may not any more.
      if (!(await lockAccount(connection, accountId))) throw accountNotFound();
      const ended = await END.all(connection, accountId, keyId, ownAlone(caller));
      if (ended.length === 0) throw new GatewayError(404, { message: 'key not found' });
      for (const { id } of ended) {
        const details = id === keyId ? {} : { details: { ended_with: keyId } };
        await append(connection, accountId, id, { ...cause, action: 'key.end', ...details });
      }
    });
  }
}

/**
 * Ends the keys that a user made in an account and that have other scopes than these.
 * @returns how many
 */
export async function endKeysBeyond(
  connection: Queryable,
  accountId: string,
  userId: string,
  scopes: readonly KeyScope[],
): Promise<number> {
  return END_BEYOND.count(connection, accountId, userId, scopes);
}

/** The user behind a new key, and the key that made it. */
function makersOf(caller: Caller): [user: string | null, key: string | null] {
  return caller.kind === 'key' ? [caller.key.createdBy, caller.key.id] : [caller.signedIn.user.id, null];
}

/** The user whose keys alone the caller sees; null: all. */
function ownAlone(caller: Caller): string | null {
  return caller.kind === 'user' && caller.role !== 'owner' && !caller.isLook ? caller.signedIn.user.id : null;
}

function endOf({ expires_at: seconds }: CreateKeyBody): Date | null {
  if (seconds === undefined) return null;
  const expiresAt = new Date(seconds * 1_000);
  if (expiresAt.getTime() <= Date.now()) throw new GatewayError(400, { details: 'expires_at: must be in the future' });
  return expiresAt;
}

/** With the account locked: what the caller may do now is what counts. */
async function requireNoMore(
  connection: Queryable,
  caller: Caller,
  scopes: readonly KeyScope[],
  expiresAt: Date | null,
): Promise<void> {
  const own = await scopesNow(connection, caller);
  const beyond = scopes.filter((scope) => !own.includes(scope));
  if (beyond.length > 0) {
    const whose = caller.kind === 'key' ? 'the key that creates it' : `a ${caller.role}`;
    throw new GatewayError(403, { details: `scopes: ${whose} may not give ${beyond.join(', ')}` });
  }
  const end = caller.kind === 'key' ? caller.key.expiresAt : null;
  if (end && (!expiresAt || expiresAt > end)) {
    const details = `expires_at: must not be after the end of the key that creates it (${Math.floor(end.getTime() / 1_000)})`;
    throw new GatewayError(403, { details });
  }
}

async function scopesNow(connection: Queryable, caller: Caller): Promise<readonly KeyScope[]> {
  const accountId = caller.account.id;
  if (caller.kind === 'key') {
    return (await IS_LIVE_KEY.first(connection, accountId, caller.key.id)) ? caller.key.scopes : [];
  }
  const row = await ROLE_OF.first(connection, accountId, caller.signedIn.user.id);
  return row ? SCOPES_OF_ROLE[toRole(row.role)] : [];
}

async function append(
  connection: Queryable,
  accountId: string,
  keyId: string,
  entry: Cause & { action: string; details?: Record<string, string | null> },
): Promise<void> {
  await appendAudit(connection, { ...entry, accountId, object: { kind: 'key', id: keyId } });
}

function shown(row: RowOf<typeof LIST>): KeyRecord {
  const epochS = (time: Date): number => Math.floor(time.getTime() / 1_000);
  return {
    id: row.id,
    name: row.label,
    scopes: (row.scopes ?? []).filter(isKeyScope),
    created_at: epochS(row.created_at),
    ...(row.created_by === null ? {} : { created_by: row.created_by }),
    ...(row.created_by_key === null ? {} : { created_by_key: row.created_by_key }),
    ...(row.expires_at === null ? {} : { expires_at: epochS(row.expires_at) }),
    ...(row.last_used_at === null ? {} : { last_used_at: epochS(row.last_used_at) }),
  };
}
