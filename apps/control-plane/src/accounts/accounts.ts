import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { GlobalDatabase } from '@dormouse/database';
import { transaction } from '@dormouse/database';
import { hashAccountKey, mintAccountKey } from './account-key.js';

export interface Account {
  id: string;
  name: string;
  createdAt: Date;
}

/** A new account or key; the key is in no other place. */
export interface MintedKey {
  accountId: string;
  keyId: string;
  accountKey: string;
}

interface AccountRow {
  id: string;
  name: string;
  created_at: Date;
  key_hash: Buffer;
}

const newId = (prefix: string): string => prefix + randomBytes(9).toString('base64url');

/** Accounts and their keys. Nothing is remembered between requests: a revoked key is refused at once. */
export class Accounts {
  constructor(private readonly database: Pick<GlobalDatabase, 'pool'>) {}

  /** The account that a key opens, or undefined when the key is unknown or revoked. */
  async byKey(key: string): Promise<Account | undefined> {
    const hash = hashAccountKey(key);
    const { rows } = await this.database.pool.query<AccountRow>({
      name: 'account-by-key',
      text: `SELECT a.id, a.name, a.created_at, k.key_hash FROM account_keys k JOIN accounts a ON a.id = k.account_id
             WHERE k.key_hash = $1 AND k.revoked_at IS NULL`,
      values: [hash],
    });
    const [row] = rows;
    if (!row || !timingSafeEqual(row.key_hash, hash)) return undefined;
    return { id: row.id, name: row.name, createdAt: row.created_at };
  }

  /** Adds an account with one key. */
  async create(name: string): Promise<MintedKey> {
    const accountId = newId('acc_');
    return transaction(this.database, async (connection) => {
      await connection.query('INSERT INTO accounts (id, name) VALUES ($1, $2)', [accountId, name]);
      return this.#insertKey(connection, accountId, 'first key');
    });
  }

  /** Adds another key to an account. */
  async addKey(accountId: string, label: string): Promise<MintedKey> {
    return this.#insertKey(this.database.pool, accountId, label);
  }

  /** Ends a key. False when the account has no such live key. */
  async revokeKey(accountId: string, keyId: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      'UPDATE account_keys SET revoked_at = now() WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL',
      [accountId, keyId],
    );
    return rowCount === 1;
  }

  async #insertKey(
    connection: Pick<GlobalDatabase['pool'], 'query'>,
    accountId: string,
    label: string,
  ): Promise<MintedKey> {
    const keyId = newId('key_');
    const accountKey = mintAccountKey();
    await connection.query('INSERT INTO account_keys (id, account_id, key_hash, label) VALUES ($1, $2, $3, $4)', [
      keyId,
      accountId,
      hashAccountKey(accountKey),
      label,
    ]);
    return { accountId, keyId, accountKey };
  }
}
