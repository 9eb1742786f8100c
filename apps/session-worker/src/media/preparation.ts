/** Converts a file to the form that its kind of message has on the network. One function for each kind. */
import type { MediaLimits, Spool, SpooledFile } from '@dormouse/media-files';
import type { Ffmpeg } from './ffmpeg.js';
import { prepareVideo } from './video.js';
import type { Images } from './images.js';
import type { PreparedFile, SendKind } from './prepared-file.js';
import { prepareAudio, prepareVoice } from './audio.js';

export interface PreparationOptions {
  spool: Spool;
  limits: MediaLimits;
  /** Absent on machines without ffmpeg; only files that need no transcoding can be sent then. */
  ffmpeg: Ffmpeg | undefined;
  images: Images;
}

/** How a file is to be prepared. */
export interface PrepareOptions {
  /** The type that was detected from the content. */
  mimeType: string;
  /** Send the file byte for byte as it is (`no_encode`). */
  asIs?: boolean;
  /** The channel that the file is prepared for. */
  owner: string;
  /** Aborted when no caller waits any more. */
  signal?: AbortSignal | undefined;
}

export class Preparation {
  constructor(private readonly options: PreparationOptions) {}

  /**
   * @returns the source itself where it is sent unchanged, else a new file in the spool
   * @throws {GatewayError} 400 naming `media` when the file is not of the type it is sent as; 413 when the result is too
   * large
   */
  async prepare(kind: SendKind, source: SpooledFile, options: PrepareOptions): Promise<PreparedFile> {
    const { spool, limits, ffmpeg, images } = this.options;
    switch (kind) {
      case 'image':
        return images.prepareImage(source, spool, options);
      case 'sticker':
        return images.prepareSticker(source, spool, { limits, ...options });
      case 'video':
        return prepareVideo(source, { ffmpeg, images, ...options });
      case 'voice':
        return prepareVoice(source, { spool, ffmpeg, ...options });
      case 'audio':
        return prepareAudio(source, { spool, ffmpeg, ...options });
      case 'document':
        return prepareDocument(source, images, options);
    }
  }
}

/** A document's file is never changed; PDFs get their page count. */
async function prepareDocument(
  source: SpooledFile,
  images: Images,
  { mimeType, owner, signal }: PrepareOptions,
): Promise<PreparedFile> {
  const pageCount = mimeType === 'application/pdf' ? await images.pdfPages(source.path, { owner, signal }) : undefined;
  return { file: source, facts: { mimeType, ...(pageCount !== undefined && { pageCount }) } };
}
