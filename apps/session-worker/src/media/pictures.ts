/** Pictures: dimensions, thumbnails, and the forms the network takes, all by libvips, which reads as it needs. */
import sharp, { type Metadata, type Sharp } from 'sharp';
import { fileTooLarge, type MediaLimits, type Spool, type SpooledFile } from '@dormouse/media-files';
import { unusable, type PreparedFile } from './prepared-file.js';

// Sends come from many channels: one thread each and nothing remembered keep their memory small and predictable.
sharp.concurrency(1);
sharp.cache(false);

/** More than any camera makes; a small file can claim far more and fill the memory when decoded. */
const MOST_PIXELS = 120_000_000;
const THUMBNAIL_SIDE = 96;
const STICKER_SIDE = 512;
const ICON_SIDE = 640;
const LINK_PICTURE_SIDE = 1_200;
/** Up to here phones show stickers without trouble. */
const STICKER_BYTES = { still: 100 * 1024, animated: 500 * 1024 };
const STICKER_QUALITIES = [90, 75, 55, 35];
const READABLE = new Set(['jpeg', 'png', 'webp', 'gif', 'tiff', 'heif']);

export interface LinkPicture {
  jpeg: Buffer;
  width: number;
  height: number;
}

function open(source: string | Buffer, options: { animated?: boolean } = {}): Sharp {
  return sharp(source, { ...options, limitInputPixels: MOST_PIXELS, sequentialRead: true, failOn: 'error' });
}

async function read(source: string | Buffer): Promise<Metadata> {
  try {
    const found = await open(source).metadata();
    if (READABLE.has(found.format)) return found;
  } catch (error) {
    throw unusable('is not an image that can be read', error);
  }
  throw unusable('is not an image that can be sent');
}

async function made<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw unusable('is an image that cannot be decoded', error);
  }
}

/** A small JPEG of a picture, upright, and the size the picture is shown at. */
export async function thumbnailOf(
  source: string | Buffer,
): Promise<{ thumbnail: string; width: number; height: number }> {
  const { autoOrient } = await read(source);
  const small = open(source)
    .autoOrient()
    .resize(THUMBNAIL_SIDE, THUMBNAIL_SIDE, { fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .jpeg({ quality: 60 });
  return { thumbnail: (await made(small.toBuffer())).toString('base64'), ...autoOrient };
}

/** A picture as the large one of a link's preview: JPEG, upright, on white, no wider than phones show it. */
export async function linkPictureOf(source: Buffer): Promise<LinkPicture> {
  await read(source);
  const wide = open(source)
    .autoOrient()
    .resize(LINK_PICTURE_SIDE, LINK_PICTURE_SIDE, { fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .jpeg({ quality: 80 });
  const { data, info } = await made(wide.toBuffer({ resolveWithObject: true }));
  return { jpeg: data, width: info.width, height: info.height };
}

/**
 * An image message's file: JPEG and PNG pass unchanged, other formats become JPEG (their first frame, on white).
 * @param options.asIs leave every readable format as it is
 * @throws {GatewayError} 400 when it is no readable picture
 */
export async function prepareImage(
  source: SpooledFile,
  spool: Spool,
  options: { mimeType: string; asIs?: boolean },
): Promise<PreparedFile> {
  const { format } = await read(source.path);
  if (options.asIs || format === 'jpeg' || format === 'png') {
    return { file: source, facts: { mimeType: options.mimeType, ...(await thumbnailOf(source.path)) } };
  }
  const path = spool.freshPath('jpeg');
  const jpeg = open(source.path).autoOrient().flatten({ background: 'white' }).jpeg({ quality: 90 });
  await made(jpeg.toFile(path));
  const file = await spool.adopt(path);
  return { file, facts: { mimeType: 'image/jpeg', ...(await thumbnailOf(path)) } };
}

/** Animated stickers and square ones of the right size are sent as they came: phones show them as their maker meant. */
function passesAsSticker({ format, width, height, pages = 1 }: Metadata): boolean {
  return format === 'webp' && (pages > 1 || (width === STICKER_SIDE && height === STICKER_SIDE));
}

/**
 * A sticker's file: WebP, 512 x 512 with the picture fitted in and transparent around it. Animated WebP is kept as it
 * is; GIF stays animated; still pictures lose quality, never size, until phones take them.
 * @throws {GatewayError} 400 when it is no readable picture, 413 when the result is larger than a sticker may be
 */
export async function prepareSticker(source: SpooledFile, spool: Spool, limits: MediaLimits): Promise<PreparedFile> {
  const found = await read(source.path);
  const animated = (found.pages ?? 1) > 1 && (found.format === 'webp' || found.format === 'gif');
  if (passesAsSticker(found)) {
    if (source.size > limits.sticker) throw fileTooLarge('sticker', limits);
    const { width, height, pageHeight = height } = found;
    return { file: source, facts: { mimeType: 'image/webp', width, height: pageHeight, animated } };
  }
  const enough = animated ? STICKER_BYTES.animated : STICKER_BYTES.still;
  let webp = Buffer.alloc(0);
  for (const quality of STICKER_QUALITIES) {
    const squared = open(source.path, { animated })
      .autoOrient()
      .resize(STICKER_SIDE, STICKER_SIDE, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
      .webp({ quality, effort: 4 });
    webp = await made(squared.toBuffer());
    if (webp.length <= enough) break;
  }
  if (webp.length > limits.sticker) throw fileTooLarge('sticker', limits);
  const facts = { mimeType: 'image/webp', width: STICKER_SIDE, height: STICKER_SIDE, animated };
  return { file: await spool.keep([webp]), facts };
}

/**
 * A profile or group picture: a square JPEG, cut around the middle.
 * @throws {GatewayError} 400 when it is no readable picture
 */
export async function prepareIcon(source: Pick<SpooledFile, 'path'>): Promise<Buffer> {
  await read(source.path);
  const square = open(source.path)
    .autoOrient()
    .resize(ICON_SIDE, ICON_SIDE, { fit: 'cover' })
    .flatten({ background: 'white' })
    .jpeg({ quality: 80 });
  return made(square.toBuffer());
}
