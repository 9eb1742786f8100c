/** The file a heard message points to, whichever wrappers it came in. Pure. */
import { readMimeType } from '@dormouse/gateway-contract';
import { safeFileName } from '@dormouse/media-files';
import { contentWithFile } from '../convert/file-part.js';
import type { MessageContent } from '../convert/message-bytes.js';
import type { FilePlace } from './media-host.js';
import type { SendKind } from './prepared-file.js';

export interface HeardFile {
  kind: SendKind;
  place: FilePlace;
  mediaKey: Uint8Array;
  /** Absent where the sender left them out; then only the authentication code vouches for the file. */
  fileSha256: Uint8Array | undefined;
  /** In bytes, as the sender says. */
  fileLength: number | undefined;
  mimeType: string | undefined;
  fileName: string | undefined;
}

interface Pointer {
  url?: string | null;
  directPath?: string | null;
  mediaKey?: Uint8Array | null;
  fileSha256?: Uint8Array | null;
  fileLength?: number | { toNumber(): number } | null;
  mimetype?: string | null;
}

function heard(kind: SendKind, file: Pointer, fileName?: string | null): HeardFile | undefined {
  if (!file.mediaKey?.length) return undefined;
  const length = typeof file.fileLength === 'object' ? file.fileLength?.toNumber() : file.fileLength;
  return {
    kind,
    place: { directPath: file.directPath || undefined, url: file.url || undefined },
    mediaKey: file.mediaKey,
    fileSha256: file.fileSha256?.length ? file.fileSha256 : undefined,
    fileLength: length || undefined,
    mimeType: readMimeType(file.mimetype),
    fileName: safeFileName(fileName),
  };
}

/** Undefined when the message carries no file, or one without a key (as view-once messages on linked devices). */
export function heardFile(message: MessageContent | null | undefined): HeardFile | undefined {
  const content = contentWithFile(message);
  if (content?.imageMessage) return heard('image', content.imageMessage);
  if (content?.videoMessage) return heard('video', content.videoMessage);
  if (content?.ptvMessage) return heard('video', content.ptvMessage);
  if (content?.audioMessage) return heard(content.audioMessage.ptt ? 'voice' : 'audio', content.audioMessage);
  if (content?.documentMessage) return heard('document', content.documentMessage, content.documentMessage.fileName);
  if (content?.stickerMessage) return heard('sticker', content.stickerMessage);
  return undefined;
}
