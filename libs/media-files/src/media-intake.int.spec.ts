import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readMediaInput } from '@dormouse/gateway-contract';
import { ByteBudget } from './byte-budget.js';
import { Downloader } from './downloader.js';
import { MediaIntake, type TakeOptions } from './media-intake.js';
import { DEFAULT_MEDIA_LIMITS } from './media-kinds.js';
import { Spool } from './spool.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const limits = { ...DEFAULT_MEDIA_LIMITS, image: 10_000, document: 200_000, sticker: 1_000 };

let directory: string;
let spool: Spool;
let downloader: Downloader;
let intake: MediaIntake;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dormouse-spool-'));
  spool = await Spool.open(directory);
  downloader = new Downloader({ allowLoopback: true });
  intake = new MediaIntake({ spool, downloader, limits });
});

afterAll(async () => {
  await downloader.close();
  await rm(directory, { recursive: true, force: true });
});

afterEach(async () => {
  expect(await readdir(directory)).toEqual([]);
});

/** `size` bytes in pieces, with the number of those that were read. */
function counted(size: number, start = PNG): { source: Readable; read: () => number } {
  let read = 0;
  function* pieces(): Generator<Buffer> {
    for (let from = 0; from < size; from += 4_000) {
      const piece = Buffer.alloc(Math.min(4_000, size - from));
      if (from === 0) start.copy(piece);
      read += piece.length;
      yield piece;
    }
  }
  return { source: Readable.from(pieces(), { highWaterMark: 1 }), read: () => read };
}

async function taking(text: string, options: TakeOptions = {}) {
  const input = readMediaInput(text);
  if (input?.form !== 'url' && input?.form !== 'base64') throw new Error('unexpected');
  const taken = await intake.takeInput(input, options);
  await taken.dispose();
  return taken;
}

describe('limits', () => {
  const tooLarge = (kind: keyof typeof limits) => ({
    status: 413,
    details: `${kind}: larger than ${limits[kind]} bytes`,
  });

  it('refuses a file announced as too large without reading any of it', async () => {
    const { source, read } = counted(1_000_000);
    await expect(intake.takeStream(source, { kind: 'document', claimedSize: 1_000_000 })).rejects.toMatchObject(
      tooLarge('document'),
    );
    expect(read()).toBe(0);
  });

  it('counts for itself when nothing, or too little, is announced', async () => {
    for (const claimedSize of [undefined, 10]) {
      const { source, read } = counted(1_000_000);
      await expect(intake.takeStream(source, { kind: 'image', claimedSize })).rejects.toMatchObject(tooLarge('image'));
      expect(read()).toBeLessThan(25_000);
    }
  });

  it('holds an upload to the limit of the kind its content shows', async () => {
    await expect(intake.takeStream(counted(50_000).source)).rejects.toMatchObject(tooLarge('image'));
    const document = await intake.takeStream(counted(50_000, Buffer.from('%PDF-1.7\n')).source);
    expect(document).toMatchObject({ size: 50_000, mimeType: 'application/pdf' });
    await document.dispose();
  });

  it('refuses base64 beyond the limit before decoding it', async () => {
    await expect(taking('A'.repeat(2_000), { kind: 'sticker' })).rejects.toMatchObject(tooLarge('sticker'));
  });

  it('takes a file of exactly the limit', async () => {
    const taken = await intake.takeStream(counted(limits.image).source, { kind: 'image' });
    expect(taken.size).toBe(limits.image);
    await taken.dispose();
  });
});

describe('what is taken', () => {
  it('has the content, hash, type and safe name of a data: URI', async () => {
    const taken = await intake.takeInput({ form: 'base64', base64: PNG.toString('base64'), fileName: '../dot.png' });
    expect(await readFile(taken.path)).toEqual(PNG);
    expect(taken).toMatchObject({ mimeType: 'image/png', extension: 'png', fileName: 'dot.png', size: PNG.length });
    await taken.dispose();
  });

  it.each([
    [PNG, { fileName: 'photo' }, 'photo.png'],
    [PNG, { fileName: 'photo', mimeType: 'application/pdf' }, 'photo.png'],
    [Buffer.from('%PDF-1.4\n'), { fileName: '15bb57a1' }, '15bb57a1.pdf'],
    [Buffer.from('a;b'), { fileName: 'table', mimeType: 'text/csv' }, 'table.csv'],
    [Buffer.from([0xfe, 0xff, 0]), { fileName: 'data', mimeType: 'application/pdf' }, 'data.pdf'],
    [Buffer.from([0xfe, 0xff, 0]), { fileName: 'data' }, 'data'],
    [PNG, { fileName: 'scan.001' }, 'scan.001'],
    [PNG, {}, undefined],
  ])('has an ending where its type is known (%#)', async (content, claims, fileName) => {
    const taken = await intake.takeStream([content], claims);
    await taken.dispose();
    expect(taken.fileName).toBe(fileName);
  });

  it('requires mime_type where bare base64 does not show its type', async () => {
    const noise = Buffer.from([1, 2, 0, 4, 5, 6, 0xff, 8]).toString('base64');
    await expect(taking(noise)).rejects.toMatchObject({ status: 400, details: expect.stringMatching(/^mime_type: /) });
    expect(await taking(noise, { mimeType: 'application/x-own' })).toMatchObject({ mimeType: 'application/x-own' });
    expect(await taking(PNG.toString('base64'))).toMatchObject({ mimeType: 'image/png' });
  });

  it('is never empty', async () => {
    await expect(intake.takeStream([], { field: 'icon' })).rejects.toMatchObject({
      status: 400,
      details: 'icon: is empty',
    });
  });

  it('leaves nothing behind when the sender breaks off or the caller gives up', async () => {
    const broken = Readable.from(
      (function* () {
        yield PNG;
        throw new Error('sender broke off');
      })(),
    );
    await expect(intake.takeStream(broken)).rejects.toThrow('sender broke off');
    await expect(
      intake.takeStream(counted(9_000).source, { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
  });
});

describe('by URL', () => {
  let server: Server;
  let sent = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const size = Number(request.url?.split('/')[1]);
      response.setHeader('content-type', 'application/octet-stream');
      if (request.url?.endsWith('announced.png')) response.setHeader('content-length', size);
      const { source, read } = counted(size);
      source.pipe(response);
      response.once('close', () => {
        sent = read();
        source.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const url = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

  it('takes type from the content and name from the URL', async () => {
    expect(await taking(url('/5000/a%20b.png'), { kind: 'image' })).toMatchObject({
      mimeType: 'image/png',
      fileName: 'a b.png',
      size: 5_000,
    });
  });

  it('stops a file that is larger than allowed, announced or not', async () => {
    for (const name of ['announced.png', 'silent.png']) {
      await expect(taking(url(`/50000000/${name}`), { kind: 'image' })).rejects.toMatchObject({ status: 413 });
    }
    expect(sent).toBeLessThan(10_000_000);
  });
});

describe('Spool', () => {
  it('deletes at its start what a crash left, and nothing younger', async () => {
    const left = join(directory, 'left.part');
    const young = join(directory, 'young.part');
    await writeFile(left, 'x');
    await writeFile(young, 'x');
    const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1_000);
    await utimes(left, yesterday, yesterday);
    await Spool.open(directory);
    expect(await readdir(directory)).toEqual(['young.part']);
    await rm(young);
  });

  it('refuses with 503 what the disk has no room for, keeps nothing of it, and gives room back', async () => {
    const budget = new ByteBudget({ totalBytes: 10_000, refusal: 'too many files are on their way at once' });
    const small = await Spool.open(directory, Date.now, budget);
    const kept = await small.keep([Buffer.alloc(6_000)]);
    await expect(small.keep([Buffer.alloc(3_000), Buffer.alloc(3_000)])).rejects.toMatchObject({ status: 503 });
    expect(await readdir(directory)).toHaveLength(1);
    await kept.dispose();
    await kept.dispose();
    expect(budget.heldBytes).toBe(0);
    await (await small.keep([Buffer.alloc(10_000)])).dispose();
  });
});

describe('a text that arrives in pieces', () => {
  const base64 = PNG.toString('base64');
  async function* pieces(...texts: string[]): AsyncGenerator<string> {
    for (const text of texts) yield await Promise.resolve(text);
  }
  const takenFrom = async (texts: string[], options: TakeOptions = {}) => {
    const spooled = await intake.spoolText(pieces(...texts), options);
    if ('fault' in spooled) return spooled.fault;
    const taken = await intake.takeSpooled(spooled, options);
    const bytes = await readFile(taken.path);
    await taken.dispose();
    return { bytes, mimeType: taken.mimeType, fileName: taken.fileName };
  };

  it('is the file of its data: URI or base64, with its type and its name', async () => {
    const png = { bytes: PNG, mimeType: 'image/png' };
    expect(await takenFrom([base64.slice(0, 5), base64.slice(5)])).toMatchObject(png);
    const uri = `data:application/pdf;name=a%20b.png;base64,${base64}`;
    expect(await takenFrom([uri.slice(0, 60), uri.slice(60)])).toMatchObject({ ...png, fileName: 'a b.png' });
    expect(await takenFrom([uri], { fileName: 'own.png' })).toMatchObject({ ...png, fileName: 'own.png' });
    expect(await takenFrom(['data:text/csv;base64,', 'YSxi'])).toMatchObject({ mimeType: 'text/csv' });
  });

  it('is refused when it is none, after it was read to its end', async () => {
    expect(await takenFrom(['data:text/plain,hello', 'more'])).toBe('form');
    expect(await takenFrom([base64, '!', base64])).toBe('base64');
    expect(await takenFrom([base64, '=', base64])).toBe('base64');
    expect(await takenFrom(['QUJDQ'])).toBe('base64');
  });

  it('is held to the limit of its kind while it arrives, and of its content when it is taken', async () => {
    const zeros = Array.from({ length: 100 }, () => 'AAAA'.repeat(1_000));
    await expect(takenFrom(zeros, { kind: 'sticker' })).rejects.toMatchObject({ status: 413 });
    const image = Buffer.concat([PNG, Buffer.alloc(20_000)]).toString('base64');
    await expect(takenFrom([image])).rejects.toMatchObject({ status: 413, details: 'image: larger than 10000 bytes' });
  });

  it('needs its type to be given where the content does not show it', async () => {
    await expect(takenFrom(['AAECAwQFBgcICQ=='])).rejects.toMatchObject({
      details: expect.stringMatching(/^mime_type: /) as string,
    });
    expect(await takenFrom(['AAECAwQFBgcICQ=='], { mimeType: 'application/x-thing' })).toMatchObject({
      mimeType: 'application/x-thing',
    });
  });
});
