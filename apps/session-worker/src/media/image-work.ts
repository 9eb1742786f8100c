/**
 * Images: dimensions, thumbnails, and the forms the network takes, all by libvips. Runs in the media process only, where
 * it can be ended and cannot take more memory than that process may have. Nothing is decoded before its header was found
 * to be within bounds.
 */
import sharp, { type Metadata, type Sharp } from 'sharp';
import { decodeHeic } from './heic.js';
import { FileRefused } from './file-refused.js';
import {
  assertConvertible,
  assertDecodable,
  MOST_PIXELS,
  MOST_PIXELS_OF_HEIC,
  MOST_PIXELS_OF_SMALL,
} from './image-bounds.js';
import type { ImageSource, LinkPicture, MadeSticker, ShownThumbnail } from './media-tasks.js';

// One thread and nothing remembered keep memory small and predictable.
sharp.concurrency(1);
sharp.cache(false);

const THUMBNAIL_SIDE = 96;
const STICKER_SIDE = 512;
const ICON_SIDE = 640;
const LINK_PICTURE_SIDE = 1_200;
/** Up to here phones show stickers without trouble. */
const STICKER_BYTES = { still: 100 * 1024, animated: 500 * 1024 };
const STICKER_QUALITIES = { still: [90, 75, 55, 35], animated: [75, 40] };
const READABLE = new Set(['jpeg', 'png', 'webp', 'gif', 'tiff', 'heif']);
const TRANSPARENT = { r: 0, g: 0, b: 0, alpha: 0 };

/** An image whose header was read. */
interface OpenedImage {
  readonly header: Metadata;
  /** A fresh pipeline over its pixels, upright. */
  readonly pixels: (options?: { animated?: boolean }) => Sharp;
}

function pipeline(source: ImageSource, options: { animated?: boolean } = {}): Sharp {
  return sharp(source, { ...options, limitInputPixels: MOST_PIXELS, sequentialRead: true, failOn: 'error' });
}

async function open(source: ImageSource, mostPixels?: number): Promise<OpenedImage> {
  const header = await headerOf(source);
  const isHeic = header.format === 'heif' && header.compression !== 'av1';
  assertDecodable(header, isHeic ? MOST_PIXELS_OF_HEIC : mostPixels);
  if (!isHeic) return { header, pixels: (options) => pipeline(source, options).autoOrient() };
  const { data, width, height } = await decoded(decodeHeic(source, MOST_PIXELS_OF_HEIC));
  const upright = { ...header, width, height, autoOrient: { ...header.autoOrient, width, height } };
  return { header: upright, pixels: () => sharp(data, { raw: { width, height, channels: 4 } }) };
}

async function headerOf(source: ImageSource): Promise<Metadata> {
  try {
    // The frames of an animation are one tall image to the library: only the file's claims are looked at here.
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

/** A small JPEG of an image, upright, and the size the image is shown at. */
export async function thumbnailOf(source: ImageSource, asked: { small: boolean }): Promise<ShownThumbnail> {
  return thumbnail(await open(source, asked.small ? MOST_PIXELS_OF_SMALL : MOST_PIXELS));
}

/** An image as the large one of a link's preview: JPEG, upright, on white, no wider than phones show it. */
export async function linkPictureOf(source: ImageSource): Promise<LinkPicture> {
  const { pixels } = await open(source, MOST_PIXELS_OF_SMALL);
  const wide = pixels()
    .resize(LINK_PICTURE_SIDE, LINK_PICTURE_SIDE, { fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .jpeg({ quality: 80 });
  const { data, info } = await decoded(wide.toBuffer({ resolveWithObject: true }));
  return { jpeg: data, width: info.width, height: info.height };
}

/**
 * An image message's file: JPEG and PNG pass unchanged, other formats become JPEG at `target` (their first frame, on
 * white).
 * @param asked.asIs leave every readable format as it is
 */
export async function imageOf(
  path: string,
  asked: { target: string; asIs: boolean },
): Promise<ShownThumbnail & { converted: boolean }> {
  const image = await open(path);
  const { format } = image.header;
  if (asked.asIs || format === 'jpeg' || format === 'png') return { ...(await thumbnail(image)), converted: false };
  await decoded(image.pixels().flatten({ background: 'white' }).jpeg({ quality: 90 }).toFile(asked.target));
  return { ...(await thumbnailOf(asked.target, { small: false })), converted: true };
}

/** Animated stickers and square ones of the right size are sent as they came: phones show them as their maker meant. */
function passesAsSticker({ format, width, height, pages = 1 }: Metadata): boolean {
  return format === 'webp' && (pages > 1 || (width === STICKER_SIDE && height === STICKER_SIDE));
}

/**
 * A sticker's file at `target`: WebP, 512 x 512 with the image fitted in and transparent around it. Animated WebP is kept
 * as it is; GIF stays animated; still images lose quality, never size, until phones take them.
 */
export async function stickerOf(path: string, asked: { target: string }): Promise<MadeSticker> {
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
        .toFile(asked.target),
    );
    if (size <= STICKER_BYTES[kind]) break;
  }
  return { width: STICKER_SIDE, height: STICKER_SIDE, animated, converted: true };
}

/** A profile or group picture: a square JPEG, cut around the middle. */
export async function iconOf(path: string): Promise<Uint8Array> {
  const { pixels } = await open(path, MOST_PIXELS_OF_SMALL);
  const square = pixels()
    .resize(ICON_SIDE, ICON_SIDE, { fit: 'cover' })
    .flatten({ background: 'white' })
    .jpeg({ quality: 80 });
  return decoded(square.toBuffer());
}
