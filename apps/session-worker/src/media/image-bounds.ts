/**
 * Bounds on the memory and time that decoding an image may take, checked before anything is decoded. A small file can
 * claim any size; the cost is known from its header: width x height x channels x depth. Pure.
 */
import type { Metadata } from 'sharp';
import { FileRefused } from './file-refused.js';

/** The header fields that determine the cost of decoding. */
export type ImageHeader = Pick<
  Metadata,
  'format' | 'width' | 'height' | 'channels' | 'depth' | 'isProgressive' | 'pages' | 'pageHeight' | 'orientation'
>;

/** Largest image that is decoded whole, in decoded bytes. */
const MAX_HELD_BYTES = 150_000_000;
/** Largest image that is decoded row by row, in decoded bytes: this bounds the time, not the memory. */
const MAX_STREAMED_BYTES = 500_000_000;
/** Largest image that is opened; cameras make smaller ones. */
export const MAX_PIXELS = 120_000_000;
/** Largest image that is only shown small: previews of links, icons, profile pictures. */
export const MAX_PIXELS_OF_SMALL = 25_000_000;
/** Largest HEIC image: the decoder holds an image several times. Photos of phones usually have 12 to 24 million pixels. */
export const MAX_PIXELS_OF_HEIC = 25_000_000;
/** Ten seconds of animation at 30 frames a second: no phone plays a longer sticker. */
export const MAX_FRAMES = 300;
/** Pixels of all frames of an animation together. */
const MAX_ANIMATED_PIXELS = 100_000_000;

/** Bytes of one channel of a pixel, by depth; an unknown depth counts as {@link DEEPEST_BYTES}. */
const DEPTH_BYTES: Record<string, number> = { uchar: 1, char: 1, ushort: 2, short: 2, uint: 4, int: 4, float: 4 };
const DEEPEST_BYTES = 8;

/** Whether libvips holds only some rows at a time: not when rows come in several passes, or it has to rotate the image. */
function isStreamed({ format, isProgressive, orientation = 1 }: ImageHeader): boolean {
  if (isProgressive) return false;
  // libvips scales a rotated JPEG down while it decodes it, a rotated PNG it does not.
  return format === 'jpeg' || (format === 'png' && orientation < 5);
}

/** Memory that the decoded image takes, in bytes; rows that come in several passes are held twice. */
export function decodedBytes({ width, height, pageHeight, channels, depth, isProgressive }: ImageHeader): number {
  const pixels = width * (pageHeight ?? height);
  return pixels * Math.max(3, channels) * (DEPTH_BYTES[depth] ?? DEEPEST_BYTES) * (isProgressive ? 2 : 1);
}

/**
 * @throws {FileRefused} when decoding the image would exceed the bounds
 */
export function assertDecodable(header: ImageHeader, maxPixels = MAX_PIXELS): void {
  const { width, height, pageHeight = height } = header;
  const most = isStreamed(header) ? MAX_STREAMED_BYTES : MAX_HELD_BYTES;
  if (width * pageHeight <= maxPixels && decodedBytes(header) <= most) return;
  throw new FileRefused(`is an image too large to open (${width} x ${pageHeight} pixels): send a smaller one`);
}

/**
 * @throws {FileRefused} when an animation has too many frames, or too many pixels in all frames together
 */
export function assertConvertible({ width, height, pageHeight = height, pages = 1 }: ImageHeader): void {
  if (pages > MAX_FRAMES)
    throw new FileRefused(`is an animation of ${pages} frames, a sticker has ${MAX_FRAMES} at most: shorten it`);
  if (pages > 1 && width * pageHeight * pages > MAX_ANIMATED_PIXELS)
    throw new FileRefused(`is an animation too large to convert (${pages} frames of ${width} x ${pageHeight} pixels)`);
}
