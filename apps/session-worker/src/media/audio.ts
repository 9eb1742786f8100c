/** Audio: voice notes in the form that phones record and play, and audio files. */
import type { Spool, SpooledFile } from '@dormouse/media-files';
import { type Ffmpeg, FfmpegFailed } from './ffmpeg.js';
import { secondsInLog } from './video.js';
import { readOggOpus } from './ogg-opus.js';
import { unusable, type PreparedFile } from './prepared-file.js';
import { Waveform, WAVEFORM_PCM } from './waveform.js';

const OPUS_TYPE = 'audio/ogg; codecs=opus';
/** The encoding of the network's own clients: mono, 16 kHz, packets of 60 ms. iOS plays few other encodings. */
const VOICE_ENCODING = [
  ...['-map', '0:a:0', '-map_metadata', '-1', '-ac', '1', '-ar', '16000', '-c:a', 'libopus', '-b:a', '24k'],
  ...['-vbr', 'on', '-application', 'voip', '-frame_duration', '60', '-f', 'ogg'],
] as const;
const AUDIO_ENCODING = [
  ...['-map', '0:a:0', '-map_metadata', '-1', '-ac', '2', '-c:a', 'aac', '-b:a', '128k', '-movflags', '+faststart'],
  ...['-f', 'ipod'],
] as const;
/** Longer voice notes are sent without waveform, and so are files that take longer to measure: the waveform is optional. */
const MAX_MEASURED_S = 3_600;
const MEASURE_TIMEOUT_MS = 10_000;
/** Types that phones play without conversion. */
const PLAYABLE = new Set(['audio/mpeg', 'audio/mp4', 'audio/aac', 'audio/amr', 'audio/ogg', OPUS_TYPE]);

/** How an audio file is prepared. */
export interface AudioOptions {
  spool: Spool;
  /** Absent on machines without ffmpeg: nothing is transcoded or measured then. */
  ffmpeg: Ffmpeg | undefined;
  mimeType: string;
  /** Do not transcode. */
  asIs?: boolean;
  /** The channel that the file is prepared for. */
  owner: string;
  signal?: AbortSignal | undefined;
}

export function notDecodable(error: unknown, what: string): unknown {
  if (!(error instanceof FfmpegFailed)) return error;
  if (error.reason === 'input') return unusable(`is not ${what} that can be played`, error);
  return unusable('takes too long to convert: send a shorter file, or one that needs no conversion', error);
}

function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.round(seconds));
}

/**
 * The waveform of a file; undefined when it cannot be decoded within the bounds, which is no failure: the file is sent
 * without it.
 */
async function waveformOf(
  path: string,
  ffmpeg: Ffmpeg,
  { owner, signal }: AudioOptions,
): Promise<Uint8Array | undefined> {
  let waveform = new Waveform();
  const output = ['-map', '0:a:0', '-t', String(MAX_MEASURED_S), ...WAVEFORM_PCM, 'pipe:1'];
  const readOutput = () => {
    waveform = new Waveform();
    return (pcm: Buffer) => waveform.add(pcm);
  };
  try {
    await ffmpeg.run({ input: path, output, readOutput, owner, timeoutMs: MEASURE_TIMEOUT_MS, signal });
  } catch (error) {
    if (error instanceof FfmpegFailed) return undefined;
    throw error;
  }
  return waveform.bars();
}

/** Transcodes to Opus and computes the waveform in one run. */
async function transcodeVoice(source: SpooledFile, ffmpeg: Ffmpeg, { spool, owner, signal }: AudioOptions) {
  const path = spool.freshPath('ogg');
  let waveform = new Waveform();
  const readOutput = () => {
    waveform = new Waveform();
    return (pcm: Buffer) => waveform.add(pcm);
  };
  const output = [...VOICE_ENCODING, path, '-map', '0:a:0', ...WAVEFORM_PCM, 'pipe:1'];
  try {
    await ffmpeg.run({ input: source.path, output, readOutput, owner, signal });
    return { file: await spool.adopt(path), bars: waveform.bars() };
  } catch (error) {
    await spool.discard(path);
    throw notDecodable(error, 'a sound');
  }
}

function base64(bars: Uint8Array | undefined): { waveform?: string } {
  return bars ? { waveform: Buffer.from(bars).toString('base64') } : {};
}

/**
 * The file of a voice note: Opus in Ogg stays unchanged (detected by content, whatever type is claimed), other audio is
 * transcoded. Length and waveform are measured.
 * @throws {GatewayError} 400 when it has no audio that can be decoded
 */
export async function prepareVoice(source: SpooledFile, options: AudioOptions): Promise<PreparedFile> {
  const { ffmpeg } = options;
  const opus = await readOggOpus(source.path);
  if (opus) {
    const bars = ffmpeg && opus.seconds <= MAX_MEASURED_S ? await waveformOf(source.path, ffmpeg, options) : undefined;
    const facts = { mimeType: OPUS_TYPE, seconds: wholeSeconds(opus.seconds), ...base64(bars) };
    return { file: source, facts };
  }
  if (options.asIs) return prepareAudio(source, options);
  if (!ffmpeg) throw unusable('must be Opus in Ogg: this installation cannot transcode');
  const { file, bars } = await transcodeVoice(source, ffmpeg, options);
  const seconds = (await readOggOpus(file.path))?.seconds ?? 0;
  return { file, facts: { mimeType: OPUS_TYPE, seconds: wholeSeconds(seconds), ...base64(bars) } };
}

/**
 * The file of an audio message: types that phones play stay unchanged, other audio is transcoded to AAC.
 * @throws {GatewayError} 400 when it has no audio that can be decoded
 */
export async function prepareAudio(source: SpooledFile, options: AudioOptions): Promise<PreparedFile> {
  const { spool, ffmpeg, mimeType, owner, signal } = options;
  if (options.asIs || PLAYABLE.has(mimeType)) {
    const seconds = ffmpeg && (await audioSeconds(source.path, ffmpeg, options));
    return { file: source, facts: { mimeType, ...(seconds && { seconds: wholeSeconds(seconds) }) } };
  }
  if (!ffmpeg) throw unusable('must be MP3, AAC, AMR or Ogg: this installation cannot transcode');
  const path = spool.freshPath('m4a');
  try {
    const output = [...AUDIO_ENCODING, path];
    const log = await ffmpeg.run({ input: source.path, output, logLevel: 'info', owner, signal });
    const seconds = secondsInLog(log);
    const file = await spool.adopt(path);
    return { file, facts: { mimeType: 'audio/mp4', ...(seconds && { seconds: wholeSeconds(seconds) }) } };
  } catch (error) {
    await spool.discard(path);
    throw notDecodable(error, 'a sound');
  }
}

/** @throws {GatewayError} 400 when it has no audio, unless it is sent without conversion */
async function audioSeconds(path: string, ffmpeg: Ffmpeg, options: AudioOptions): Promise<number | undefined> {
  const { owner, signal } = options;
  const output = ['-map', '0:a:0', '-t', '0.1', '-f', 'null', '-'];
  const run = { input: path, output, logLevel: 'info', owner, timeoutMs: MEASURE_TIMEOUT_MS, signal } as const;
  try {
    return secondsInLog(await ffmpeg.run(run));
  } catch (error) {
    if (error instanceof FfmpegFailed && (options.asIs || error.reason === 'timeout')) return undefined;
    throw notDecodable(error, 'a sound');
  }
}
