import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { newKeyPair, sign, type KeyPair } from './keys.js';

/** What the server proves itself with: a root that clients pin, and the static key of the handshake. */
export interface ServerIdentity {
  root: KeyPair;
  noise: KeyPair;
}

export function newServerIdentity(): ServerIdentity {
  return { root: newKeyPair(), noise: newKeyPair() };
}

/**
 * The certificate chain of the handshake: root signs the intermediate, the intermediate signs the leaf, and the leaf
 * names the noise key. Clients insist that the intermediate's issuer serial is 0.
 */
export function certificateChain({ root, noise }: ServerIdentity, nowMs: number): Uint8Array {
  const { Details } = proto.CertChain.NoiseCertificate;
  const intermediate = newKeyPair();
  const notBefore = Math.floor(nowMs / 1000) - 86_400;
  const notAfter = notBefore + 10 * 365 * 86_400;
  const intermediateDetails = Details.encode({
    serial: 1,
    issuerSerial: 0,
    key: intermediate.public,
    notBefore,
    notAfter,
  }).finish();
  const leafDetails = Details.encode({ serial: 2, issuerSerial: 1, key: noise.public, notBefore, notAfter }).finish();
  return proto.CertChain.encode({
    intermediate: { details: intermediateDetails, signature: sign(root.private, intermediateDetails) },
    leaf: { details: leafDetails, signature: sign(intermediate.private, leafDetails) },
  }).finish();
}
