/** Films: the first picture, the size and the length. The film itself is never touched. */
import type { SpooledFile } from '@dormouse/media-files';
import { type Ffmpeg, FfmpegFailed } from './ffmpeg.js';
import { FileRefused } from './file-refused.js';
import type { Images, ImageTerms } from './images.js';
import { unusable, type PreparedFile } from './prepared-file.js';

/** One frame takes no longer; a film that is not read by then is sent without what it would tell. */
const FRAME_TIMEOUT_MS = 20_000;
/** A JPEG of one frame is smaller, whatever the film; more is not kept. */
const LARGEST_FRAME_BYTES = 16 * 1024 * 1024;

/** The length ffmpeg states of its first input, in seconds; undefined where it does not know (`N/A`). */
export function secondsSaid(said: string): number | undefined {
  const length = /Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(said);
  if (!length) return undefined;
  const seconds = Number(length[1]) * 3_600 + Number(length[2]) * 60 + Number(length[3]);
  return seconds > 0 ? seconds : undefined;
}

/**
 * A video message's file: passes unchanged, with thumbnail, length and size as it is shown (rotation included).
 * @param ffmpeg absent on machines without one: the message has none of these then
 * @throws {GatewayError} 400 when there is no picture in it that can be decoded
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
  let said: string;
  try {
    said = await ffmpeg.run({
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
  const seconds = secondsSaid(said);
  const shown = await thumbnailOfFrame(images, Buffer.concat(frame), { owner, signal });
  return {
    file: source,
    facts: { mimeType, ...shown, ...(seconds !== undefined && { seconds: Math.max(1, Math.round(seconds)) }) },
  };
}

/** A film whose first picture cannot be made small in time is sent without. */
async function thumbnailOfFrame(images: Images, frame: Buffer, terms: ImageTerms) {
  try {
    return await images.thumbnailOf(frame, { ...terms, small: false });
  } catch (error) {
    if (error instanceof FileRefused) return {};
    throw error;
  }
}
