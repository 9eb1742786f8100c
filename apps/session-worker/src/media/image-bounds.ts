/**
 * What an image may cost before anything of it is decoded. A small file can claim any size; what decoding it takes is
 * known from its header: width x height x channels x depth. Pure.
 */
import type { Metadata } from 'sharp';
import { FileRefused } from './file-refused.js';

/** The facts of a header that decide what decoding takes. */
export type ImageHeader = Pick<
  Metadata,
  'format' | 'width' | 'height' | 'channels' | 'depth' | 'isProgressive' | 'pages' | 'pageHeight' | 'orientation'
>;

/** Images that are decoded whole, in bytes. */
const MOST_HELD_BYTES = 150_000_000;
/** Images that are decoded row by row, in bytes: bounds the time, not the memory. */
const MOST_STREAMED_BYTES = 500_000_000;
/** More than any camera makes. */
export const MOST_PIXELS = 120_000_000;
/** Pictures that are only shown small: previews of links, icons, profile pictures. */
export const MOST_PIXELS_OF_SMALL = 25_000_000;
/** HEIC: its decoder holds an image several times. A phone's usual photos have 12 to 24 million. */
export const MOST_PIXELS_OF_HEIC = 25_000_000;
/** Ten seconds of animation at 30 frames a second: no phone plays a longer sticker. */
export const MOST_FRAMES = 300;
/** All frames of an animation together. */
const MOST_ANIMATED_PIXELS = 100_000_000;

/** Bytes of one channel of a pixel; an unknown depth counts as the largest usual one. */
const DEPTH_BYTES: Record<string, number> = { uchar: 1, char: 1, ushort: 2, short: 2, uint: 4, int: 4, float: 4 };
const DEEPEST_BYTES = 8;

/** Whether libvips needs only some rows at a time: not when rows come in several passes, or when it has to turn it. */
function isStreamed({ format, isProgressive, orientation = 1 }: ImageHeader): boolean {
  if (isProgressive) return false;
  // A turned JPEG is made small while it is decoded, a turned PNG is not.
  return format === 'jpeg' || (format === 'png' && orientation < 5);
}

/** How much memory the decoded image takes, in bytes; rows that come in several passes are held twice. */
export function decodedBytes({ width, height, pageHeight, channels, depth, isProgressive }: ImageHeader): number {
  const pixels = width * (pageHeight ?? height);
  return pixels * Math.max(3, channels) * (DEPTH_BYTES[depth] ?? DEEPEST_BYTES) * (isProgressive ? 2 : 1);
}

/**
 * @throws {FileRefused} when decoding the image would take too much
 */
export function assertDecodable(header: ImageHeader, mostPixels = MOST_PIXELS): void {
  const { width, height, pageHeight = height } = header;
  const most = isStreamed(header) ? MOST_STREAMED_BYTES : MOST_HELD_BYTES;
  if (width * pageHeight <= mostPixels && decodedBytes(header) <= most) return;
  throw new FileRefused(`is an image too large to open (${width} x ${pageHeight} pixels): send a smaller one`);
}

/**
 * @throws {FileRefused} when an animation has more frames, or more pixels in all of them, than can be converted
 */
export function assertConvertible({ width, height, pageHeight = height, pages = 1 }: ImageHeader): void {
  if (pages > MOST_FRAMES)
    throw new FileRefused(`is an animation of ${pages} frames, a sticker has ${MOST_FRAMES} at most: shorten it`);
  if (pages > 1 && width * pageHeight * pages > MOST_ANIMATED_PIXELS)
    throw new FileRefused(`is an animation too large to convert (${pages} frames of ${width} x ${pageHeight} pixels)`);
}
