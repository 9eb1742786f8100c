/** Puts a file into the form its kind of message has on the network. One path for every kind. */
import type { MediaLimits, Spool, SpooledFile } from '@dormouse/media-files';
import type { Ffmpeg } from './ffmpeg.js';
import { prepareVideo } from './films.js';
import type { Images } from './images.js';
import type { PreparedFile, SendKind } from './prepared-file.js';
import { prepareAudio, prepareVoice } from './sounds.js';

export interface PreparationOptions {
  spool: Spool;
  limits: MediaLimits;
  /** Absent on machines without one; then only what needs no transcoding can be sent. */
  ffmpeg: Ffmpeg | undefined;
  images: Images;
}

/** What is asked for one file. */
export interface PrepareOptions {
  /** The type its content was found to have. */
  mimeType: string;
  /** Send the file byte for byte as it is (`no_encode`). */
  asIs?: boolean;
  /** The channel it is done for. */
  owner: string;
  /** Aborted when nobody waits for it any more. */
  signal?: AbortSignal | undefined;
}

export class Preparation {
  constructor(private readonly options: PreparationOptions) {}

  /**
   * @returns the source itself where it can pass unchanged, else a new file in the spool
   * @throws {GatewayError} 400 naming `media` when the file is not what it is sent as; 413 when the result is too large
   */
  async prepare(kind: SendKind, source: SpooledFile, asked: PrepareOptions): Promise<PreparedFile> {
    const { spool, limits, ffmpeg, images } = this.options;
    switch (kind) {
      case 'image':
        return images.prepareImage(source, spool, asked);
      case 'sticker':
        return images.prepareSticker(source, spool, { limits, ...asked });
      case 'video':
        return prepareVideo(source, { ffmpeg, images, ...asked });
      case 'voice':
        return prepareVoice(source, { spool, ffmpeg, ...asked });
      case 'audio':
        return prepareAudio(source, { spool, ffmpeg, ...asked });
      case 'document':
        return prepareDocument(source, images, asked);
    }
  }
}

/** A document's file is never touched; a PDF says how many pages it has. */
async function prepareDocument(
  source: SpooledFile,
  images: Images,
  { mimeType, owner, signal }: PrepareOptions,
): Promise<PreparedFile> {
  const pageCount = mimeType === 'application/pdf' ? await images.pdfPages(source.path, { owner, signal }) : undefined;
  return { file: source, facts: { mimeType, ...(pageCount !== undefined && { pageCount }) } };
}
