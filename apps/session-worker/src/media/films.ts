/** Films: the first picture, the size and the length. The film itself is never touched. */
import type { SpooledFile } from '@dormouse/media-files';
import { type Ffmpeg, FfmpegFailed } from './ffmpeg.js';
import { thumbnailOf } from './pictures.js';
import { unusable, type PreparedFile } from './prepared-file.js';

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
  options: { ffmpeg: Ffmpeg | undefined; mimeType: string; signal?: AbortSignal | undefined },
): Promise<PreparedFile> {
  const { ffmpeg, mimeType, signal } = options;
  if (!mimeType.startsWith('video/')) throw unusable(`is not a video (${mimeType})`);
  if (!ffmpeg) return { file: source, facts: { mimeType } };
  const frame: Buffer[] = [];
  let bytes = 0;
  const onOutput = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= LARGEST_FRAME_BYTES) frame.push(chunk);
  };
  const output = ['-map', '0:v:0', '-frames:v', '1', '-c:v', 'mjpeg', '-q:v', '4', '-f', 'image2pipe', 'pipe:1'];
  let said: string;
  try {
    said = await ffmpeg.run({ input: source.path, output, logLevel: 'info', onOutput, signal });
  } catch (error) {
    if (error instanceof FfmpegFailed) throw unusable('is not a video that can be played', error);
    throw error;
  }
  if (frame.length === 0) throw unusable('is a video without pictures');
  const seconds = secondsSaid(said);
  const shown = await thumbnailOf(Buffer.concat(frame));
  return {
    file: source,
    facts: { mimeType, ...shown, ...(seconds !== undefined && { seconds: Math.max(1, Math.round(seconds)) }) },
  };
}
