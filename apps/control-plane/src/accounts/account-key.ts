/**
 * An account key authenticates one account at the management API. It is 256 random bits. Only its SHA-256 is stored, and
 * keys are looked up by that hash, so that neither the database nor the timing of a look-up reveals a key.
 */
import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'dmk_';
/** Longer texts are no keys and are not hashed. */
const MAX_LENGTH = 256;

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
