import { createRequire } from 'node:module';
import curve from 'libsignal/src/curve.js';
import { agree, newKeyPair, sign, signatureHolds, withType } from '../wire/keys.js';

/**
 * Lets libsignal compute with WebAssembly: its own way, through Node's key objects, costs several times as much for every
 * new session and every turn of a conversation. For a process of its own; specs leave libsignal as it is, so that their
 * clients check what this process does.
 */
export function fastCurve(): void {
  Object.assign(curve, {
    calculateAgreement: (publicKey: Uint8Array, privateKey: Uint8Array): Buffer => agree(publicKey, privateKey),
    generateKeyPair: (): { pubKey: Buffer; privKey: Buffer } => {
      const pair = newKeyPair();
      return { pubKey: withType(pair.public), privKey: pair.private };
    },
  });
}

/**
 * The same for signatures, which clients in this process make and check: libsignal computes them in JavaScript, 15 ms each.
 * For long runs of many clients; specs leave them as they are.
 */
export function fastSignatures(): void {
  const libsignal = createRequire(import.meta.url).resolve('libsignal/src/curve.js');
  const arithmetic = createRequire(libsignal)('curve25519-js') as object;
  Object.assign(arithmetic, { sign, verify: signatureHolds });
}
