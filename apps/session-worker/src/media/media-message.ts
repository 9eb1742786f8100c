/** Builds the network's message for an uploaded file. Pure. */
import type { MessageContent, MessageContext } from '../convert/message-bytes.js';
import type { NetworkFile } from './outgoing.js';

/** Fields of the request beside the file. Where they are absent, the values found in the file are used. */
export interface MediaMessageFields {
  caption?: string | undefined;
  /** Documents: the name the receiver saves it under. */
  fileName?: string | undefined;
  seconds?: number | undefined;
  /** Base64, 64 values from 0 to 100. */
  waveform?: string | undefined;
  width?: number | undefined;
  height?: number | undefined;
  /** A JPEG, used in place of the generated thumbnail. */
  thumbnail?: Uint8Array | undefined;
  /** Background of an audio message, ARGB. */
  backgroundArgb?: number | undefined;
  viewOnce?: boolean | undefined;
  contextInfo?: MessageContext | undefined;
}

function bytesOf(base64: string | undefined): Uint8Array | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
}

/** The fields by which a message of any kind points to its file. */
function pointer({ copy, facts }: NetworkFile, { contextInfo }: MediaMessageFields) {
  return {
    url: copy.url,
    directPath: copy.directPath,
    mediaKey: copy.mediaKey,
    mediaKeyTimestamp: Math.floor(copy.uploadedAtMs / 1_000),
    fileSha256: copy.fileSha256,
    fileEncSha256: copy.fileEncSha256,
    fileLength: copy.fileLength,
    mimetype: facts.mimeType,
    contextInfo,
  };
}

/** Builds the message; the wrapper of view-once messages included. */
export function mediaMessage(file: NetworkFile, fields: MediaMessageFields = {}): MessageContent {
  const { kind, facts } = file;
  const { caption, viewOnce } = fields;
  const base = pointer(file, fields);
  const shown = { width: fields.width ?? facts.width, height: fields.height ?? facts.height };
  const jpegThumbnail = fields.thumbnail ?? bytesOf(facts.thumbnail);
  const seconds = fields.seconds ?? facts.seconds;
  const { backgroundArgb } = fields;
  switch (kind) {
    case 'image':
      return wrapped({ imageMessage: { ...base, ...shown, caption, jpegThumbnail, viewOnce } }, viewOnce);
    case 'video':
      return wrapped({ videoMessage: { ...base, ...shown, caption, jpegThumbnail, seconds, viewOnce } }, viewOnce);
    case 'audio':
      return wrapped({ audioMessage: { ...base, seconds, ptt: false, backgroundArgb, viewOnce } }, viewOnce);
    case 'voice': {
      const waveform = bytesOf(fields.waveform ?? facts.waveform);
      return wrapped({ audioMessage: { ...base, seconds, ptt: true, waveform, backgroundArgb, viewOnce } }, viewOnce);
    }
    case 'document':
      return documentMessage({ ...base, pageCount: facts.pageCount, jpegThumbnail }, fields);
    case 'sticker':
      return { stickerMessage: { ...base, ...shown, isAnimated: facts.animated ?? false } };
  }
}

/** A document with a caption is sent in a wrapper. */
function documentMessage(
  base: NonNullable<MessageContent['documentMessage']>,
  fields: MediaMessageFields,
): MessageContent {
  const fileName = fields.fileName ?? 'file';
  const documentMessage = { ...base, fileName, title: fileName, caption: fields.caption };
  if (!fields.caption) return { documentMessage };
  return { documentWithCaptionMessage: { message: { documentMessage } } };
}

function wrapped(message: MessageContent, viewOnce: boolean | undefined): MessageContent {
  return viewOnce ? { viewOnceMessage: { message } } : message;
}
