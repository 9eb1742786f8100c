/** Sends of every kind, and the share of transcoding in them. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FILM, OPUS, picture, tone } from '@dormouse/stack/sample-files';
import type { Pool } from 'undici';
import { measure, type Summary } from './latencies.js';
import { printTable } from './table.js';
import type { LinkedChannel } from './world.js';

const SENDS = { total: 40, inFlight: 4 };
const TIMES = 3;
const SOUND_SECONDS = [10, 60, 300];
/** What the worker makes of a voice message: mono, 16 kHz, packets of 60 ms. */
const VOICE_ENCODING = [
  ...['-ac', '1', '-ar', '16000', '-c:a', 'libopus', '-b:a', '24k', '-vbr', 'on', '-application', 'voip'],
  ...['-frame_duration', '60', '-f', 'ogg'],
];

/** A customer's way to send: one channel, one connection pool. */
export interface Sender {
  pool: Pool;
  channel: LinkedChannel;
  to: string;
}

/** One send, until it is answered; fails on anything but 200. */
export async function send({ pool, channel, to }: Sender, kind: string, body: Record<string, unknown>): Promise<void> {
  const response = await pool.request({
    method: 'POST',
    path: `/messages/${kind}`,
    headers: { authorization: `Bearer ${channel.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to, ...body }),
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`${kind}: ${response.statusCode} ${text}`);
}

const dataUri = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`;

/** A box of an MP4 that players skip: makes equal films different. */
function freeBox(): Buffer {
  const box = Buffer.alloc(24);
  box.writeUInt32BE(box.length, 0);
  box.write('free', 4);
  randomBytes(16).copy(box, 8);
  return box;
}

const freshFilm = () => Buffer.concat([FILM.bytes, freeBox()]);
const known = dataUri(OPUS.type, OPUS.bytes);
const VCARD = 'BEGIN:VCARD\nVERSION:3.0\nFN:Carl Card\nTEL;waid=15550007777:+1 555 000 7777\nEND:VCARD';

/** What is sent of each kind. Files have content of their own each time, so that all of it is done every time. */
function kinds(pageUrl: string): [label: string, kind: string, body: (turn: number) => Record<string, unknown>][] {
  return [
    ['text', 'text', (turn) => ({ body: `text ${turn}` })],
    ['text with a link, page known', 'text', (turn) => ({ body: `see ${pageUrl}/shop ${turn}` })],
    ['location', 'location', (turn) => ({ latitude: turn / 100, longitude: 1, name: 'Harbour' })],
    ['contact', 'contact', () => ({ name: 'Carl Card', vcard: VCARD })],
    ['poll', 'poll', (turn) => ({ title: `Lunch ${turn}?`, options: ['Noodles', 'Rice'], count: 1 })],
    ['link_preview, page known', 'link_preview', () => ({ body: `see ${pageUrl}/shop`, title: 'The shop' })],
    ['image, 640 x 480 PNG', 'image', (turn) => ({ media: dataUri('image/png', picture(640 + turn, 480).bytes) })],
    ['video, 1 s', 'video', () => ({ media: dataUri('video/mp4', freshFilm()) })],
    ['audio, 1 s', 'audio', () => ({ media: dataUri('audio/mp4', freshFilm()) })],
    ['voice, 10 s WAV', 'voice', (turn) => ({ media: dataUri('audio/wav', tone(10, 300 + turn).bytes) })],
    ['document, 100 kB', 'document', () => ({ media: dataUri('application/octet-stream', randomBytes(100_000)) })],
    ['sticker, 200 x 200 PNG', 'sticker', (turn) => ({ media: dataUri('image/png', picture(200 + turn, 200).bytes) })],
    ['voice, Opus, the same again', 'voice', () => ({ media: known })],
  ];
}

async function withPage<T>(use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<html><head><title>The shop</title><meta name="description" content="All things"></head></html>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Prints how many sends of each kind one number makes. */
export async function sendsPerSecond(sender: Sender): Promise<void> {
  const rows: [string, Summary][] = [];
  await withPage(async (pageUrl) => {
    for (const [label, kind, body] of kinds(pageUrl)) {
      console.error(`${SENDS.total} of ${label} ...`);
      // Made before, so that making them is not measured.
      const bodies = Array.from({ length: SENDS.total }, (_, turn) => body(turn + 1));
      await send(sender, kind, body(0));
      rows.push([label, await measure((index) => send(sender, kind, bodies[index] ?? {}), SENDS)]);
    }
  });
  console.log(`\nSends through POST /messages/<kind>, ${SENDS.inFlight} at once on one number`);
  printTable([
    ['kind', 'sends', 'p50 ms', 'p95 ms', 'per second'],
    ...rows.map(([kind, { count, p50Ms, p95Ms, perSecond }]) => [
      kind,
      String(count),
      p50Ms.toFixed(0),
      p95Ms.toFixed(0),
      perSecond.toFixed(1),
    ]),
  ]);
}

async function medianMs(work: (time: number) => Promise<unknown>): Promise<number> {
  const tookMs: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const startedAt = performance.now();
    await work(time);
    tookMs.push(performance.now() - startedAt);
  }
  return tookMs.sort((a, b) => a - b)[Math.floor(TIMES / 2)] ?? Number.NaN;
}

/** The ffmpeg that the worker uses: the one on the PATH, else the optional package's. */
async function ffmpegPath(): Promise<string> {
  const onPath = await promisify(execFile)('ffmpeg', ['-version']).then(
    () => true,
    () => false,
  );
  return onPath ? 'ffmpeg' : (await import('@ffmpeg-installer/ffmpeg')).default.path;
}

/** Prints the time of ffmpeg alone for a voice message, beside the whole send of it. */
export async function transcodingTime(sender: Sender): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'dormouse-bench-sounds-'));
  const rows: string[][] = [];
  const ffmpeg = await ffmpegPath();
  try {
    for (const seconds of SOUND_SECONDS) {
      console.error(`Voice of ${seconds} s ...`);
      const [input, output] = [join(directory, 'in.wav'), join(directory, 'out.ogg')];
      await writeFile(input, tone(seconds, 450).bytes);
      const args = ['-nostdin', '-y', '-loglevel', 'error', '-threads', '1', '-i', input, ...VOICE_ENCODING, output];
      const aloneMs = await medianMs(() => promisify(execFile)(ffmpeg, args));
      const bodies = Array.from({ length: TIMES }, (_, time) => dataUri('audio/wav', tone(seconds, 500 + time).bytes));
      const sendMs = await medianMs((time) => send(sender, 'voice', { media: bodies[time] }));
      rows.push([`${seconds} s`, aloneMs.toFixed(0), sendMs.toFixed(0), (aloneMs / seconds).toFixed(1)]);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  console.log('\nVoice from WAV: ffmpeg alone, and POST /messages/voice (stored, transcoded, measured, acknowledged)');
  printTable([['length', 'ffmpeg ms', 'send ms', 'ffmpeg ms per s'], ...rows]);
}
