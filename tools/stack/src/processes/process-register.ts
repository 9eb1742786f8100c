/**
 * Guarantees that nothing this launcher started outlives it, however it ends: children are listed in a file in the
 * data folder, a small watchdog process notices when the launcher is gone (SIGKILL included) and stops them in order,
 * and the next start on the same folder stops what is left even then. One launcher per data folder at a time.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A process as the register file lists it; `startedAt` distinguishes a recycled process id from the original. */
interface RegisteredProcess {
  name: string;
  pid: number;
  startedAt: string;
  stopSignal: NodeJS.Signals;
  /** Others write to it: it ends after them. */
  isStore: boolean;
}

export interface ChildOptions extends SpawnOptions {
  /** The signal for a clean end: SIGINT for PostgreSQL, SIGTERM for everything else. */
  stopSignal?: NodeJS.Signals;
  /** Others write to it: among orphans it ends after them. */
  isStore?: boolean;
}

const ORPHAN_GRACE_MS = 7_000;
// A plain script of the build, also when this file runs from its source.
const WATCHDOG = fileURLToPath(new URL('../../dist/processes/watchdog.js', import.meta.url));

/** When the process began, as the operating system writes it; undefined if it is gone (or a zombie). */
export function processStartedAt(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  const listed = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return listed.stdout.trim() || undefined;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone already
  }
}

/** Signals the process and all it started: every registered child leads its own process group. */
export function signalGroup(pid: number, name: NodeJS.Signals): void {
  signal(-pid, name);
}

async function ended(entry: Pick<RegisteredProcess, 'pid' | 'startedAt'>, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (processStartedAt(entry.pid) === entry.startedAt) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return true;
}

function readEntries(file: string): RegisteredProcess[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RegisteredProcess[];
  } catch {
    return [];
  }
}

/** The processes of one data folder. */
export class ProcessRegister {
  readonly #file: string;
  readonly #lock: string;
  #entries: RegisteredProcess[] = [];
  #watchdog: ChildProcess | undefined;

  private constructor(readonly dataDir: string) {
    this.#file = join(dataDir, 'processes.json');
    this.#lock = join(dataDir, 'launcher.lock');
  }

  /**
   * Claims the data folder and stops what an earlier launcher left running in it.
   * @throws when another launcher is alive on this folder
   */
  static async open(dataDir: string): Promise<ProcessRegister> {
    mkdirSync(dataDir, { recursive: true });
    const register = new ProcessRegister(dataDir);
    register.#claim();
    await ProcessRegister.stopOrphans(dataDir);
    register.#save();
    register.#startWatchdog();
    return register;
  }

  /** The launcher that holds the folder, if one is alive. */
  static holder(dataDir: string): number | undefined {
    try {
      const holder = JSON.parse(readFileSync(join(dataDir, 'launcher.lock'), 'utf8')) as RegisteredProcess;
      return processStartedAt(holder.pid) === holder.startedAt ? holder.pid : undefined;
    } catch {
      return undefined;
    }
  }

  #claim(): void {
    const me = JSON.stringify({ pid: process.pid, startedAt: processStartedAt(process.pid) });
    for (;;) {
      try {
        writeFileSync(this.#lock, me, { flag: 'wx' });
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        const holder = ProcessRegister.holder(this.dataDir);
        if (holder !== undefined) {
          throw new Error(
            `Dormouse already runs on ${this.dataDir} (process ${holder}). Stop that one first, or choose another folder with --data.`,
            { cause: error },
          );
        }
        rmSync(this.#lock, { force: true });
      }
    }
  }

  /** Stops the registered processes of a folder that still run: the apps, then the stores they write to. */
  static async stopOrphans(dataDir: string): Promise<void> {
    const orphans = readEntries(join(dataDir, 'processes.json')).filter(
      (entry) => processStartedAt(entry.pid) === entry.startedAt,
    );
    const stop = async (orphan: RegisteredProcess): Promise<void> => {
      signal(orphan.pid, orphan.stopSignal);
      if (!(await ended(orphan, ORPHAN_GRACE_MS))) signalGroup(orphan.pid, 'SIGKILL');
    };
    await Promise.all(orphans.filter(({ isStore }) => !isStore).map(stop));
    await Promise.all(orphans.filter(({ isStore }) => isStore).map(stop));
  }

  /** The watchdog waits for the end of its standard input, which the system closes when this process is gone. */
  #startWatchdog(): void {
    const options: SpawnOptions = { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' };
    this.#watchdog = spawn(process.execPath, [WATCHDOG, this.dataDir], options);
    this.#watchdog.once('error', () => undefined);
    this.#watchdog.unref();
    if (this.#watchdog.stdin instanceof Socket) this.#watchdog.stdin.unref();
  }

  #save(): void {
    const beside = `${this.#file}.new`;
    writeFileSync(beside, JSON.stringify(this.#entries, undefined, 2));
    renameSync(beside, this.#file);
  }

  /**
   * Starts a child in its own process group, so that a Ctrl-C in the terminal reaches only the launcher and the
   * launcher can end its children in order.
   * @throws when the command cannot be started
   */
  spawn(name: string, command: string, args: readonly string[], options: ChildOptions): ChildProcess & { pid: number } {
    const { stopSignal = 'SIGTERM', isStore = false, ...spawnOptions } = options;
    const child = spawn(command, args, { ...spawnOptions, detached: true });
    const pid = child.pid;
    if (pid === undefined) {
      child.once('error', () => undefined);
      throw new Error(`${name} cannot be started: ${command}`);
    }
    const entry = { name, pid, startedAt: processStartedAt(pid) ?? '', stopSignal, isStore };
    this.#entries.push(entry);
    this.#save();
    child.once('exit', () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
      this.#save();
    });
    return Object.assign(child, { pid });
  }

  /** Gives the data folder back. Call when every child has ended. */
  close(): void {
    rmSync(this.#lock, { force: true });
    this.#watchdog?.stdin?.end();
  }
}

/** Signals a child to end; after the grace its whole group is killed. Resolves when it is gone. */
export async function stopChild(child: ChildProcess, stopSignal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const pid = child.pid;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs);
  signal(pid, stopSignal);
  await gone;
  clearTimeout(timer);
}
