/**
 * ffmpeg as a child process, within bounds: how many at once, how long, how much memory, and which kinds of file and
 * protocol it may open (a crafted playlist must not make it read other files or call out). It is killed when its time
 * is over or the caller gives up; nothing of it survives its promise.
 */
import { execFile, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { promisify } from 'node:util';
import { FairQueue } from './fair-queue.js';

/** ffmpeg did not do it: the file is none it can read, or it ran out of time or memory. */
export class FfmpegFailed extends Error {
  constructor(
    readonly reason: 'input' | 'timeout',
    /** The end of what ffmpeg said; for logs of a developer, not for customers. */
    readonly said: string,
  ) {
    super(`ffmpeg: ${reason}`);
    this.name = 'FfmpegFailed';
  }
}

export interface FfmpegOptions {
  path: string;
  /** Processes at a time; one of them is each channel's share, and what others do not need. */
  maxParallel?: number;
  /** Address space of one process. */
  memoryLimitMib?: number;
  timeoutMs?: number;
}

/** One run. */
export interface FfmpegRun {
  /** A path on disk. */
  input: string;
  /** Everything after the input; `pipe:1` is standard output. */
  output: readonly string[];
  /** How much it tells: 'info' describes the input. */
  logLevel?: 'error' | 'info';
  /** Called at each start; what it returns is given standard output, piece by piece. */
  readOutput?: () => (chunk: Buffer) => void;
  /** The channel it is done for. */
  owner: string;
  /** Where it may take less time than others. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/** Below the worker's own threads: sends and sockets come first. */
const BELOW_THE_WORKER = 5;

/** Demuxers that may be used: files that hold their own content. No playlists, no concatenations, no devices. */
const FORMATS = [
  ...['aac', 'aiff', 'amr', 'amrnb', 'amrwb', 'ape', 'asf', 'au', 'avi', 'caf', 'flac', 'flv', 'gif', 'mp3', 'mpeg'],
  ...['mpegts', 'mpegvideo', 'h264', 'hevc', 'm4v', 'ogg', 'wav', 'w64', 'wv'],
  ...['matroska', 'webm', 'mov', 'mp4', 'm4a', '3gp', '3g2', 'mj2'],
].join(',');

const SAID_BYTES = 16 * 1024;

export class Ffmpeg {
  readonly #queue: FairQueue;

  constructor(private readonly options: FfmpegOptions) {
    this.#queue = new FairQueue({ slots: options.maxParallel ?? 2, slotsPerOwner: 1 });
  }

  /**
   * Runs it once.
   * @returns what it said on standard error
   * @throws {FfmpegFailed} when it fails or takes too long; the signal's reason when the caller gives up
   */
  async run(run: FfmpegRun): Promise<string> {
    return this.#queue.run(run.owner, (signal) => this.#run({ ...run, signal }), run.signal, { canRestart: true });
  }

  #run({ input, output, logLevel = 'error', readOutput, timeoutMs = Infinity, signal }: FfmpegRun): Promise<string> {
    const { path, memoryLimitMib = 768, timeoutMs: mostMs = 60_000 } = this.options;
    // A run that was stopped and has its turn again overwrites what it left.
    const args = ['-hide_banner', '-nostdin', '-y', '-loglevel', logLevel, '-threads', '1'];
    args.push('-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS);
    args.push('-i', `file:${input}`, ...output);
    // The shell only lowers the limit of address space (where the system has one) and becomes ffmpeg.
    const limited = ['-c', 'ulimit -v "$0" 2>/dev/null; exec "$@"', String(memoryLimitMib * 1024), path, ...args];
    return new Promise((resolve, reject) => {
      const child = spawn('/bin/sh', limited, {
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      if (child.pid !== undefined) lowerPriority(child.pid);
      let said = '';
      let timedOut = false;
      const kill = () => child.kill('SIGKILL');
      const timer = setTimeout(
        () => {
          timedOut = true;
          kill();
        },
        Math.min(timeoutMs, mostMs),
      );
      signal?.addEventListener('abort', kill, { once: true });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-SAID_BYTES);
      });
      const onOutput = readOutput?.();
      child.stdout.on('data', (chunk: Buffer) => onOutput?.(chunk));
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', kill);
        if (signal?.aborted) reject(signal.reason as Error);
        else if (code === 0) resolve(said);
        else reject(new FfmpegFailed(timedOut ? 'timeout' : 'input', said));
      });
    });
  }
}

/** A process that has ended already needs none. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, BELOW_THE_WORKER);
  } catch {
    // Ended, or the system does not allow it: it runs as it is.
  }
}

async function answers(path: string): Promise<boolean> {
  try {
    await promisify(execFile)(path, ['-version'], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

async function packagedPath(): Promise<string | undefined> {
  try {
    const { default: installer } = await import('@ffmpeg-installer/ffmpeg');
    return installer.path;
  } catch {
    return undefined;
  }
}

/**
 * Finds ffmpeg: the configured one, else `ffmpeg` on the PATH, else the one of the optional package
 * `@ffmpeg-installer/ffmpeg` (an old build; production images bring a maintained one).
 * @returns undefined when there is none
 * @throws when the configured one does not run
 */
export async function findFfmpeg(configured?: string): Promise<string | undefined> {
  if (configured !== undefined) {
    if (await answers(configured)) return configured;
    throw new Error(`FFMPEG_PATH names ${configured}, which does not run`);
  }
  if (await answers('ffmpeg')) return 'ffmpeg';
  const packaged = await packagedPath();
  return packaged !== undefined && (await answers(packaged)) ? packaged : undefined;
}
