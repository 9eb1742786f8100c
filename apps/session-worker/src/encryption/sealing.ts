/**
 * Sealing of session material: AES-256-GCM under a data key of the channel, which is itself sealed under a master key.
 *
 * Guarantee: a value that opens is what was sealed, for that channel and that place; a changed, truncated or misplaced value
 * is refused, never used. Layout: version (1 byte), nonce (12), ciphertext, tag (16).
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;

/** A sealed value does not open: it is changed, truncated, moved to another place, or sealed under another key. */
export class UnsealableError extends Error {
  /** @param place where the value was found */
  constructor(readonly place: string) {
    super(`sealed value of ${place} does not open`);
    this.name = 'UnsealableError';
  }
}

/** @param place names the value and its owner; the value opens only with the same place */
export function seal(key: Buffer, place: string, plain: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @throws {UnsealableError} */
export function open(key: Buffer, place: string, sealed: Buffer): Buffer {
  const bodyAt = 1 + NONCE_BYTES;
  const tagAt = sealed.length - TAG_BYTES;
  if (tagAt < bodyAt || sealed[0] !== VERSION) throw new UnsealableError(place);
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, bodyAt), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(tagAt));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(bodyAt, tagAt)), decipher.final()]);
  } catch {
    throw new UnsealableError(place);
  }
}
