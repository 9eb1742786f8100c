import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT_FOLDER } from '../app-names.js';
import { ProcessRegister, processStartedAt } from '../processes/process-register.js';
import { postgresDataFolder } from '../stores/postgres.js';

interface Started {
  pid: number;
  startedAt: string;
}

let dir: string;
let npm: ChildProcess;

/** What the launcher on the folder has started and what is alive of it, the launcher itself included. */
function alive(): Started[] {
  let started: Started[] = [];
  try {
    started = JSON.parse(readFileSync(join(dir, 'processes.json'), 'utf8')) as Started[];
  } catch {
    // nothing is started yet
  }
  const launcher = ProcessRegister.holder(dir);
  const running = started.filter(({ pid, startedAt }) => processStartedAt(pid) === startedAt);
  return launcher === undefined ? running : [...running, { pid: launcher, startedAt: '' }];
}

/** What is kept in the folder for everybody to read. */
function readableByOthers(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
  return [folder, ...paths].filter((path) => (lstatSync(path).mode & 0o077) !== 0 && !lstatSync(path).isSymbolicLink());
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((wake) => setTimeout(wake, 20));
}

/** `npm start`, as somebody who has only the id of its process runs it. */
function npmStart(): { ready: Promise<void>; ended: Promise<unknown[]> } {
  npm = spawn('npm', ['start', '--', '--data', dir], { cwd: ROOT_FOLDER, stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = npm.stdout ? createInterface({ input: npm.stdout }) : undefined;
  const ready = new Promise<void>((resolve) => lines?.on('line', (line) => line.includes('is ready') && resolve()));
  return { ready, ended: once(npm, 'exit') };
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'launch-signals-'));
  chmodSync(dir, 0o755); // as earlier versions left it
});

afterEach(async () => {
  npm.kill('SIGKILL');
  await ProcessRegister.stopOrphans(dir);
  rmSync(postgresDataFolder(join(dir, 'postgres')), { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
});

describe('npm start', () => {
  it('ends everything on a SIGTERM to its own process, stores last, and exits with 0', async () => {
    const { ready, ended } = npmStart();
    await ready;
    expect(alive().length).toBeGreaterThan(5);
    expect(readableByOthers(dir)).toEqual([]);
    npm.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(alive()).toEqual([]);
  }, 120_000);

  it('does not wait for the end of its start on a SIGTERM, and leaves nothing behind', async () => {
    const { ended } = npmStart();
    await until(() => alive().length > 1);
    npm.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
    await until(() => alive().length === 0);
  }, 120_000);

  it('leaves nothing behind when its own process is killed in the middle of the start', async () => {
    const { ended } = npmStart();
    await until(() => alive().length > 1);
    npm.kill('SIGKILL');
    await ended;
    await until(() => alive().length === 0);
  }, 120_000);
});
