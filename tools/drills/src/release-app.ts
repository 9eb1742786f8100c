/** Apps of a release that are started with the settings of apps that run: what a rollout does with a new image. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { choosePort, type AppName } from '@dormouse/stack';
import { until } from './traffic.js';

const READY_WITHIN_MS = 60_000;
const ENDED_WITHIN_MS = 35_000;

/** The environment that a process was started with. */
async function environmentOf(pid: number): Promise<Record<string, string>> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8');
  return Object.fromEntries(
    text.split('\0').flatMap((line) => {
      const at = line.indexOf('=');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}

/** An app that runs: one of the launcher's, or one that replaced it. */
export interface RunningApp {
  readonly pid: number;
  /** Where it serves, if it does. */
  readonly url: string;
  /** Ends it as a rollout does. Resolves when it has ended. */
  end(): Promise<void>;
}

/** An app that the launcher started, and does not start again. */
export function launchedApp(pid: number, url: string): RunningApp {
  return { pid, url, end: () => endProcess(pid, () => isAlive(pid)) };
}

/**
 * Starts an app of a release beside one that runs, with the same settings but ports of its own.
 * @param folder of the release
 * @throws with its last lines when it does not become ready
 */
export async function startBeside(folder: string, app: AppName, running: RunningApp): Promise<RunningApp> {
  const [port, probePort] = [await choosePort(), await choosePort()];
  const env = { ...(await environmentOf(running.pid)), PORT: String(port), PROBE_PORT: String(probePort) };
  const child = spawn(process.execPath, [join(folder, 'apps', app, 'dist/main.js')], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${app} could not be started`);
  const lines = lastLines(child);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  await until(`${app} of ${folder} is ready`, READY_WITHIN_MS, async () => {
    if (hasEnded()) throw new Error(`${app} ended while starting:\n${lines.join('')}`);
    return fetch(`http://127.0.0.1:${probePort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  const url = `http://127.0.0.1:${port}`;
  return { pid, url, end: () => endProcess(pid, () => !hasEnded()) };
}

function lastLines(child: ChildProcess): string[] {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      lines.push(chunk.toString());
      if (lines.length > 20) lines.shift();
    });
  }
  return lines;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function endProcess(pid: number, isRunning: () => boolean): Promise<void> {
  if (!isRunning()) return;
  process.kill(pid, 'SIGTERM');
  await until(`process ${pid} ends`, ENDED_WITHIN_MS, () => !isRunning());
}
