import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** What a file is for; it goes into the keys. */
export type MediaPurpose = 'Image' | 'Video' | 'Audio' | 'Document' | 'History' | 'App State' | 'Link Thumbnail';

const MAC_BYTES = 10;

export interface SealedFile {
  mediaKey: Buffer;
  /** Ciphertext and MAC: what is uploaded. */
  sealed: Buffer;
  fileSha256: Buffer;
  fileEncSha256: Buffer;
  fileLength: number;
}

/** Encrypts a file as phones do before they upload it. */
export function sealFile(plain: Buffer, purpose: MediaPurpose): SealedFile {
  const mediaKey = randomBytes(32);
  const { iv, cipherKey, macKey } = fileKeys(mediaKey, purpose);
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  const mac = createHmac('sha256', macKey).update(iv).update(body).digest().subarray(0, MAC_BYTES);
  const sealed = Buffer.concat([body, mac]);
  return {
    mediaKey,
    sealed,
    fileSha256: createHash('sha256').update(plain).digest(),
    fileEncSha256: createHash('sha256').update(sealed).digest(),
    fileLength: plain.length,
  };
}

/** Decrypts a downloaded file. Throws when it was changed. */
export function openFile(sealed: Buffer, mediaKey: Uint8Array, purpose: MediaPurpose): Buffer {
  const { iv, cipherKey, macKey } = fileKeys(mediaKey, purpose);
  const body = sealed.subarray(0, sealed.length - MAC_BYTES);
  const mac = createHmac('sha256', macKey).update(iv).update(body).digest().subarray(0, MAC_BYTES);
  if (!mac.equals(sealed.subarray(sealed.length - MAC_BYTES))) throw new Error('The file was changed on its way.');
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  return Buffer.concat([decipher.update(body), decipher.final()]);
}

/** The answer to a request for a new upload, which only the requester can read: GCM with the message's id as associated data. */
export function sealRetryAnswer(
  plain: Uint8Array,
  mediaKey: Uint8Array,
  messageId: string,
): { sealed: Buffer; iv: Buffer } {
  const key = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), 'WhatsApp Media Retry Notification', 32));
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  cipher.setAAD(Buffer.from(messageId));
  return { sealed: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]), iv };
}

function fileKeys(mediaKey: Uint8Array, purpose: MediaPurpose): { iv: Buffer; cipherKey: Buffer; macKey: Buffer } {
  const all = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), `WhatsApp ${purpose} Keys`, 112));
  return { iv: all.subarray(0, 16), cipherKey: all.subarray(16, 48), macKey: all.subarray(48, 80) };
}
