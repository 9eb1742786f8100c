/** Videos: thumbnail of the first frame, size and length. The file itself is never changed. */
import type { SpooledFile } from '@dormouse/media-files';
import { type Ffmpeg, FfmpegFailed } from './ffmpeg.js';
import { FileRefused } from './file-refused.js';
import type { Images, ImageTerms } from './images.js';
import { unusable, type PreparedFile } from './prepared-file.js';

/** Timeout for reading the first frame. A video that takes longer is sent without thumbnail, size and length. */
const FRAME_TIMEOUT_MS = 20_000;
/** Bound of the frame's JPEG; further output is dropped. */
const LARGEST_FRAME_BYTES = 16 * 1024 * 1024;

/**
 * Reads the length of the first input from ffmpeg's log.
 * @param log standard error of a run with log level `info`
 * @returns seconds; undefined where ffmpeg does not know the length (`N/A`)
 */
export function secondsInLog(log: string): number | undefined {
  const length = /Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(log);
  if (!length) return undefined;
  const seconds = Number(length[1]) * 3_600 + Number(length[2]) * 60 + Number(length[3]);
  return seconds > 0 ? seconds : undefined;
}

/**
 * Prepares the file of a video message: the file itself, with thumbnail, length, and size after rotation.
 * @param ffmpeg absent on machines without ffmpeg; the message then has none of these facts
 * @throws {GatewayError} 400 when it has no video frame that can be decoded
 */
export async function prepareVideo(
  source: SpooledFile,
  options: {
    ffmpeg: Ffmpeg | undefined;
    images: Images;
    mimeType: string;
    owner: string;
    signal?: AbortSignal | undefined;
  },
): Promise<PreparedFile> {
  const { ffmpeg, images, mimeType, owner, signal } = options;
  if (!mimeType.startsWith('video/')) throw unusable(`is not a video (${mimeType})`);
  if (!ffmpeg) return { file: source, facts: { mimeType } };
  let frame: Buffer[] = [];
  const readOutput = () => {
    let bytes = 0;
    frame = [];
    return (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= LARGEST_FRAME_BYTES) frame.push(chunk);
    };
  };
  const output = ['-map', '0:v:0', '-frames:v', '1', '-c:v', 'mjpeg', '-q:v', '4', '-f', 'image2pipe', 'pipe:1'];
  let log: string;
  try {
    log = await ffmpeg.run({
      input: source.path,
      output,
      logLevel: 'info',
      readOutput,
      owner,
      timeoutMs: FRAME_TIMEOUT_MS,
      signal,
    });
  } catch (error) {
    if (!(error instanceof FfmpegFailed)) throw error;
    if (error.reason === 'timeout') return { file: source, facts: { mimeType } };
    throw unusable('is not a video that can be played', error);
  }
  if (frame.length === 0) throw unusable('is a video without pictures');
  const seconds = secondsInLog(log);
  const shown = await thumbnailOfFrame(images, Buffer.concat(frame), { owner, signal });
  return {
    file: source,
    facts: { mimeType, ...shown, ...(seconds !== undefined && { seconds: Math.max(1, Math.round(seconds)) }) },
  };
}

/** A video whose first frame cannot be scaled within the bounds is sent without thumbnail. */
async function thumbnailOfFrame(images: Images, frame: Buffer, terms: ImageTerms) {
  try {
    return await images.thumbnailOf(frame, { ...terms, small: false });
  } catch (error) {
    if (error instanceof FileRefused) return {};
    throw error;
  }
}
