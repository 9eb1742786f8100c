/**
 * Images: dimensions, thumbnails, and the formats that the network accepts, all by libvips. Runs in the media process
 * only, which has a bound on its memory and can be killed. An image is decoded only after its header was found to be
 * within the bounds.
 */
import sharp, { type Metadata, type Sharp } from 'sharp';
import { decodeHeic } from './heic.js';
import { FileRefused } from './file-refused.js';
import {
  assertConvertible,
  assertDecodable,
  MAX_PIXELS,
  MAX_PIXELS_OF_HEIC,
  MAX_PIXELS_OF_SMALL,
} from './image-bounds.js';
import type { ImageSource, LinkPicture, MadeSticker, ShownThumbnail } from './media-tasks.js';

// One thread and no cache keep memory small and predictable.
sharp.concurrency(1);
sharp.cache(false);

const THUMBNAIL_SIDE = 96;
const STICKER_SIDE = 512;
const ICON_SIDE = 640;
const LINK_PICTURE_SIDE = 1_200;
/** Size up to which phones show stickers reliably. */
const STICKER_BYTES = { still: 100 * 1024, animated: 500 * 1024 };
const STICKER_QUALITIES = { still: [90, 75, 55, 35], animated: [75, 40] };
const READABLE = new Set(['jpeg', 'png', 'webp', 'gif', 'tiff', 'heif']);
const TRANSPARENT = { r: 0, g: 0, b: 0, alpha: 0 };

/** An image whose header was read and is within the bounds. */
interface OpenedImage {
  readonly header: Metadata;
  /** A new pipeline over its pixels, after rotation. */
  readonly pixels: (options?: { animated?: boolean }) => Sharp;
}

function pipeline(source: ImageSource, options: { animated?: boolean } = {}): Sharp {
  return sharp(source, { ...options, limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn: 'error' });
}

async function open(source: ImageSource, maxPixels?: number): Promise<OpenedImage> {
  const header = await headerOf(source);
  const isHeic = header.format === 'heif' && header.compression !== 'av1';
  assertDecodable(header, isHeic ? MAX_PIXELS_OF_HEIC : maxPixels);
  if (!isHeic) return { header, pixels: (options) => pipeline(source, options).autoOrient() };
  const { data, width, height } = await decoded(decodeHeic(source, MAX_PIXELS_OF_HEIC));
  const upright = { ...header, width, height, autoOrient: { ...header.autoOrient, width, height } };
  return { header: upright, pixels: () => sharp(data, { raw: { width, height, channels: 4 } }) };
}

async function headerOf(source: ImageSource): Promise<Metadata> {
  try {
    // libvips treats the frames of an animation as one tall image; only the header is read here.
    const found = await sharp(source, { limitInputPixels: false }).metadata();
    if (READABLE.has(found.format)) return found;
  } catch (error) {
    throw new FileRefused('is not an image that can be read', { cause: error });
  }
  throw new FileRefused('is not an image that can be sent');
}

async function decoded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new FileRefused('is an image that cannot be decoded', { cause: error });
  }
}

async function thumbnail({ header, pixels }: OpenedImage): Promise<ShownThumbnail> {
  const small = pixels()
    .resize(THUMBNAIL_SIDE, THUMBNAIL_SIDE, { fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .jpeg({ quality: 60 });
  const { width, height } = header.autoOrient;
  return { thumbnail: (await decoded(small.toBuffer())).toString('base64'), width, height };
}

/** A small JPEG of an image and the size of the image, both after rotation. */
export async function thumbnailOf(source: ImageSource, options: { small: boolean }): Promise<ShownThumbnail> {
  return thumbnail(await open(source, options.small ? MAX_PIXELS_OF_SMALL : MAX_PIXELS));
}

/** The large image of a link preview: JPEG, rotated, on white, scaled down to the size that phones show. */
export async function linkPictureOf(source: ImageSource): Promise<LinkPicture> {
  const { pixels } = await open(source, MAX_PIXELS_OF_SMALL);
  const wide = pixels()
    .resize(LINK_PICTURE_SIDE, LINK_PICTURE_SIDE, { fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .jpeg({ quality: 80 });
  const { data, info } = await decoded(wide.toBuffer({ resolveWithObject: true }));
  return { jpeg: data, width: info.width, height: info.height };
}

/**
 * The file of an image message: JPEG and PNG stay unchanged, other formats are converted to JPEG at `target` (their
 * first frame, on white).
 * @param options.asIs convert no format
 */
export async function imageOf(
  path: string,
  options: { target: string; asIs: boolean },
): Promise<ShownThumbnail & { converted: boolean }> {
  const image = await open(path);
  const { format } = image.header;
  if (options.asIs || format === 'jpeg' || format === 'png') return { ...(await thumbnail(image)), converted: false };
  await decoded(image.pixels().flatten({ background: 'white' }).jpeg({ quality: 90 }).toFile(options.target));
  return { ...(await thumbnailOf(options.target, { small: false })), converted: true };
}

/** Whether a WebP file is sent unchanged: animated ones, and those of the right size. */
function passesAsSticker({ format, width, height, pages = 1 }: Metadata): boolean {
  return format === 'webp' && (pages > 1 || (width === STICKER_SIDE && height === STICKER_SIDE));
}

/**
 * A sticker's file at `target`: WebP, 512 x 512, with the image fitted in on a transparent background. Animated WebP
 * stays unchanged; GIF stays animated. Quality is lowered, never the size, until the file is small enough for phones.
 */
export async function stickerOf(path: string, options: { target: string }): Promise<MadeSticker> {
  const found = await headerOf(path);
  const animated = (found.pages ?? 1) > 1 && (found.format === 'webp' || found.format === 'gif');
  if (passesAsSticker(found)) {
    const { width, height, pageHeight = height } = found;
    return { width, height: pageHeight, animated, converted: false };
  }
  if (animated) assertConvertible(found);
  const { pixels } = await open(path);
  const kind = animated ? 'animated' : 'still';
  for (const quality of STICKER_QUALITIES[kind]) {
    const { size } = await decoded(
      pixels({ animated })
        .resize(STICKER_SIDE, STICKER_SIDE, { fit: 'contain', background: TRANSPARENT })
        .webp({ quality, effort: animated ? 2 : 4 })
        .toFile(options.target),
    );
    if (size <= STICKER_BYTES[kind]) break;
  }
  return { width: STICKER_SIDE, height: STICKER_SIDE, animated, converted: true };
}

/** A profile or group picture: a square JPEG, cropped to the middle. */
export async function iconOf(path: string): Promise<Uint8Array> {
  const { pixels } = await open(path, MAX_PIXELS_OF_SMALL);
  const square = pixels()
    .resize(ICON_SIDE, ICON_SIDE, { fit: 'cover' })
    .flatten({ background: 'white' })
    .jpeg({ quality: 80 });
  return decoded(square.toBuffer());
}
