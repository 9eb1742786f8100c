/**
 * A Redis of our own on the loopback address. There is no usable Redis binary on npm, so the server comes from the
 * PATH, and if there is none it is installed by the system's package manager where that needs no password.
 *
 * Nothing is written to disk: what goes through Redis (calls in flight, with message texts) need not survive it.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inheritedEnvironment } from '../config.js';
import { choosePort } from '../processes/free-port.js';
import { type ProcessRegister, stopChild } from '../processes/process-register.js';
import { redisAnswers } from './redis-wire.js';

export interface RedisOptions {
  register: ProcessRegister;
  /** Folder of this server's data and log, made if missing. */
  dir: string;
  ports?: (number | undefined)[];
  /** Of the account that may do everything. Absent: none is required. For tests. */
  password?: string;
  /** Further accounts: lines of redis.conf. */
  users?: string;
  /** Path of the server if it is not on the PATH. */
  binary?: string;
  /** How many logical databases; tests claim one each. */
  databases?: number;
  /** Receives what is being installed. */
  log: (message: string) => void;
}

export interface RedisServer {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const START_TIMEOUT_MS = 15_000;
const HELP =
  'Redis is needed and could not be installed here: install redis-server or valkey-server (Debian: apt-get install redis-server, macOS: brew install redis), or set REDIS_URL.';

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function findServer(preferred?: string): string | undefined {
  const candidates = [preferred, 'redis-server', 'valkey-server', '/opt/homebrew/bin/redis-server'];
  return candidates.find((candidate) => candidate !== undefined && works(candidate, '--version'));
}

function run(command: string, args: string[]): void {
  // Output goes to standard error: standard output may be read by a program.
  spawnSync(command, args, {
    stdio: ['ignore', 2, 2],
    env: { ...inheritedEnvironment(), DEBIAN_FRONTEND: 'noninteractive' },
  });
}

function installServer(log: (message: string) => void): void {
  if (works('apt-get', '--version')) {
    const isRoot = process.getuid?.() === 0;
    if (!isRoot && !works('sudo', '-n', 'true')) return;
    log('Installing redis-server with apt-get');
    const [command, prefix] = isRoot ? ['apt-get', []] : ['sudo', ['-n', 'DEBIAN_FRONTEND=noninteractive', 'apt-get']];
    run(command, [...prefix, 'update', '-q']);
    run(command, [...prefix, 'install', '-q', '-y', '--no-install-recommends', 'redis-server']);
  } else if (works('brew', '--version')) {
    log('Installing redis with brew');
    run('brew', ['install', 'redis']);
  }
}

/**
 * The path of a Redis or Valkey server, installed if need be.
 * @throws a sentence with what to do
 */
export function redisBinary(options: Pick<RedisOptions, 'binary' | 'log'>): string {
  const found = findServer(options.binary);
  if (found !== undefined) return found;
  installServer(options.log);
  const installed = findServer();
  if (installed === undefined) throw new Error(HELP);
  return installed;
}

/** In a file, as a command line is seen by everybody on the machine. */
function writeConfiguration(options: RedisOptions, port: number, logFile: string): string {
  const settings: Record<string, string> = {
    port: String(port),
    bind: '127.0.0.1',
    dir: options.dir,
    daemonize: 'no',
    logfile: logFile,
    databases: String(options.databases ?? 16),
    // BullMQ's condition: a queue must never be evicted.
    'maxmemory-policy': 'noeviction',
    save: '',
    appendonly: 'no',
    ...(options.password === undefined ? {} : { requirepass: options.password }),
  };
  const file = join(options.dir, 'redis.conf');
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${JSON.stringify(value)}\n`);
  writeFileSync(file, lines.join('') + (options.users ?? ''), { mode: 0o600 });
  return file;
}

/**
 * Starts the server and waits until it answers.
 * @throws with the end of its log when it does not start
 */
export async function startRedis(options: RedisOptions): Promise<RedisServer> {
  const binary = redisBinary(options);
  mkdirSync(options.dir, { recursive: true });
  chmodSync(options.dir, 0o700);
  // Of earlier versions, which stored every command.
  for (const left of ['appendonlydir', 'dump.rdb']) rmSync(join(options.dir, left), { recursive: true, force: true });
  const logFile = join(options.dir, 'redis.log');
  for (let attempt = 1; attempt <= START_ATTEMPTS; attempt += 1) {
    const port = await choosePort(...(attempt === 1 ? (options.ports ?? []) : []));
    const child = options.register.spawn('redis', binary, [writeConfiguration(options, port, logFile)], {
      stdio: 'ignore',
      isStore: true,
    });
    const exited = new Promise<string>((resolve) => child.once('exit', (code, sig) => resolve(String(sig ?? code))));
    const url = `redis://${options.password === undefined ? '' : `:${options.password}@`}127.0.0.1:${port}`;
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
      if (await redisAnswers(url))
        return { pid: child.pid, port, url, exited, stop: () => stopChild(child, 'SIGTERM', 5_000) };
      await new Promise((wake) => setTimeout(wake, 25));
    }
    await stopChild(child, 'SIGTERM', 2_000);
  }
  throw new Error(`Redis did not start:\n${readFileSync(logFile, 'utf8').trim().split('\n').slice(-6).join('\n')}`);
}
