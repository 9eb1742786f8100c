/**
 * Lets libsignal derive the keys of a message by one call of Node's HKDF in place of four HMACs, and gives HMACs and
 * ciphers their keys as key objects: given bytes, Node 24 takes longer to find out that they are none than for the HMAC
 * itself (24.21: 87 µs for the keys of one message; 13 this way). For a process of its own; specs leave libsignal as it
 * is, so that their clients check what this process does.
 *
 * Source of the formulas: the Signal protocol's HKDF is RFC 5869 with SHA-256, of which it takes one to three blocks.
 */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';
import signalCrypto from 'libsignal/src/crypto.js';

const BLOCK_BYTES = 32;
const BLOCKS = 3;

function deriveSecrets(input: Uint8Array, salt: Uint8Array, info: Uint8Array, blocks = BLOCKS): Buffer[] {
  const derived = Buffer.from(hkdfSync('sha256', createSecretKey(input), salt, info, blocks * BLOCK_BYTES));
  return Array.from({ length: blocks }, (_, index) => derived.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES));
}

function calculateMAC(key: Uint8Array, data: Uint8Array): Buffer {
  return createHmac('sha256', createSecretKey(key)).update(data).digest();
}

function verifyMAC(data: Uint8Array, key: Uint8Array, mac: Uint8Array, length: number): void {
  const expected = calculateMAC(key, data).subarray(0, length);
  if (mac.length !== length || expected.length !== length) throw new Error('Bad MAC length');
  if (!timingSafeEqual(mac, expected)) throw new Error('Bad MAC');
}

const CIPHER = 'aes-256-cbc';

function encrypt(key: Uint8Array, data: Uint8Array, iv: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, createSecretKey(key), iv);
  return Buffer.concat([cipher.update(data), cipher.final()]);
}

function decrypt(key: Uint8Array, data: Uint8Array, iv: Uint8Array): Buffer {
  const decipher = createDecipheriv(CIPHER, createSecretKey(key), iv);
  return Buffer.concat([decipher.update(data), decipher.final()]);
}

/** Changes libsignal for the whole process. */
export function fastDerivation(): void {
  Object.assign(signalCrypto, { deriveSecrets, calculateMAC, verifyMAC, encrypt, decrypt });
}
