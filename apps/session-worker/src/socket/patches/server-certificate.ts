/**
 * The server's certificate: which root key must have signed it, and that it is for the key the server speaks with.
 * Baileys checks the two signatures (for real, with `signatures.ts`); the comparison with the server's key is
 * added here, at the point where Baileys reads the certificate.
 */
import { keyAgreedLast } from './signatures.js';
import { Boom } from '@hapi/boom';
import { proto, WA_CERT_DETAILS } from '@whiskeysockets/baileys';

/** The status Baileys itself gives to a certificate it refuses. */
const REFUSED_STATUS = 400;

/** @throws {Boom} 400 when the leaf certificate is for another key than `serverKey` */
export function assertCertifies(chain: proto.ICertChain, serverKey: Uint8Array | undefined): void {
  const details = chain.leaf?.details;
  if (!details || !serverKey) throw new Boom('noise certificate cannot be compared', { statusCode: REFUSED_STATUS });
  const { key } = proto.CertChain.NoiseCertificate.Details.decode(details);
  if (!key || Buffer.compare(key, serverKey) !== 0) {
    throw new Boom('noise certificate is for another key', { statusCode: REFUSED_STATUS });
  }
}

/** Makes every certificate that the library reads be compared. @throws {Error} when it reads them in another way */
export function compareCertificates(): void {
  if (typeof proto.CertChain.decode !== 'function' || !(WA_CERT_DETAILS.PUBLIC_KEY instanceof Uint8Array)) {
    throw new Error('Baileys reads certificates in another way: they cannot be compared with the key of the server');
  }
  const readChain = proto.CertChain.decode.bind(proto.CertChain);
  proto.CertChain.decode = (reader, length) => {
    const chain = readChain(reader, length);
    assertCertifies(chain, keyAgreedLast());
    return chain;
  };
}

/**
 * Sets the root key (32 bytes) that must have signed the server's certificate, for every socket of this process.
 * Without a call it is the real network's.
 */
export function trustRootKey(rootKey: Buffer): void {
  if (rootKey.length !== 32) throw new RangeError('the root key of the network must have 32 bytes');
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey);
}
