import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { GlobalDatabase } from '@dormouse/database';
import { KEY_SCOPES } from '@dormouse/management-contract';
import { hashAccountKey, mintAccountKey } from './account-key.js';

export interface Account {
  id: string;
  name: string;
  createdAt: Date;
}

/** A new account or key. The key itself is not stored anywhere. */
export interface MintedKey {
  accountId: string;
  keyId: string;
  accountKey: string;
}

const newId = (prefix: string): string => prefix + randomBytes(9).toString('base64url');

/** Accounts and their keys. Nothing is cached between requests, so a revoked key is refused at once. */
export class Accounts {
  constructor(private readonly database: Pick<GlobalDatabase, 'prisma'>) {}

  /** The account of a key, or undefined when the key is unknown or revoked. */
  async byKey(key: string): Promise<Account | undefined> {
    const hash = hashAccountKey(key);
    const found = await this.database.prisma.accountKey.findUnique({
      where: { keyHash: Uint8Array.from(hash), revokedAt: null },
      include: { account: true },
    });
    if (!found || !timingSafeEqual(found.keyHash, hash)) return undefined;
    const { id, name, createdAt } = found.account;
    return { id, name, createdAt };
  }

  /** Adds an account with one key. */
  async create(name: string): Promise<MintedKey> {
    const accountId = newId('acc_');
    const { minted, stored } = newKey(accountId, 'first key');
    const { accountId: _account, ...key } = stored;
    await this.database.prisma.account.create({ data: { id: accountId, name, keys: { create: key } } });
    return minted;
  }

  /** Adds another key to an account. */
  async addKey(accountId: string, label: string): Promise<MintedKey> {
    const { minted, stored } = newKey(accountId, label);
    await this.database.prisma.accountKey.create({ data: stored });
    return minted;
  }

  /** Revokes a key. False when the account has no such key, or it is revoked already. */
  async revokeKey(accountId: string, keyId: string): Promise<boolean> {
    const { count } = await this.database.prisma.accountKey.updateMany({
      where: { accountId, id: keyId, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    return count === 1;
  }
}

/** A new key as its owner gets it, and as it is stored. */
function newKey(accountId: string, label: string) {
  const keyId = newId('key_');
  const accountKey = mintAccountKey();
  const minted: MintedKey = { accountId, keyId, accountKey };
  const keyHash = Uint8Array.from(hashAccountKey(accountKey));
  return { minted, stored: { id: keyId, accountId, keyHash, label, scopes: [...KEY_SCOPES] } };
}
