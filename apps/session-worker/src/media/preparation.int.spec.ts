import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DEFAULT_MEDIA_LIMITS, Spool, typeOfFile, type SpooledFile } from '@dormouse/media-files';
import sharp from 'sharp';
import { Ffmpeg, FfmpegFailed, findFfmpeg } from './ffmpeg.js';
import { readOggOpus } from './ogg-opus.js';
import { Preparation, type PrepareOptions } from './preparation.js';
import type { PreparedFile, SendKind } from './prepared-file.js';
import { HEIC } from './test-heic.js';
import { testImages } from './test-images.js';

const run = promisify(execFile);
let directory: string;
let made: string;
let spool: Spool;
let ffmpegPath: string;
let ffmpeg: Ffmpeg;
let preparation: Preparation;
const { images, close } = testImages();
const owner = 'CH';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dormouse-prepare-'));
  made = await mkdtemp(join(tmpdir(), 'dormouse-made-'));
  spool = await Spool.open(directory);
  ffmpegPath = (await findFfmpeg()) ?? '';
  ffmpeg = new Ffmpeg({ path: ffmpegPath });
  preparation = new Preparation({ spool, ffmpeg, images, limits: DEFAULT_MEDIA_LIMITS });
});

afterAll(async () => {
  close();
  await rm(directory, { recursive: true, force: true });
  await rm(made, { recursive: true, force: true });
});

const SINE = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2.6'];
const FILM = ['-f', 'lavfi', '-i', 'testsrc=duration=2:size=320x180:rate=10', '-pix_fmt', 'yuv420p'];

async function makeWith(name: string, ...args: string[]): Promise<SpooledFile> {
  const path = join(made, name);
  await run(ffmpegPath, ['-y', '-v', 'error', ...args, path]);
  return spool.adopt(path);
}

async function makeFile(name: string, content: Buffer): Promise<SpooledFile> {
  const path = join(made, name);
  await writeFile(path, content);
  return spool.adopt(path);
}

/** Prepares it; what was made beside the source must be gone when the result is disposed of. */
async function prepare(
  kind: SendKind,
  source: SpooledFile,
  options: Partial<PrepareOptions> = {},
): Promise<PreparedFile> {
  const { mimeType } = await typeOfFile(source.path, source.head);
  return preparation.prepare(kind, source, { mimeType, owner, ...options });
}

async function prepared<T>(
  kind: SendKind,
  source: SpooledFile,
  look: (result: PreparedFile) => Promise<T> | T,
): Promise<T> {
  const result = await prepare(kind, source);
  try {
    return await look(result);
  } finally {
    if (result.file.path !== source.path) await result.file.dispose();
    expect(await readdir(directory)).toEqual([]);
  }
}

const refused = (reason: RegExp) => ({ status: 400, details: expect.stringMatching(reason) as unknown });
const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: { r: 200, g: 30, b: 30, alpha: 0.5 } } });

describe('voice', () => {
  it.each([
    ['sine.wav', []],
    ['sine.mp3', ['-c:a', 'libmp3lame']],
    ['sine.m4a', ['-c:a', 'aac']],
    ['sine-vorbis.ogg', ['-c:a', 'libvorbis']],
  ])('%s becomes mono 16 kHz Opus with its length and waveform', async (name, encoding) => {
    const source = await makeWith(name, ...SINE, ...encoding);
    await prepared('voice', source, async ({ file, facts }) => {
      expect(facts.mimeType).toBe('audio/ogg; codecs=opus');
      expect(facts.seconds).toBe(3);
      const bars = Buffer.from(facts.waveform ?? '', 'base64');
      expect(bars).toHaveLength(64);
      expect(Math.max(...bars)).toBe(100);
      const opus = await readOggOpus(file.path);
      expect(opus?.channels).toBe(1);
      expect(opus?.seconds).toBeCloseTo(2.6, 1);
      expect(file.head.readUInt32LE(28 + 12)).toBe(16_000);
    });
  });

  it('takes the audio of a video', async () => {
    const source = await makeWith(
      'film-with-sound.mp4',
      ...FILM.slice(0, 4),
      ...SINE,
      '-shortest',
      '-pix_fmt',
      'yuv420p',
    );
    await prepared('voice', source, ({ facts }) => expect(facts.seconds).toBe(2));
  });

  it('passes Opus in Ogg through byte for byte, whatever it is called, and measures it', async () => {
    const source = await makeWith('voice.ogg', ...SINE, '-c:a', 'libopus', '-ac', '1');
    const result = await preparation.prepare('voice', source, { mimeType: 'application/octet-stream', owner });
    expect(result.file).toBe(source);
    expect(result.facts).toMatchObject({ mimeType: 'audio/ogg; codecs=opus', seconds: 3 });
    expect(Buffer.from(result.facts.waveform ?? '', 'base64')).toHaveLength(64);
  });

  it('refuses what has no sound', async () => {
    for (const source of [await makeFile('text.txt', Buffer.from('no sound')), await makeWith('mute.mp4', ...FILM)]) {
      await expect(prepare('voice', source)).rejects.toMatchObject(refused(/^media: is not a sound/));
    }
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('audio', () => {
  it('passes what phones play, with its length', async () => {
    const source = await makeWith('song.mp3', ...SINE);
    const { file, facts } = await prepare('audio', source);
    expect(file).toBe(source);
    expect(facts).toEqual({ mimeType: 'audio/mpeg', seconds: 3 });
  });

  it('converts other audio to AAC, unless conversion is switched off', async () => {
    const source = await makeWith('song.flac', ...SINE);
    await prepared('audio', source, async ({ file, facts }) => {
      expect(facts).toEqual({ mimeType: 'audio/mp4', seconds: 3 });
      expect((await typeOfFile(file.path, file.head)).mimeType).toBe('audio/mp4');
    });
    const asIs = await prepare('audio', source, { asIs: true });
    expect(asIs.file).toBe(source);
    expect(asIs.facts.mimeType).toBe('audio/flac');
  });
});

describe('video', () => {
  it('passes unchanged with thumbnail, length and size', async () => {
    const source = await makeWith('film.mp4', ...FILM);
    const { file, facts } = await prepare('video', source);
    expect(file).toBe(source);
    expect(facts).toMatchObject({ mimeType: 'video/mp4', width: 320, height: 180, seconds: 2 });
    const thumbnail = await sharp(Buffer.from(facts.thumbnail ?? '', 'base64')).metadata();
    expect(thumbnail).toMatchObject({ format: 'jpeg', width: 96, height: 54 });
  });

  it('refuses what is not a video', async () => {
    const sound = await makeWith('sound.mp3', ...SINE);
    await expect(prepare('video', sound)).rejects.toMatchObject(refused(/^media: is not a video/));
    const lie = await makeFile('lie.mp4', Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1'));
    await expect(prepare('video', lie)).rejects.toMatchObject(refused(/^media: is not a video/));
  });

  it('opens no playlist, so no other file and no address can be read through one', async () => {
    const secret = await makeWith('secret.mp4', ...FILM);
    const playlist = await makeFile(
      'list.m3u8',
      Buffer.from(`#EXTM3U\n#EXTINF:1,\nfile://${secret.path}\n#EXT-X-ENDLIST\n`),
    );
    const concat = await makeFile('list.txt', Buffer.from(`ffconcat version 1.0\nfile '${secret.path}'\n`));
    for (const source of [playlist, concat]) {
      await expect(preparation.prepare('video', source, { mimeType: 'video/mp4', owner })).rejects.toMatchObject(
        refused(/video/),
      );
    }
  });
});

describe('image', () => {
  it.each(['jpeg', 'png'] as const)('passes %s unchanged with a thumbnail and its size', async (format) => {
    const source = await makeFile(`a.${format}`, await picture(640, 480).toFormat(format).toBuffer());
    const { file, facts } = await prepare('image', source);
    expect(file).toBe(source);
    expect(facts).toMatchObject({ mimeType: `image/${format}`, width: 640, height: 480 });
    const thumbnail = await sharp(Buffer.from(facts.thumbnail ?? '', 'base64')).metadata();
    expect(thumbnail).toMatchObject({ format: 'jpeg', width: 96, height: 72 });
  });

  it('gives the size of a rotated photo after rotation', async () => {
    const turned = await picture(640, 480).jpeg().withMetadata({ orientation: 6 }).toBuffer();
    const { facts } = await prepare('image', await makeFile('turned.jpg', turned));
    expect(facts).toMatchObject({ width: 480, height: 640 });
  });

  it.each(['webp', 'gif', 'tiff', 'avif'] as const)('turns %s into JPEG', async (format) => {
    const source = await makeFile(`b.${format}`, await picture(64, 48).toFormat(format).toBuffer());
    await prepared('image', source, async ({ file, facts }) => {
      expect(facts).toMatchObject({ mimeType: 'image/jpeg', width: 64, height: 48 });
      expect((await sharp(file.path).metadata()).format).toBe('jpeg');
    });
  });

  it("turns an iPhone's photo (HEIC, HEVC inside) into JPEG", async () => {
    await prepared('image', await makeFile('photo.heic', HEIC), async ({ file, facts }) => {
      expect(facts).toMatchObject({ mimeType: 'image/jpeg', width: 64, height: 64 });
      expect(await sharp(file.path).metadata()).toMatchObject({ format: 'jpeg', width: 64, height: 64 });
    });
    await prepared('sticker', await makeFile('photo.heic', HEIC), ({ facts }) => {
      expect(facts).toMatchObject({ mimeType: 'image/webp', width: 512 });
    });
  });

  it('refuses what is not an image, is incomplete, or claims absurd dimensions', async () => {
    const noise = await picture(200, 200).jpeg().toBuffer();
    const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    const huge = await picture(8, 8).png().toBuffer();
    huge.writeUInt32BE(60_000, 16);
    huge.writeUInt32BE(60_000, 20);
    for (const content of [Buffer.from('plain text'), noise.subarray(0, 300), drawing, huge]) {
      await expect(prepare('image', await makeFile('bad', content))).rejects.toMatchObject(
        refused(/^media: is .*image/),
      );
    }
  });
});

describe('sticker', () => {
  it.each(['png', 'jpeg', 'gif'] as const)('is WebP of 512 x 512 made from %s', async (format) => {
    const source = await makeFile(`s.${format}`, await picture(300, 100).toFormat(format).toBuffer());
    await prepared('sticker', source, async ({ file, facts }) => {
      expect(facts).toEqual({ mimeType: 'image/webp', width: 512, height: 512, animated: false });
      expect(await sharp(file.path).metadata()).toMatchObject({ format: 'webp', width: 512, height: 512 });
      expect(file.size).toBeLessThanOrEqual(100 * 1024);
    });
  });

  it('keeps a fitting WebP and every animated one byte for byte', async () => {
    const frames = await Promise.all([10, 200].map((r) => picture(200, 200).tint({ r, g: 0, b: 0 }).png().toBuffer()));
    const animated = await sharp(frames, { join: { animated: true } })
      .webp()
      .toBuffer();
    const fitting = await picture(512, 512).webp().toBuffer();
    for (const [content, facts] of [
      [animated, { width: 200, height: 200, animated: true }],
      [fitting, { width: 512, height: 512, animated: false }],
    ] as const) {
      const source = await makeFile('s.webp', content);
      const result = await prepare('sticker', source);
      expect(result.file).toBe(source);
      expect(result.facts).toMatchObject(facts);
    }
  });

  it('keeps the motion of a GIF', async () => {
    const frames = await Promise.all(
      [1, 2, 3].map((n) =>
        picture(50, 50 + 0 * n)
          .negate(n % 2 === 0)
          .png()
          .toBuffer(),
      ),
    );
    const gif = await sharp(frames, { join: { animated: true } })
      .gif({ delay: [100, 100, 100] })
      .toBuffer();
    await prepared('sticker', await makeFile('moving.gif', gif), async ({ file, facts }) => {
      expect(facts.animated).toBe(true);
      expect((await sharp(file.path).metadata()).pages).toBeGreaterThan(1);
    });
  });

  it('lowers quality, not size, for a detailed picture', async () => {
    const noise = sharp({
      create: {
        width: 512,
        height: 512,
        channels: 3,
        background: 'black',
        noise: { type: 'gaussian', mean: 128, sigma: 90 },
      },
    });
    await prepared('sticker', await makeFile('noise.png', await noise.png().toBuffer()), ({ file, facts }) => {
      expect(facts.width).toBe(512);
      expect(file.size).toBeLessThan(DEFAULT_MEDIA_LIMITS.sticker);
    });
  });
});

describe('icon', () => {
  it('is a square JPEG cropped to the middle', async () => {
    const source = await makeFile('i.png', await picture(900, 300).png().toBuffer());
    expect(await sharp(await images.prepareIcon(source, { owner })).metadata()).toMatchObject({
      format: 'jpeg',
      width: 640,
      height: 640,
    });
  });
});

describe('ffmpeg', () => {
  const endless = (signal?: AbortSignal) => ({
    input: join(made, 'film.mp4'),
    output: ['-filter_complex', 'loop=loop=-1:size=10', '-f', 'null', '-'],
    owner,
    signal,
  });

  it('is killed after its timeout and when the caller leaves', async () => {
    const short = new Ffmpeg({ path: ffmpegPath, timeout: { timeoutMs: 300 } });
    await expect(short.run(endless())).rejects.toMatchObject({ reason: 'timeout' });
    await expect(ffmpeg.run(endless(AbortSignal.timeout(300)))).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('fails alone when it needs more memory than its limit', async () => {
    const small = new Ffmpeg({ path: ffmpegPath, memoryLimitMib: 90 });
    const source = await makeWith(
      'large.mp4',
      '-f',
      'lavfi',
      '-i',
      'testsrc=duration=0.2:size=3840x2160:rate=5',
      '-pix_fmt',
      'yuv420p',
    );
    await expect(small.run({ input: source.path, output: ['-f', 'null', '-'], owner })).rejects.toBeInstanceOf(
      FfmpegFailed,
    );
    await ffmpeg.run({ input: source.path, output: ['-f', 'null', '-'], owner });
  });

  it('is absent only where none is found, and a wrong FFMPEG_PATH fails at start', async () => {
    await expect(findFfmpeg('/nowhere/ffmpeg')).rejects.toThrow('FFMPEG_PATH');
    const without = new Preparation({ spool, ffmpeg: undefined, images, limits: DEFAULT_MEDIA_LIMITS });
    const voice = await makeWith('plain.ogg', ...SINE, '-c:a', 'libopus', '-ac', '1');
    expect((await without.prepare('voice', voice, { mimeType: 'audio/ogg', owner })).facts.seconds).toBe(3);
    const wav = await makeWith('plain.wav', ...SINE);
    await expect(without.prepare('voice', wav, { mimeType: 'audio/wav', owner })).rejects.toMatchObject(
      refused(/cannot transcode/),
    );
  });
});
