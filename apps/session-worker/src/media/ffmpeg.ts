/**
 * ffmpeg as a child process with bounds: on parallel runs, time, memory, and on the formats and protocols it may open (a
 * crafted playlist must not make it read other files or connect anywhere). It is killed after its timeout or when the
 * caller's signal is aborted; no process outlives its promise.
 */
import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { backgroundCommand } from './background-command.js';
import { FairQueue } from './fair-queue.js';
import { processorMsOf, startTimeout, type WorkTimeout } from './processor-timeout.js';

/** A run failed: ffmpeg cannot read the file or ran out of memory (`input`), or its time was over (`timeout`). */
export class FfmpegFailed extends Error {
  constructor(
    readonly reason: 'input' | 'timeout',
    /** The end of ffmpeg's standard error; for developers, not for customers. */
    readonly stderr: string,
  ) {
    super(`ffmpeg: ${reason}`);
    this.name = 'FfmpegFailed';
  }
}

export interface FfmpegOptions {
  path: string;
  /** Parallel processes. A channel's share is one; further slots are lent to it while no other channel needs them. */
  maxParallel?: number;
  /** Address space of one process. */
  memoryLimitMib?: number;
  /** Of a run that has no timeout of its own. */
  timeout?: WorkTimeout;
}

/** One run. */
export interface FfmpegRun {
  /** A path on disk. */
  input: string;
  /** Everything after the input; `pipe:1` is standard output. */
  output: readonly string[];
  /** 'info' logs a description of the input. */
  logLevel?: 'error' | 'info';
  /** Called at each start of the process, also after a restart; the returned function receives standard output in chunks. */
  readOutput?: () => (chunk: Buffer) => void;
  /** The channel that the run is for. */
  owner: string;
  /** Of a run whose result is optional: it ends then, however busy the machine is. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/** Demuxers that may be used: only self-contained files. No playlists, no concatenations, no devices. */
const FORMATS = [
  ...['aac', 'aiff', 'amr', 'amrnb', 'amrwb', 'ape', 'asf', 'au', 'avi', 'caf', 'flac', 'flv', 'gif', 'mp3', 'mpeg'],
  ...['mpegts', 'mpegvideo', 'h264', 'hevc', 'm4v', 'ogg', 'wav', 'w64', 'wv'],
  ...['matroska', 'webm', 'mov', 'mp4', 'm4a', '3gp', '3g2', 'mj2'],
].join(',');

/** A conversion is only refused for its own slowness, not for that of a busy machine. */
const RUN_TIMEOUT: WorkTimeout = { timeoutMs: 60_000, maxTimeoutMs: 80_000 };

/** How much of the end of standard error is kept, in characters. */
const STDERR_LENGTH = 16 * 1024;

export class Ffmpeg {
  readonly #queue: FairQueue;

  constructor(private readonly options: FfmpegOptions) {
    this.#queue = new FairQueue({ slots: options.maxParallel ?? 2, slotsPerOwner: 1 });
  }

  /**
   * Runs ffmpeg when a slot is free. A run on a lent slot may be killed and restarted.
   * @returns its standard error
   * @throws {FfmpegFailed} when it fails or exceeds its timeout; the signal's reason when that is aborted
   */
  async run(run: FfmpegRun): Promise<string> {
    return this.#queue.run(run.owner, (signal) => this.#run({ ...run, signal }), run.signal, { canRestart: true });
  }

  #run({ input, output, logLevel = 'error', readOutput, timeoutMs, signal }: FfmpegRun): Promise<string> {
    const { path, memoryLimitMib = 768, timeout = RUN_TIMEOUT } = this.options;
    // -y: a restarted run overwrites the output of the one that was killed.
    const args = ['-hide_banner', '-nostdin', '-y', '-loglevel', logLevel, '-threads', '1'];
    args.push('-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS);
    args.push('-i', `file:${input}`, ...output);
    return new Promise((resolve, reject) => {
      const child = spawn(...backgroundCommand('addressSpace', memoryLimitMib, [path, ...args]), {
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stderr = '';
      let timedOut = false;
      const kill = () => child.kill('SIGKILL');
      const endLate = (): void => {
        timedOut = true;
        kill();
      };
      const bound = timeoutMs === undefined ? timeout : { timeoutMs };
      const cancelTimeout = startTimeout(bound, endLate, () => processorMsOf(child.pid));
      signal?.addEventListener('abort', kill, { once: true });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(-STDERR_LENGTH);
      });
      const onOutput = readOutput?.();
      child.stdout.on('data', (chunk: Buffer) => onOutput?.(chunk));
      child.once('error', reject);
      child.once('close', (code) => {
        cancelTimeout();
        signal?.removeEventListener('abort', kill);
        if (signal?.aborted) reject(signal.reason as Error);
        else if (code === 0) resolve(stderr);
        else reject(new FfmpegFailed(timedOut ? 'timeout' : 'input', stderr));
      });
    });
  }
}

async function canRun(path: string): Promise<boolean> {
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
 * Finds ffmpeg: the configured one, else `ffmpeg` on the PATH, else the one in the optional package
 * `@ffmpeg-installer/ffmpeg` (an old build; production images install a maintained one).
 * @returns undefined when there is none
 * @throws when the configured one does not run
 */
export async function findFfmpeg(configured?: string): Promise<string | undefined> {
  if (configured !== undefined) {
    if (await canRun(configured)) return configured;
    throw new Error(`FFMPEG_PATH names ${configured}, which does not run`);
  }
  if (await canRun('ffmpeg')) return 'ffmpeg';
  const packaged = await packagedPath();
  return packaged !== undefined && (await canRun(packaged)) ? packaged : undefined;
}
