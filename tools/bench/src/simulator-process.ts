/** The simulated network as a process of its own, so that its memory and processor time are apart from those of its clients. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const SIMULATOR = join(import.meta.dirname, '..', '..', '..', 'apps', 'network-simulator', 'dist', 'main.js');
const STARTED_WITHIN_MS = 30_000;
const KILLED_AFTER_MS = 3_000;

/** Memory now and processor time so far. */
export interface Usage {
  rssBytes: number;
  heapBytes: number;
  cpuMs: number;
}

/** Guarantee: the simulator ends with this process, however this one ends, because its standard input closes then. */
export class SimulatorProcess {
  private constructor(
    private readonly process: ChildProcess,
    private readonly control: string,
    readonly socketUrl: string,
  ) {}

  /** Starts a network in memory. */
  static async start(): Promise<SimulatorProcess> {
    const env = { PORT: '0', LOG_LEVEL: 'error', END_WITH_INPUT: 'true' };
    const child = spawn(process.execPath, ['--expose-gc', SIMULATOR], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const signal = AbortSignal.timeout(STARTED_WITHIN_MS);
    const [line] = (await once(createInterface({ input: child.stdout }), 'line', { signal })) as [string];
    const { listening } = JSON.parse(line) as { listening: { control: string; socketUrl: string } };
    return new SimulatorProcess(child, listening.control, listening.socketUrl);
  }

  /** Calls the control API. Throws with its sentence when it refuses. */
  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.control + path, { method, ...(body && { headers, body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** `collect` collects garbage first, which itself costs time. */
  usage(collect = false): Promise<Usage> {
    return this.call('GET', collect ? '/usage?collect=true' : '/usage');
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const gone = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    const kill = setTimeout(() => this.process.kill('SIGKILL'), KILLED_AFTER_MS);
    await gone;
    clearTimeout(kill);
  }
}
