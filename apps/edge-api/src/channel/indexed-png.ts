import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

/** Red, green, blue, alpha, 0 to 255 each. */
export type Rgba = [number, number, number, number];

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BITS_PER_PIXEL = 1;
const INDEXED = 3;

/**
 * A PNG of two colours, one bit a pixel. Login images are drawn every few seconds, and with 32 bits a pixel the largest
 * would take 16 MB. Compressed off the event loop.
 */
export async function indexedPng(image: {
  width: number;
  /** From the top; in each, the first pixel is the highest bit of the first byte. */
  lines: readonly Buffer[];
  colors: readonly [Rgba, Rgba];
}): Promise<Buffer> {
  const { width, lines, colors } = image;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(lines.length, 4);
  header.set([BITS_PER_PIXEL, INDEXED], 8);
  const unfiltered = Buffer.from([0]);
  const pixels = await promisify(deflate)(Buffer.concat(lines.flatMap((line) => [unfiltered, line])));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(colors.flatMap(([red, green, blue]) => [red, green, blue]))),
    chunk('tRNS', Buffer.from(colors.map(([, , , alpha]) => alpha))),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
