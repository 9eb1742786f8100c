/**
 * The network's encryption of files: AES-256-CBC, followed by ten bytes of HMAC-SHA256 over IV and ciphertext, under keys
 * expanded from the file's own media key. Both directions are streams and hold one chunk at a time.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { expandMediaKey, type FileKeys, type NetworkFileType } from '../socket/files/network-files.js';
import type { SendKind } from './prepared-file.js';

const MAC_BYTES = 10;

/** The bytes are not those that the sender encrypted: incomplete, changed, or under another key. */
export class DamagedFile extends Error {
  constructor(what: string) {
    super(`file from the network: ${what}`);
    this.name = 'DamagedFile';
  }
}

/** What is encrypted: the file of a message, or the large image of a link preview. */
export type EncryptedKind = SendKind | 'linkPicture';

/** The network's name of a kind, in key derivation and upload paths. */
export const NETWORK_TYPES: Record<EncryptedKind, NetworkFileType> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'document',
  sticker: 'sticker',
  linkPicture: 'thumbnail-link',
};

/** Expands a media key for one kind of file. */
export function fileKeys(mediaKey: Uint8Array, kind: EncryptedKind): Promise<FileKeys> {
  return expandMediaKey(mediaKey, NETWORK_TYPES[kind]);
}

/** Encrypts a file. */
export async function* encrypted(source: AsyncIterable<Uint8Array>, keys: FileKeys): AsyncGenerator<Buffer> {
  const cipher = createCipheriv('aes-256-cbc', keys.cipherKey, keys.iv);
  const mac = createHmac('sha256', keys.macKey).update(keys.iv);
  for await (const chunk of source) {
    const ciphertext = cipher.update(chunk);
    mac.update(ciphertext);
    yield ciphertext;
  }
  const rest = cipher.final();
  yield Buffer.concat([rest, mac.update(rest).digest().subarray(0, MAC_BYTES)]);
}

/**
 * Decrypts a file while it is received. The yielded bytes are authenticated only once the end is reached.
 * @throws {DamagedFile} at the end, when the bytes were not encrypted under these keys
 */
export async function* decrypted(source: AsyncIterable<Uint8Array>, keys: FileKeys): AsyncGenerator<Buffer> {
  const decipher = createDecipheriv('aes-256-cbc', keys.cipherKey, keys.iv);
  const mac = createHmac('sha256', keys.macKey).update(keys.iv);
  let held = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes = Buffer.concat([held, chunk]);
    const ciphertext = bytes.subarray(0, Math.max(0, bytes.length - MAC_BYTES));
    held = bytes.subarray(ciphertext.length);
    mac.update(ciphertext);
    yield decipher.update(ciphertext);
  }
  if (held.length < MAC_BYTES || !timingSafeEqual(mac.digest().subarray(0, MAC_BYTES), held)) {
    throw new DamagedFile('its authentication code is wrong');
  }
  let rest: Buffer;
  try {
    rest = decipher.final();
  } catch {
    throw new DamagedFile('its end is cut');
  }
  yield rest;
}
