import { calculateAgreement, calculateSignature, generateKeyPair, verifySignature } from 'whatsapp-rust-bridge';

/** A Curve25519 pair; `public` is the raw 32 bytes, without the type byte 5 that some places put in front. */
export interface KeyPair {
  public: Buffer;
  private: Buffer;
}

const KEY_TYPE = Buffer.from([5]);

/** The public key with its type byte in front, as signatures and bundles carry it. */
export function withType(publicKey: Uint8Array): Buffer {
  return publicKey.length === 33 ? Buffer.from(publicKey) : Buffer.concat([KEY_TYPE, publicKey]);
}

/** The public key as raw 32 bytes. */
export function withoutType(publicKey: Uint8Array): Buffer {
  return Buffer.from(publicKey.length === 33 ? publicKey.subarray(1) : publicKey);
}

export function newKeyPair(): KeyPair {
  const { pubKey, privKey } = generateKeyPair();
  return { public: withoutType(pubKey), private: Buffer.from(privKey) };
}

/** XEdDSA signature, 64 bytes. */
export function sign(privateKey: Uint8Array, message: Uint8Array): Buffer {
  return Buffer.from(calculateSignature(privateKey, message));
}

/** Whether the signature holds. Malformed keys and signatures are simply not valid. */
export function signatureHolds(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64 || (publicKey.length !== 32 && publicKey.length !== 33)) return false;
  try {
    return verifySignature(withType(publicKey), message, signature);
  } catch {
    return false;
  }
}

export function agree(publicKey: Uint8Array, privateKey: Uint8Array): Buffer {
  return Buffer.from(calculateAgreement(withType(publicKey), privateKey));
}
