/**
 * An account key authenticates one account at the management API. It is 256 random bits. Only its SHA-256 is stored, and
 * keys are looked up by that hash, so that neither the database nor the timing of a look-up reveals a key.
 */
import { createHash, randomBytes } from 'node:crypto';
import { KEY_SCOPES, type KeyScope } from '@dormouse/management-contract';

const PREFIX = 'dmk_';
/** Longer texts are no keys and are not hashed. */
const MAX_LENGTH = 256;

/** A new account or key. The key itself is not stored anywhere. */
export interface MintedKey {
  accountId: string;
  keyId: string;
  accountKey: string;
}

/** The key that a request was made with. */
export interface UsedKey {
  id: string;
  name: string;
  scopes: KeyScope[];
  /** The user who made it, or whose key made it. */
  createdBy: string | null;
  /** Null: it has no end. */
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

/** A new key. Show it once; store its hash. */
export function mintAccountKey(): string {
  return PREFIX + randomBytes(32).toString('base64url');
}

export function hashAccountKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The key that a request presents as `Authorization: Bearer <key>`; undefined when it presents none. */
export function presentedKey(authorization: string | undefined): string | undefined {
  const key = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return key !== undefined && key.length <= MAX_LENGTH ? key : undefined;
}

/** A new key as its owner gets it, and what of it is stored. Absent scopes: all. */
export function newKey(
  accountId: string,
  scopes: readonly KeyScope[] = KEY_SCOPES,
): { minted: MintedKey; stored: { keyHash: Buffer; scopes: KeyScope[] } } {
  const accountKey = mintAccountKey();
  const keyId = `key_${randomBytes(9).toString('base64url')}`;
  return {
    minted: { accountId, keyId, accountKey },
    stored: { keyHash: hashAccountKey(accountKey), scopes: [...scopes] },
  };
}

export function isKeyScope(scope: string): scope is KeyScope {
  return KEY_SCOPES.some((known) => known === scope);
}
