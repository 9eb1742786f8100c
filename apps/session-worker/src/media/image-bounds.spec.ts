import {
  assertConvertible,
  assertDecodable,
  decodedBytes,
  MAX_PIXELS_OF_SMALL,
  type ImageHeader,
} from './image-bounds.js';

const header = (changes: Partial<ImageHeader>): ImageHeader => ({
  format: 'png',
  width: 1_000,
  height: 1_000,
  channels: 3,
  depth: 'uchar',
  isProgressive: false,
  ...changes,
});

describe('the memory that decoding an image takes', () => {
  it.each<[string, Partial<ImageHeader>, number]>([
    ['8 bit', {}, 3_000_000],
    ['16 bit with transparency', { channels: 4, depth: 'ushort' }, 8_000_000],
    ['rows in several passes', { isProgressive: true }, 6_000_000],
    ['grey, made colour', { channels: 1 }, 3_000_000],
    ['an unknown depth', { depth: 'other' as ImageHeader['depth'] }, 24_000_000],
    ['one frame of an animation', { height: 50_000, pageHeight: 500, pages: 100 }, 1_500_000],
  ])('counts %s', (_what, changes, bytes) => {
    expect(decodedBytes(header(changes))).toBe(bytes);
  });

  it.each<[string, Partial<ImageHeader>]>([
    ['a photo of 108 million pixels', { format: 'jpeg', width: 12_000, height: 9_000 }],
    ['a turned photo', { format: 'jpeg', width: 9_000, height: 7_000, orientation: 6 }],
    ['a large screenshot', { width: 8_000, height: 6_000, channels: 4 }],
    ['a progressive photo of 24 million pixels', { format: 'jpeg', width: 6_000, height: 4_000, isProgressive: true }],
    ['a WebP of 35 million pixels', { format: 'webp', width: 7_000, height: 5_000, channels: 4 }],
  ])('accepts %s', (_what, changes) => {
    expect(() => assertDecodable(header(changes))).not.toThrow();
  });

  it.each<[string, Partial<ImageHeader>]>([
    ['interlaced, 16 bit', { width: 10_900, height: 10_900, channels: 4, depth: 'ushort', isProgressive: true }],
    ['16 bit', { width: 10_900, height: 10_900, channels: 4, depth: 'ushort' }],
    ['progressive', { format: 'jpeg', width: 10_000, height: 10_000, isProgressive: true }],
    ['a PNG that has to be turned', { width: 9_000, height: 9_000, orientation: 6 }],
    ['a WebP', { format: 'webp', width: 16_000, height: 16_000, channels: 4 }],
    ['a HEIF', { format: 'heif', width: 10_000, height: 10_000 }],
    ['more pixels than any camera makes', { format: 'jpeg', width: 20_000, height: 10_000 }],
  ])('refuses what is too large: %s', (_what, changes) => {
    expect(() => assertDecodable(header(changes))).toThrow(/^is an image too large to open \(\d+ x \d+ pixels\)/);
  });

  it('refuses more pixels than its use needs, however few bytes they take', () => {
    const photo = header({ format: 'jpeg', width: 6_000, height: 5_000 });
    expect(() => assertDecodable(photo)).not.toThrow();
    expect(() => assertDecodable(photo, MAX_PIXELS_OF_SMALL)).toThrow(/\(6000 x 5000 pixels\)/);
  });

  it('refuses animations of too many frames, or too large ones', () => {
    const frames = { format: 'gif', width: 500, height: 400, pageHeight: 400 } as const;
    expect(() => assertConvertible(header({ ...frames, pages: 300 }))).not.toThrow();
    expect(() => assertConvertible(header({ ...frames, pages: 301 }))).toThrow(/301 frames.*300 at most/);
    expect(() => assertConvertible(header({ ...frames, width: 1_000, pages: 300 }))).toThrow(/too large to convert/);
  });
});
