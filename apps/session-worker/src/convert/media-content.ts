/** Files of received messages as customers see them before the download: what the message itself has about the file. */
import {
  readMimeType,
  type AudioContent,
  type DocumentContent,
  type ImageContent,
  type MediaFile,
  type StickerContent,
  type VideoContent,
} from '@dormouse/gateway-contract';
import { extensionOf, safeFileName } from '@dormouse/media-files';
import type { proto } from '@whiskeysockets/baileys';
import { present, toBase64, toNumber, toPreview } from './present.js';

type NetworkFile = Pick<proto.Message.IImageMessage, 'mimetype' | 'fileLength' | 'fileSha256' | 'mediaKeyTimestamp'>;

/** Makes a media id of a file's extension: the message's id decides the rest. */
export type MediaIdOf = (extension: string) => string;

function file(network: NetworkFile, mediaId: MediaIdOf, usualType: string): MediaFile {
  const mimeType = readMimeType(network.mimetype) ?? usualType;
  return {
    id: mediaId(extensionOf(mimeType)),
    mime_type: mimeType,
    file_size: toNumber(network.fileLength) ?? 0,
    ...present<Pick<MediaFile, 'sha256' | 'timestamp'>>({
      sha256: toBase64(network.fileSha256),
      timestamp: toNumber(network.mediaKeyTimestamp) || undefined,
    }),
  };
}

export function imageContent(image: proto.Message.IImageMessage, mediaId: MediaIdOf): ImageContent {
  return {
    ...file(image, mediaId, 'image/jpeg'),
    ...present<Partial<ImageContent>>({
      caption: image.caption,
      width: image.width,
      height: image.height,
      preview: toPreview(image.jpegThumbnail),
    }),
  };
}

export function videoContent(video: proto.Message.IVideoMessage, mediaId: MediaIdOf): VideoContent {
  return {
    ...file(video, mediaId, 'video/mp4'),
    ...present<Partial<VideoContent>>({
      caption: video.caption,
      seconds: video.seconds,
      width: video.width,
      height: video.height,
      preview: toPreview(video.jpegThumbnail),
    }),
  };
}

export function audioContent(audio: proto.Message.IAudioMessage, mediaId: MediaIdOf): AudioContent {
  return {
    ...file(audio, mediaId, audio.ptt ? 'audio/ogg; codecs=opus' : 'audio/mpeg'),
    ...present<Partial<AudioContent>>({ seconds: audio.seconds, waveform: toBase64(audio.waveform) }),
  };
}

export function documentContent(document: proto.Message.IDocumentMessage, mediaId: MediaIdOf): DocumentContent {
  // A stranger chose it, and customers save under it.
  const name = safeFileName(document.fileName || document.title);
  return {
    ...file(document, mediaId, 'application/octet-stream'),
    ...present<Partial<DocumentContent>>({
      file_name: name,
      filename: name,
      caption: document.caption,
      page_count: document.pageCount || undefined,
      preview: toPreview(document.jpegThumbnail),
    }),
  };
}

export function stickerContent(sticker: proto.Message.IStickerMessage, mediaId: MediaIdOf): StickerContent {
  return {
    ...file(sticker, mediaId, 'image/webp'),
    animated: sticker.isAnimated ?? false,
    ...present<Partial<StickerContent>>({ width: sticker.width, height: sticker.height }),
  };
}
