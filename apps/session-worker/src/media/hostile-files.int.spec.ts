/**
 * Small files that claim, or unpack to, a lot, sent by two channels at a time: what they may cost this process and
 * those it starts.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayError } from '@dormouse/gateway-contract';
import { DEFAULT_MEDIA_LIMITS, Spool, typeOfFile } from '@dormouse/media-files';
import sharp from 'sharp';
import { Ffmpeg, findFfmpeg } from './ffmpeg.js';
import { Preparation } from './preparation.js';
import type { SendKind } from './prepared-file.js';
import { emptyRangesPdf, framesGif, largeStreamsPdf, silentOpus, zeroPng } from '@dormouse/stack/hostile-files';
import { residentBytesOfChildren, watchPeak } from '@dormouse/stack/process-memory';
import { testImages } from './test-images.js';

/** All processes of the media path together, beside this one. */
const MAX_MIB = 700;

const { images, close } = testImages();
let directory: string;
let spool: Spool;
let preparation: Preparation;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dormouse-hostile-'));
  spool = await Spool.open(directory);
  const ffmpeg = new Ffmpeg({ path: (await findFfmpeg()) ?? '' });
  preparation = new Preparation({ spool, ffmpeg, images, limits: DEFAULT_MEDIA_LIMITS });
});

afterAll(async () => {
  close();
  await rm(directory, { recursive: true, force: true });
});

/** The most memory of what this process starts while `work` is done. */
async function peakMib(work: () => Promise<unknown>): Promise<number> {
  return (await watchPeak(() => residentBytesOfChildren(process.pid), 25, work)).peak / 2 ** 20;
}

let files = 0;
async function outcome(kind: SendKind, content: Buffer, owner: string): Promise<number> {
  files += 1;
  const path = join(directory, `hostile-${files}`);
  await writeFile(path, content);
  const source = await spool.adopt(path);
  try {
    const { mimeType } = await typeOfFile(source.path, source.head);
    const { file } = await preparation.prepare(kind, source, { mimeType, owner });
    if (file !== source) await file.dispose();
    return 200;
  } catch (error) {
    if (error instanceof GatewayError && error.details?.startsWith('media: ')) return error.status;
    throw error;
  } finally {
    await source.dispose();
  }
}

const flat = (width: number, height: number, background = 'red') =>
  sharp({ create: { width, height, channels: 3, background } });

/** 10,000 x 10,000 red pixels without loss, in 36 bytes: to encode them takes seconds. */
const RED_WEBP = Buffer.from('UklGRhwAAABXRUJQVlA4TA8AAAAvD+fDCQcQ/Y/+ByKi/wEA', 'base64');

/** A small image that claims another size in its header. */
async function claiming(width: number, height: number): Promise<Buffer> {
  const image = await flat(64, 64).avif({ effort: 0 }).toBuffer();
  const at = image.indexOf('ispe') + 8;
  image.writeUInt32BE(width, at);
  image.writeUInt32BE(height, at + 4);
  return image;
}

async function animatedWebp(frames: number): Promise<Buffer> {
  // Equal frames in a row would become one.
  const two = await Promise.all(['red', 'blue'].map((colour) => flat(4, 4, colour).png().toBuffer()));
  const all = Array.from({ length: frames }, (_, number) => two[number % 2] ?? Buffer.alloc(0));
  return sharp(all, { join: { animated: true } })
    .webp()
    .toBuffer();
}

const HOSTILE: readonly [what: string, kind: SendKind, make: () => Promise<Buffer> | Buffer, outcomes: number[]][] = [
  ['an interlaced PNG of 119 million pixels', 'image', () => zeroPng({ width: 10_900, height: 10_900 }), [400]],
  ['a PNG of 119 million pixels', 'image', () => zeroPng({ width: 10_900, height: 10_900, interlaced: false }), [400]],
  ['an interlaced PNG one pixel high', 'image', () => zeroPng({ width: 100_000_000, height: 1 }), [400]],
  ['the interlaced PNG as a sticker', 'sticker', () => zeroPng({ width: 10_900, height: 10_900 }), [400]],
  [
    'a progressive JPEG of 100 million pixels',
    'image',
    () => flat(10_000, 10_000).jpeg({ progressive: true }).toBuffer(),
    [400],
  ],
  ['a JPEG of 100 million pixels', 'image', () => flat(10_000, 10_000).jpeg().toBuffer(), [200]],
  ['a WebP of 100 million pixels', 'image', () => RED_WEBP, [400]],
  ['a TIFF of 100 million pixels', 'image', () => flat(10_000, 10_000).tiff({ compression: 'lzw' }).toBuffer(), [400]],
  ['an AVIF that claims 100 million pixels', 'image', () => claiming(10_000, 10_000), [400]],
  ['an AVIF that claims four billion pixels', 'sticker', () => claiming(65_535, 65_535), [400]],
  ['a GIF of 10,000 frames', 'sticker', () => framesGif(10_000), [400]],
  ['a WebP of 400 frames', 'sticker', () => animatedWebp(400), [200]],
  ['a PDF of 1.5 million empty ranges', 'document', () => emptyRangesPdf(1_500_000), [200]],
  ['a PDF of 32 large streams', 'document', () => largeStreamsPdf(32), [200]],
  ['85 hours of silence', 'voice', () => silentOpus(85), [200]],
  ['85 hours of silence to be converted', 'audio', () => silentOpus(85), [200]],
];

describe('files that cost more than they weigh', () => {
  it.each(HOSTILE)(
    '%s costs a bounded time and memory, three of them at once',
    async (_what, kind, make, expected) => {
      const content = await make();
      const outcomes: number[] = [];
      const peak = await peakMib(async () => {
        const all = ['A', 'A', 'B'].map((owner) => outcome(kind, content, owner));
        outcomes.push(...(await Promise.all(all)));
      });
      expect(new Set(outcomes)).toEqual(new Set(expected));
      expect(peak).toBeLessThan(MAX_MIB);
    },
    60_000,
  );

  it('delay no image of another channel by more than one of them', async () => {
    // One takes ten times as long as the start of a process, which the image of the other channel has to wait for.
    const slow = framesGif(100);
    const small = await flat(64, 64).png().toBuffer();
    const order: string[] = [];
    const theirs = Array.from({ length: 4 }, () => outcome('sticker', slow, 'A').then(() => order.push('A')));
    const own = outcome('image', small, 'B').then(() => order.push('B'));
    await Promise.all([...theirs, own]);
    expect(order.indexOf('B')).toBeLessThan(2);
  }, 60_000);
});
