/**
 * Makes signatures count.
 *
 * What it guarantees: a server whose certificate is not signed by the root key, or is not for the key it speaks with,
 * is refused during the handshake; a signed pre-key that its owner's identity did not sign starts no session; a pairing
 * or a group message with a forged signature is refused.
 *
 * Why it is needed: libsignal 6.0.0 *returns* false for a bad signature (and skips the check for pre-key bundles), while
 * Baileys 7.0.0-rc14 only looks for a thrown error. Nor does Baileys compare the certificate's key with the server's
 * (`server-certificate.ts` does). The curve functions are those of `whatsapp-rust-bridge`, which Baileys brings along:
 * they are several times faster too, and connecting or a group message spends most of its time in them. Keys are made
 * there as well, from the system's randomness.
 *
 * Everything is replaced in objects that are looked into at each call, so it does not matter what was loaded first.
 */
import { Curve } from '@whiskeysockets/baileys';
import { calculateAgreement, calculateSignature, generateKeyPair, verifySignature } from 'whatsapp-rust-bridge';
import { curveImplementation, libsignalCurve } from './libsignal-curve.js';

const CURVE_FUNCTIONS = ['sign', 'generateKeyPair', 'sharedKey', 'verify'] as const;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** Marks a curve25519 public key in Signal's serialized form. */
const KEY_TYPE = 5;

let lastAgreedKey: Uint8Array | undefined;

function serialized(publicKey: Uint8Array): Uint8Array {
  if (publicKey.length === KEY_BYTES + 1 && publicKey[0] === KEY_TYPE) return publicKey;
  if (publicKey.length !== KEY_BYTES) throw new Error('Invalid public key');
  return Uint8Array.of(KEY_TYPE, ...publicKey);
}

function wellFormed(privateKey: Uint8Array): Uint8Array {
  if (privateKey.length !== KEY_BYTES) throw new Error('Invalid private key');
  return privateKey;
}

function agree(publicKey: Uint8Array, privateKey: Uint8Array): Buffer {
  return Buffer.from(calculateAgreement(serialized(publicKey), wellFormed(privateKey)));
}

/** A link makes 812 of them at once, during which nobody else in the process has a turn. */
function makePair(): { pubKey: Buffer; privKey: Buffer } {
  const { pubKey, privKey } = generateKeyPair();
  return { pubKey: Buffer.from(pubKey), privKey: Buffer.from(privKey) };
}

function sign(privateKey: Uint8Array, message: Uint8Array): Buffer {
  return Buffer.from(calculateSignature(wellFormed(privateKey), message));
}

function isSignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === SIGNATURE_BYTES && verifySignature(serialized(publicKey), message, signature);
}

function assertSignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): true {
  if (!isSignedBy(publicKey, message, signature)) throw new Error('Invalid signature');
  return true;
}

/** Replaces the curve functions of libsignal and of the library, for the whole process. @throws {Error} when one is missing */
export function checkSignatures(): void {
  for (const name of CURVE_FUNCTIONS) {
    if (typeof Curve[name] !== 'function')
      throw new Error(`Baileys has no Curve.${name}: signatures cannot be checked`);
  }
  Object.assign(libsignalCurve(), {
    calculateAgreement: agree,
    calculateSignature: sign,
    generateKeyPair: makePair,
    verifySignature: assertSignedBy,
  });
  Object.assign(curveImplementation(), { sign, verify: assertSignedBy });

  Curve.sign = sign;
  Curve.generateKeyPair = () => {
    const { pubKey, privKey } = makePair();
    return { private: privKey, public: pubKey.subarray(1) };
  };
  Curve.sharedKey = (privateKey, publicKey) => {
    const shared = agree(publicKey, privateKey);
    lastAgreedKey = Uint8Array.from(publicKey);
    return Buffer.from(shared);
  };
  Curve.verify = (publicKey, message, signature) => {
    try {
      return isSignedBy(publicKey, message, signature);
    } catch {
      return false; // a key that is none has signed nothing
    }
  };
}

/**
 * The other side's public key of the newest `Curve.sharedKey` in this process. A handshake does not yield between
 * agreeing on the server's static key and reading its certificate, so there it is that static key.
 */
export function keyAgreedLast(): Uint8Array | undefined {
  return lastAgreedKey;
}
