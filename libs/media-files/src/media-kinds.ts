import { GatewayError } from '@dormouse/gateway-contract';

/** What a file is used as; each has its own size limit and its own preparation for the network. */
export const MEDIA_KINDS = ['image', 'video', 'audio', 'voice', 'document', 'sticker', 'icon'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** The largest file of each kind, in bytes. */
export type MediaLimits = Record<MediaKind, number>;

const MIB = 1024 * 1024;

export const DEFAULT_MEDIA_LIMITS: MediaLimits = {
  image: 16 * MIB,
  video: 100 * MIB,
  audio: 16 * MIB,
  voice: 16 * MIB,
  document: 100 * MIB,
  sticker: 1 * MIB,
  icon: 5 * MIB,
};

/** The kind whose limit holds for an upload that says nothing of its use: by the type of its content. */
export function kindOfUpload(mimeType: string): MediaKind {
  if (mimeType.startsWith('image/')) return 'image';
  if (mimeType.startsWith('video/')) return 'video';
  if (mimeType.startsWith('audio/')) return 'audio';
  return 'document';
}

/** The refusal of a file beyond its kind's limit: 413 whose details name both. */
export function fileTooLarge(kind: MediaKind, limits: MediaLimits): GatewayError {
  return new GatewayError(413, { details: `${kind}: larger than ${limits[kind]} bytes` });
}
