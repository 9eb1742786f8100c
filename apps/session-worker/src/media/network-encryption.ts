/**
 * How the network hides files: AES-256-CBC, then ten bytes of HMAC-SHA256 over IV and ciphertext, under keys expanded
 * from the file's own media key. Both directions work on streams and hold one piece at a time.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { expandMediaKey, type FileKeys, type NetworkFileType } from '../socket/files/network-files.js';
import type { SendKind } from './prepared-file.js';

const MAC_BYTES = 10;

/** The bytes are not what the sender encrypted: cut off, changed, or under another key. */
export class DamagedFile extends Error {
  constructor(what: string) {
    super(`file from the network: ${what}`);
    this.name = 'DamagedFile';
  }
}

/** What is hidden: the file of a message, or the large picture of a link's preview. */
export type HiddenKind = SendKind | 'linkPicture';

/** The name a kind goes by in key derivation and upload paths. */
export const NETWORK_TYPES: Record<HiddenKind, NetworkFileType> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'document',
  sticker: 'sticker',
  linkPicture: 'thumbnail-link',
};

/** Expands a media key for one kind of file. */
export function fileKeys(mediaKey: Uint8Array, kind: HiddenKind): Promise<FileKeys> {
  return expandMediaKey(mediaKey, NETWORK_TYPES[kind]);
}

/** The file as the network gets it. */
export async function* encrypted(source: AsyncIterable<Uint8Array>, keys: FileKeys): AsyncGenerator<Buffer> {
  const cipher = createCipheriv('aes-256-cbc', keys.cipherKey, keys.iv);
  const mac = createHmac('sha256', keys.macKey).update(keys.iv);
  for await (const chunk of source) {
    const hidden = cipher.update(chunk);
    mac.update(hidden);
    yield hidden;
  }
  const rest = cipher.final();
  yield Buffer.concat([rest, mac.update(rest).digest().subarray(0, MAC_BYTES)]);
}

/**
 * The file as it was before, as it arrives; what has been yielded is only true once the end is reached.
 * @throws {DamagedFile} at the end, when the bytes are not what was encrypted under these keys
 */
export async function* decrypted(source: AsyncIterable<Uint8Array>, keys: FileKeys): AsyncGenerator<Buffer> {
  const decipher = createDecipheriv('aes-256-cbc', keys.cipherKey, keys.iv);
  const mac = createHmac('sha256', keys.macKey).update(keys.iv);
  let held = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes = Buffer.concat([held, chunk]);
    const hidden = bytes.subarray(0, Math.max(0, bytes.length - MAC_BYTES));
    held = bytes.subarray(hidden.length);
    mac.update(hidden);
    yield decipher.update(hidden);
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
