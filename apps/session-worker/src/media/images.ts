/**
 * Images on their way to the network. All of them, previews and profile pictures included, are opened by the media
 * process, a few at a time, with a bound on their time; see media-process.ts.
 */
import { fileTooLarge, type MediaLimits, type Spool, type SpooledFile } from '@dormouse/media-files';
import { FileRefused } from './file-refused.js';
import type { MediaProcess } from './media-process.js';
import type { ImageSource, LinkPicture, ShownThumbnail } from './media-tasks.js';
import { refusalOf, type PreparedFile } from './prepared-file.js';

/** Whose image it is, and until when anybody waits for it. */
export interface ImageTerms {
  /** The channel. */
  owner: string;
  signal?: AbortSignal | undefined;
}

/** Extras, which the message can do without, and images that are the message. */
const EXTRA_TIMEOUT_MS = 5_000;
const IMAGE_TIMEOUT_MS = 20_000;
const STICKER_TIMEOUT_MS = 30_000;

export class Images {
  constructor(private readonly process: Pick<MediaProcess, 'run'>) {}

  /**
   * A small JPEG of an image, upright, and the size the image is shown at.
   * @throws {FileRefused} when it is no image within bounds
   */
  thumbnailOf(source: ImageSource, { small = true, ...terms }: ImageTerms & { small?: boolean }) {
    return this.process.run('thumbnail', { source, small }, { ...terms, timeoutMs: EXTRA_TIMEOUT_MS });
  }

  /**
   * An image as the large one of a link's preview.
   * @throws {FileRefused} when it is no image within bounds
   */
  linkPictureOf(source: ImageSource, terms: ImageTerms): Promise<LinkPicture> {
    return this.process.run('linkPicture', { source }, { ...terms, timeoutMs: EXTRA_TIMEOUT_MS });
  }

  /**
   * An image message's file: JPEG and PNG pass unchanged, other formats become JPEG (their first frame, on white).
   * @param asked.asIs leave every readable format as it is
   * @throws {GatewayError} 400 naming `media` when it is no readable image, or takes too much to open
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
        { ...terms, timeoutMs: IMAGE_TIMEOUT_MS },
      );
      return { converted, facts: { mimeType: converted ? 'image/jpeg' : mimeType, ...shown } };
    });
  }

  /**
   * A sticker's file: WebP, 512 x 512.
   * @throws {GatewayError} 400 naming `media` when it is no readable image or an animation that is too long, 413 when the
   * result is larger than a sticker may be
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
        { ...terms, timeoutMs: STICKER_TIMEOUT_MS },
      );
      return { converted, facts: { mimeType: 'image/webp', ...shown } };
    });
    if (prepared.file.size <= limits.sticker) return prepared;
    if (prepared.file !== source) await prepared.file.dispose();
    throw fileTooLarge('sticker', limits);
  }

  /**
   * A profile or group picture: a square JPEG, cut around the middle.
   * @throws {GatewayError} 400 naming `icon` when it is no readable image, or takes too much to open
   */
  async prepareIcon({ path }: Pick<SpooledFile, 'path'>, terms: ImageTerms): Promise<Buffer> {
    try {
      return Buffer.from(await this.process.run('icon', { path }, { ...terms, timeoutMs: IMAGE_TIMEOUT_MS }));
    } catch (error) {
      throw refusalOf(error, 'icon');
    }
  }

  /**
   * How many pages a PDF has.
   * @returns undefined when it does not say so in a way that can be read within bounds; the document is sent all the same
   */
  async pdfPages(path: string, terms: ImageTerms): Promise<number | undefined> {
    try {
      return await this.process.run('pdfPages', { path }, { ...terms, timeoutMs: EXTRA_TIMEOUT_MS });
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
