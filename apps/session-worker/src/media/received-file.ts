/** The file that a received message points to, in whichever wrappers it came. Pure. */
import { readMimeType } from '@dormouse/gateway-contract';
import { safeFileName } from '@dormouse/media-files';
import { contentWithFile } from '../convert/file-part.js';
import type { MessageContent } from '../convert/message-bytes.js';
import type { FilePlace } from './media-host.js';
import type { SendKind } from './prepared-file.js';

export interface ReceivedFile {
  kind: SendKind;
  place: FilePlace;
  mediaKey: Uint8Array;
  /** Absent where the sender left it out; then only the authentication code proves that the file is intact. */
  fileSha256: Uint8Array | undefined;
  /** In bytes, as announced by the sender. */
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

function fileAt(kind: SendKind, file: Pointer, fileName?: string | null): ReceivedFile | undefined {
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

/** Undefined when the message has no file, or one without a key (as view-once messages on linked devices). */
export function receivedFile(message: MessageContent | null | undefined): ReceivedFile | undefined {
  const content = contentWithFile(message);
  if (content?.imageMessage) return fileAt('image', content.imageMessage);
  if (content?.videoMessage) return fileAt('video', content.videoMessage);
  if (content?.ptvMessage) return fileAt('video', content.ptvMessage);
  if (content?.audioMessage) return fileAt(content.audioMessage.ptt ? 'voice' : 'audio', content.audioMessage);
  if (content?.documentMessage) return fileAt('document', content.documentMessage, content.documentMessage.fileName);
  if (content?.stickerMessage) return fileAt('sticker', content.stickerMessage);
  return undefined;
}
