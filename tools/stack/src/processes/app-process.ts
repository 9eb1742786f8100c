import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ROOT_FOLDER } from '../app-names.js';
import type { LogSink } from './log-lines.js';
import { type ProcessRegister, stopChild } from './process-register.js';

export interface AppProcessOptions {
  register: ProcessRegister;
  /** Shown before its log lines: the app's name, numbered if there are several. */
  label: string;
  /** Path of the script. */
  entry: string;
  env: NodeJS.ProcessEnv;
  logs: LogSink;
  /** Resolves the start: an address that answers 2xx once the app is ready, or a test of a line on standard output. */
  ready: { url: string } | { line: (text: string) => boolean };
  /** Places in logged stacks are those of the sources; reading the maps makes each start slower. */
  sourceMaps: boolean;
  /** Start it again, later each time, if it ends by itself. */
  restartCrashed: boolean;
}

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 60;
const RECENT_LINES = 20;
const FIRST_RESTART_MS = 500;
const LONGEST_RESTART_MS = 30_000;
/** An app that ran this long starts again without delay having grown. */
const SETTLED_MS = 60_000;

/** One app as a child process: started, watched, restarted after a crash, ended. */
export class AppProcess {
  #child: (ChildProcess & { pid: number }) | undefined;
  /** True while the process is meant to run; an end meanwhile is a crash. */
  #isWanted = false;
  #recent: string[] = [];
  #crashes = 0;
  #restart: NodeJS.Timeout | undefined;

  constructor(readonly options: AppProcessOptions) {}

  /** Undefined while it does not run. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Where it answers, if that was known before it was started. */
  get origin(): string | undefined {
    const { ready } = this.options;
    return 'url' in ready ? new URL(ready.url).origin : undefined;
  }

  /**
   * Starts the process and waits until it is ready.
   * @throws with its last lines when it ends or is not ready within a minute
   */
  async start(): Promise<void> {
    const child = this.#spawn();
    try {
      await this.#untilReady(child);
      this.#isWanted = true; // from here on an end is a crash, before it was a failed start
    } catch (error) {
      await stopChild(child, 'SIGTERM', 1_000);
      throw error;
    }
  }

  #spawn(): ChildProcess & { pid: number } {
    const { register, label, entry, env, sourceMaps } = this.options;
    const startedAtMs = Date.now();
    const child = register.spawn(label, process.execPath, [...(sourceMaps ? ['--enable-source-maps'] : []), entry], {
      cwd: ROOT_FOLDER,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#recent = [];
    this.#readLines(child.stdout);
    this.#readLines(child.stderr);
    child.once('exit', (code, signal) => {
      if (this.#child === child) this.#child = undefined;
      if (this.#isWanted) this.#crashed(signal ?? `code ${code}`, Date.now() - startedAtMs);
    });
    return child;
  }

  #readLines(stream: Readable | null): void {
    if (!stream) return;
    createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
      this.#recent = [...this.#recent.slice(1 - RECENT_LINES), line];
      this.options.logs.line(this.options.label, line);
    });
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    const { label, ready } = this.options;
    const deadline = Date.now() + READY_TIMEOUT_MS;
    for (;;) {
      // Before looking at whether it ended: what answers on the address must be this process.
      const isReady = 'url' in ready ? await answers(ready.url) : this.#recent.some(ready.line);
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(
          `${label} ended while starting (${child.signalCode ?? `code ${child.exitCode}`}):\n${this.#recent.join('\n')}`,
        );
      }
      if (isReady) return;
      if (Date.now() > deadline) {
        throw new Error(`${label} is not ready after ${READY_TIMEOUT_MS / 1000} s:\n${this.#recent.join('\n')}`);
      }
      await new Promise((wake) => setTimeout(wake, READY_POLL_MS));
    }
  }

  #crashed(how: string, ranMs: number): void {
    const { label, logs, restartCrashed } = this.options;
    if (!restartCrashed) {
      logs.notice(`${label} ended by itself (${how}).`);
      this.#isWanted = false;
      return;
    }
    this.#crashes = ranMs > SETTLED_MS ? 1 : this.#crashes + 1;
    const delayMs = Math.min(FIRST_RESTART_MS * 2 ** (this.#crashes - 1), LONGEST_RESTART_MS);
    logs.notice(`${label} ended by itself (${how}); starting it again in ${delayMs / 1000} s.`);
    this.#restart = setTimeout(() => {
      if (this.#isWanted) this.#spawn();
    }, delayMs);
  }

  /** Asks the app to end; after the grace it is killed. Resolves when it is gone. */
  async stop(graceMs: number): Promise<void> {
    this.#isWanted = false;
    clearTimeout(this.#restart);
    if (this.#child) await stopChild(this.#child, 'SIGTERM', graceMs);
  }

  /** Sends the signal and waits for the end; it does not start again by itself. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (!child) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    await gone;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
