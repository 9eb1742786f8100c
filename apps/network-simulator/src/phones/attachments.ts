import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { openFile, sealFile, type MediaPurpose } from '../media/media-crypto.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { decodeContent, unwrap } from './content.js';
import type { PhoneMessage } from './message-log.js';
import type { PhoneContext } from './phone-context.js';

/** The fields that every kind of file message has. */
export interface Attachment {
  url?: string | null;
  directPath?: string | null;
  mediaKey?: Uint8Array | null;
  mimetype?: string | null;
  fileSha256?: Uint8Array | null;
  fileEncSha256?: Uint8Array | null;
  fileLength?: number | Long | null;
}
type Long = { toString(): string };

/** The file of a message, if it is one of a file. */
export function attachmentOf(content: proto.IMessage): { attachment: Attachment; purpose: MediaPurpose } | undefined {
  const inner = unwrap(content);
  const found: [Attachment | null | undefined, MediaPurpose][] = [
    [inner.imageMessage, 'Image'],
    [inner.stickerMessage, 'Image'],
    [inner.videoMessage, 'Video'],
    [inner.ptvMessage, 'Video'],
    [inner.audioMessage, 'Audio'],
    [inner.documentMessage, 'Document'],
  ];
  const page = inner.extendedTextMessage;
  if (page?.thumbnailDirectPath) {
    found.push([{ ...page, directPath: page.thumbnailDirectPath, mimetype: 'image/jpeg' }, 'Link Thumbnail']);
  }
  for (const [attachment, purpose] of found) {
    if (attachment) return { attachment, purpose };
  }
  return undefined;
}

/** Encrypts and uploads a file; the result is what a message of that file carries. */
export function upload({ network, account }: PhoneContext, plain: Buffer, purpose: MediaPurpose) {
  const { mediaKey, sealed, fileSha256, fileEncSha256, fileLength } = sealFile(plain, purpose);
  const directPath = network.media.put(sealed, account.phone);
  return {
    url: `https://${network.mediaHost()}${directPath}`,
    directPath,
    mediaKey,
    fileSha256,
    fileEncSha256,
    fileLength,
    mediaKeyTimestamp: Math.floor(network.now() / 1000),
  };
}

/** Downloads and decrypts a message's file. Throws {@link Refusal} 404 (no file, or gone) and 410 (expired). */
export async function download(network: Network, message: PhoneMessage): Promise<{ bytes: Buffer; mimetype: string }> {
  const found = attachmentOf(decodeContent(message.content));
  if (!found?.attachment.directPath || !found.attachment.mediaKey) throw new Refusal(404, 'The message has no file.');
  const sealed = await network.media.get(found.attachment.directPath);
  if (typeof sealed === 'number') throw new Refusal(sealed, 'The file is not here any more.');
  return {
    bytes: openFile(sealed, found.attachment.mediaKey, found.purpose),
    mimetype: found.attachment.mimetype ?? 'application/octet-stream',
  };
}
