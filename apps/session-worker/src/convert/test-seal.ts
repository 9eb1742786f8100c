import { createCipheriv, createHmac, randomBytes } from 'node:crypto';

interface SealedFor {
  secret: Uint8Array;
  /** The network's id of the message it belongs to. */
  keyId: string;
  /** Address of that message's author. */
  author: string;
  /** Address of who seals; the author by default. */
  sealer?: string;
  use: string;
}

/** Seals as phones do. */
export function sealFor(plain: Uint8Array, { secret, keyId, author, sealer = author, use }: SealedFor) {
  const base = createHmac('sha256', Buffer.alloc(32)).update(secret).digest();
  const key = createHmac('sha256', base).update(`${keyId}${author}${sealer}${use}\u0001`).digest();
  const encIv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, encIv);
  if (use === 'Poll Vote' || use === 'Event Response') cipher.setAAD(Buffer.from(`${keyId}\0${sealer}`));
  return { encIv, encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]) };
}
