/**
 * Preparation of images that are sent. All images, previews and profile pictures included, are opened by the media
 * process, a few in parallel and with a timeout; see media-process.ts.
 */
import { fileTooLarge, type MediaLimits, type Spool, type SpooledFile } from '@dormouse/media-files';
import { FileRefused } from './file-refused.js';
import type { MediaProcess } from './media-process.js';
import type { ImageSource, LinkPicture, ShownThumbnail } from './media-tasks.js';
import type { WorkTimeout } from './processor-timeout.js';
import { refusalOf, type PreparedFile } from './prepared-file.js';

/** The owner of an image, and the signal of the caller that waits for it. */
export interface ImageTerms {
  /** The channel. */
  owner: string;
  signal?: AbortSignal | undefined;
}

export interface ImagesOptions {
  /** Timeout for thumbnails, previews and page counts, without which a message can be sent. Default: 5 s. */
  extraTimeoutMs?: number;
}

/** A file that cannot be sent otherwise is only refused for its own slowness, not for that of a busy machine. */
const IMAGE_TIMEOUT: WorkTimeout = { timeoutMs: 20_000, maxTimeoutMs: 80_000 };
const STICKER_TIMEOUT: WorkTimeout = { timeoutMs: 30_000, maxTimeoutMs: 80_000 };

export class Images {
  readonly #extraTimeout: WorkTimeout;

  constructor(
    private readonly process: Pick<MediaProcess, 'run'>,
    { extraTimeoutMs = 5_000 }: ImagesOptions = {},
  ) {
    this.#extraTimeout = { timeoutMs: extraTimeoutMs };
  }

  /**
   * A small JPEG of an image and the size of the image, both after rotation.
   * @param terms.small the image is only shown small, so that a lower bound on its pixels holds
   * @throws {FileRefused} when it is not an image, or exceeds the bounds
   */
  thumbnailOf(source: ImageSource, { small = true, ...terms }: ImageTerms & { small?: boolean }) {
    return this.process.run('thumbnail', { source, small }, { ...terms, ...this.#extraTimeout });
  }

  /**
   * The large image of a link preview.
   * @throws {FileRefused} when it is not an image, or exceeds the bounds
   */
  linkPictureOf(source: ImageSource, terms: ImageTerms): Promise<LinkPicture> {
    return this.process.run('linkPicture', { source }, { ...terms, ...this.#extraTimeout });
  }

  /**
   * The file of an image message: JPEG and PNG stay unchanged, other formats are converted to JPEG (first frame, on white).
   * @param options.asIs convert no format
   * @throws {GatewayError} 400 naming `media` when it is not a readable image, or exceeds the bounds
   */
  async prepareImage(
    source: SpooledFile,
    spool: Spool,
    { mimeType, asIs = false, ...terms }: ImageTerms & { mimeType: string; asIs?: boolean },
  ): Promise<PreparedFile> {
    return this.#converted(spool, 'jpeg', source, async (target) => {
      const { converted, ...shown } = await this.process.run(
        'image',
        { path: source.path, target, asIs },
        { ...terms, ...IMAGE_TIMEOUT },
      );
      return { converted, facts: { mimeType: converted ? 'image/jpeg' : mimeType, ...shown } };
    });
  }

  /**
   * A sticker's file: WebP, 512 x 512.
   * @throws {GatewayError} 400 naming `media` when it is not a readable image or too long an animation, 413 when the
   * result exceeds the limit of stickers
   */
  async prepareSticker(
    source: SpooledFile,
    spool: Spool,
    { limits, ...terms }: ImageTerms & { limits: MediaLimits },
  ): Promise<PreparedFile> {
    const prepared = await this.#converted(spool, 'webp', source, async (target) => {
      const { converted, ...shown } = await this.process.run(
        'sticker',
        { path: source.path, target },
        { ...terms, ...STICKER_TIMEOUT },
      );
      return { converted, facts: { mimeType: 'image/webp', ...shown } };
    });
    if (prepared.file.size <= limits.sticker) return prepared;
    if (prepared.file !== source) await prepared.file.dispose();
    throw fileTooLarge('sticker', limits);
  }

  /**
   * A profile or group picture: a square JPEG, cropped to the middle.
   * @throws {GatewayError} 400 naming `icon` when it is not a readable image, or exceeds the bounds
   */
  async prepareIcon({ path }: Pick<SpooledFile, 'path'>, terms: ImageTerms): Promise<Buffer> {
    try {
      return Buffer.from(await this.process.run('icon', { path }, { ...terms, ...IMAGE_TIMEOUT }));
    } catch (error) {
      throw refusalOf(error, 'icon');
    }
  }

  /**
   * The number of pages of a PDF.
   * @returns undefined when it cannot be read within the bounds; the document is sent without it
   */
  async pdfPages(path: string, terms: ImageTerms): Promise<number | undefined> {
    try {
      return await this.process.run('pdfPages', { path }, { ...terms, ...this.#extraTimeout });
    } catch (error) {
      if (error instanceof FileRefused) return undefined;
      throw error;
    }
  }

  async #converted(
    spool: Spool,
    extension: string,
    source: SpooledFile,
    work: (target: string) => Promise<{ converted: boolean; facts: PreparedFile['facts'] }>,
  ): Promise<PreparedFile> {
    const target = spool.freshPath(extension);
    try {
      const { converted, facts } = await work(target);
      return { file: converted ? await spool.adopt(target) : source, facts };
    } catch (error) {
      await spool.discard(target);
      throw refusalOf(error, 'media');
    }
  }
}

export type { LinkPicture, ShownThumbnail };
