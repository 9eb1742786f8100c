import { chmodSync, createWriteStream, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { appEnvironment, secondRegionSwitches, type NetworkAddress } from './app-environment.js';
import { appEntry, type AppName } from '../app-names.js';
import { AppProcess } from '../processes/app-process.js';
import { readEnvironment } from '../config.js';
import { ensureFirstAccount } from './first-account.js';
import { Installation } from './installation.js';
import { type LogSink, plainSink, prettySink } from '../processes/log-lines.js';
import { readLoginCode } from './login-code.js';
import { Ports } from './ports.js';
import { ProcessRegister } from '../processes/process-register.js';
import { SECOND_REGION, startSecondRegionStores } from './second-region.js';
import { postgresDataFolder } from '../stores/postgres.js';
import { startStores, type Stores } from '../stores/stores.js';

export type Switches = Record<string, string>;
export type AppSwitches = Partial<Record<AppName, Switches>>;
export type StoreAddresses = Pick<Stores, 'databases' | 'redisUrl' | 'objects'>;

export interface StackOptions {
  /** Folder of everything that is stored: data, secrets, ports. */
  dataDir: string;
  /** First of a fixed range of ports; default: those of the last start, or any free ones. */
  portBase?: number;
  /** Begins with an empty folder. */
  fresh?: boolean;
  /** How many session workers. */
  workers?: number;
  network: 'real' | 'simulator';
  /** True: stores do not wait for the disk, stacks in the log are of the built files, and an app that crashes stays down. For tests. */
  fast?: boolean;
  /** 'pretty': for people, on standard error. 'silent': into `stack.log` in the data folder. */
  logs: 'pretty' | 'silent' | Writable;
  /** More switches for single apps; a function receives where the stores are. */
  env?: AppSwitches | ((stores: StoreAddresses) => Promise<AppSwitches>);
  shardCount?: number;
  /** Also stores, a worker and an edge of a second region: for journeys through two regions. */
  secondRegion?: boolean;
}

/** A running Dormouse. */
export interface Stack {
  readonly urls: { edge: { sg: string; eu?: string }; controlPlane: string; simulator?: string };
  readonly databases: { global: string; sg: string };
  readonly redis: { sg: string };
  readonly objects: { sg: Stores['objects'] };
  readonly accountKey: string;
  /** Opens the fleet's part of the management API. */
  readonly operatorKey: string;
  /** Where each running process answers probes and metrics. */
  readonly probes: Record<AppName, string[]>;
  readonly installation: Installation;
  /** Process ids as they are now. */
  readonly processes: { 'session-worker': number[] } & Record<Exclude<AppName, 'session-worker'>, number | undefined>;
  /** Reads the QR code off the login image of a channel. */
  readLoginCode(token: string): Promise<string>;
  /** Starts one more session worker, with switches of its own, and waits until it is ready. @returns its process id */
  startWorker(switches?: Switches): Promise<number>;
  /** Sends the signal to a worker and waits for its end; it stays down. */
  killWorker(pid: number, signal: NodeJS.Signals): Promise<void>;
  killWorkers(signal: NodeJS.Signals): Promise<void>;
  /** Ends an app (every worker) cleanly and starts it again. */
  restart(app: AppName, options?: { whileDown?: () => Promise<void> }): Promise<void>;
  /** Ends everything, the stores last, within ten seconds. */
  stop(): Promise<void>;
}

/** An app that does not end in this time is killed; with the stores' time it stays below ten seconds. */
const APP_GRACE_MS = 6_000;

function openLogs(options: StackOptions): LogSink {
  if (options.logs === 'pretty') return prettySink(process.stderr);
  if (options.logs !== 'silent') return prettySink(options.logs);
  return plainSink(createWriteStream(join(options.dataDir, 'stack.log'), { flags: 'a' }));
}

function empty(dataDir: string): void {
  rmSync(postgresDataFolder(join(dataDir, 'postgres')), { recursive: true, force: true });
  for (const name of readdirSync(dataDir)) {
    if (name !== 'launcher.lock' && name !== 'processes.json')
      rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

/** What is stored is for the account that runs us alone: keys, messages, files. Children inherit the mask. */
function keepPrivate(dataDir: string): void {
  process.umask(0o077);
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  const log = join(dataDir, 'stack.log');
  if (existsSync(log)) chmodSync(log, 0o600);
}

function requireBuilt(apps: readonly AppName[]): void {
  const missing = apps.filter((app) => !existsSync(appEntry(app)));
  if (missing.length > 0) throw new Error(`Not built: ${missing.join(', ')}. Run npm run build first.`);
}

/**
 * Starts the whole of Dormouse on this machine: stores, migrations, first account, apps. Every part is ready when it
 * resolves.
 * @throws when a part does not start (with its last log lines), after the others were stopped
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const apps: AppName[] = ['control-plane', 'session-worker', 'webhook-dispatcher', 'edge-api'];
  requireBuilt(options.network === 'simulator' ? ['network-simulator', ...apps] : apps);
  keepPrivate(options.dataDir);
  const register = await ProcessRegister.open(options.dataDir);
  try {
    if (options.fresh) empty(options.dataDir);
    return await RunningStack.start(options, register);
  } catch (error) {
    register.close();
    throw error;
  }
}

class RunningStack implements Stack {
  readonly #single = new Map<AppName, AppProcess>();
  /** By number; a number is used again once its worker was killed. */
  readonly #workers = new Map<number, AppProcess | undefined>();
  #network: NetworkAddress | undefined;
  #secondStores: Awaited<ReturnType<typeof startSecondRegionStores>> | undefined;
  #secondEdge: AppProcess | undefined;
  #switches: AppSwitches = {};
  #stopping: Promise<void> | undefined;
  readonly urls: { edge: { sg: string; eu?: string }; controlPlane: string; simulator?: string } = {
    edge: { sg: '' },
    controlPlane: '',
  };

  private constructor(
    private readonly options: StackOptions,
    private readonly register: ProcessRegister,
    private readonly logs: LogSink,
    readonly installation: Installation,
    private readonly ports: Ports,
    private readonly stores: Stores,
  ) {}

  static async start(options: StackOptions, register: ProcessRegister): Promise<RunningStack> {
    const logs = openLogs(options);
    const installation = new Installation(options.dataDir);
    const ports = new Ports(installation, options.portBase);
    const stores = await startStores({
      register,
      dataDir: options.dataDir,
      given: readEnvironment(),
      objectKeys: installation.facts.objectKeys,
      passwords: installation.facts.passwords,
      fast: options.fast ?? false,
      port: (name) => ports.choose(name),
      log: (message) => logs.notice(message),
    });
    const stack = new RunningStack(options, register, logs, installation, ports, stores);
    try {
      await ensureFirstAccount(stores.databases.global, installation.facts);
      await stack.#startApps();
      return stack;
    } catch (error) {
      await stack.stop();
      throw error;
    }
  }

  get databases(): Stack['databases'] {
    return this.stores.databases;
  }

  get redis(): Stack['redis'] {
    return { sg: this.stores.redisUrl };
  }

  get objects(): Stack['objects'] {
    return { sg: this.stores.objects };
  }

  get accountKey(): string {
    return this.installation.facts.accountKey;
  }

  get operatorKey(): string {
    return this.installation.facts.operatorKey;
  }

  get probes(): Stack['probes'] {
    const at = (apps: (AppProcess | undefined)[]): string[] => apps.flatMap((app) => app?.origin ?? []);
    const single = (app: AppName): string[] => at([this.#single.get(app)]);
    return {
      'network-simulator': this.urls.simulator === undefined ? [] : [this.urls.simulator],
      'control-plane': single('control-plane'),
      'session-worker': at(this.#runningWorkers()),
      'webhook-dispatcher': single('webhook-dispatcher'),
      'edge-api': single('edge-api'),
    };
  }

  get processes(): Stack['processes'] {
    const pid = (app: AppName): number | undefined => this.#single.get(app)?.pid;
    return {
      'edge-api': pid('edge-api'),
      'control-plane': pid('control-plane'),
      'webhook-dispatcher': pid('webhook-dispatcher'),
      'network-simulator': pid('network-simulator'),
      'session-worker': this.#runningWorkers().flatMap((worker) => worker.pid ?? []),
    };
  }

  #runningWorkers(): AppProcess[] {
    return [...this.#workers.values()].filter((worker) => worker !== undefined);
  }

  async #startApps(): Promise<void> {
    const { env = {} } = this.options;
    this.#switches = typeof env === 'function' ? await env(this.stores) : env;
    this.urls.edge.sg = `http://127.0.0.1:${await this.ports.choose('edge-api')}`;
    if (this.options.secondRegion) await this.#startSecondStores();
    if (this.options.network === 'simulator') await this.#startSimulator();
    const workers = Array.from({ length: this.options.workers ?? 1 }, () => this.startWorker());
    const [controlPlane, edge] = await Promise.all([
      this.#startSingle('control-plane'),
      this.#startSingle('edge-api', Number(new URL(this.urls.edge.sg).port)),
      this.#startSingle('webhook-dispatcher'),
      ...workers,
      this.#startSecondRegion(),
    ]);
    this.urls.controlPlane = controlPlane;
    this.urls.edge.sg = edge;
  }

  async #startSecondStores(): Promise<void> {
    const { register, ports, options } = this;
    this.#secondStores = await startSecondRegionStores({
      register,
      ports,
      dataDir: options.dataDir,
      installation: this.installation.facts,
      databaseUrl: this.stores.databases.sg,
      log: (message) => this.logs.notice(message),
    });
    this.urls.edge.eu = `http://127.0.0.1:${await ports.choose('edge-api', 1)}`;
  }

  async #startSecondRegion(): Promise<void> {
    const stores = this.#secondStores;
    if (!stores || this.urls.edge.eu === undefined) return;
    const switches = (app: AppName): Switches => secondRegionSwitches(app, stores, this.options.dataDir);
    const worker = this.startWorker(switches('session-worker'));
    const port = Number(new URL(this.urls.edge.eu).port);
    const probePort = await this.ports.choose('edge-api-probes', 1);
    const ready = { url: `http://127.0.0.1:${probePort}/readyz` };
    const label = `edge-api-${SECOND_REGION}`;
    this.#secondEdge = this.#create('edge-api', label, { port, probePort }, ready, switches('edge-api'));
    await Promise.all([worker, this.#secondEdge.start()]);
  }

  async #startSimulator(): Promise<void> {
    const isStartLine = (text: string): boolean => text.startsWith('{"listening"');
    const port = await this.ports.choose('network-simulator');
    const app = this.#create(
      'network-simulator',
      'network-simulator',
      { port },
      {
        line: (text) => {
          if (!isStartLine(text)) return false;
          const { listening } = JSON.parse(text) as {
            listening: { control: string } & Omit<NetworkAddress, 'mediaOrigin'>;
          };
          const { control, socketUrl, rootKey, certificateFile } = listening;
          // One port for everything; files go over TLS only.
          this.#network = { socketUrl, rootKey, certificateFile, mediaOrigin: control.replace(/^http:/, 'https:') };
          this.urls.simulator = control;
          return true;
        },
      },
    );
    this.#single.set('network-simulator', app);
    await app.start();
  }

  /** @returns the app's address */
  async #startSingle(app: Exclude<AppName, 'session-worker' | 'network-simulator'>, chosen?: number): Promise<string> {
    const port = chosen ?? (await this.ports.choose(app));
    const url = `http://127.0.0.1:${port}`;
    const probePort = app === 'webhook-dispatcher' ? port : await this.ports.choose(`${app}-probes`);
    const ready = { url: `http://127.0.0.1:${probePort}/readyz` };
    const created = this.#create(app, app, { port, probePort }, ready);
    this.#single.set(app, created);
    await created.start();
    return url;
  }

  #create(
    app: AppName,
    label: string,
    { port, probePort }: { port: number; probePort?: number },
    ready: AppProcess['options']['ready'],
    switches: Switches = {},
  ): AppProcess {
    if (this.#stopping) throw new Error('The stack is stopping.');
    const facts = {
      stores: this.stores,
      installation: this.installation.facts,
      shardCount: this.options.shardCount,
      network: this.#network,
      dataDir: this.options.dataDir,
      edge: this.urls.edge,
      secondRegion: this.#secondStores,
    };
    return new AppProcess({
      register: this.register,
      label,
      entry: appEntry(app),
      env: { ...appEnvironment(app, facts, port, probePort), ...this.#switches[app], ...switches },
      logs: this.logs,
      ready,
      sourceMaps: !this.options.fast,
      restartCrashed: !this.options.fast,
    });
  }

  async startWorker(switches: Switches = {}): Promise<number> {
    let index = 0;
    while (this.#workers.has(index)) index += 1;
    this.#workers.set(index, undefined);
    const label = index === 0 ? 'session-worker' : `session-worker-${index + 1}`;
    const port = await this.ports.choose('session-worker', index);
    const worker = this.#create(
      'session-worker',
      label,
      { port },
      { url: `http://127.0.0.1:${port}/readyz` },
      switches,
    );
    this.#workers.set(index, worker);
    await worker.start();
    if (worker.pid === undefined) throw new Error(`${label} ended as soon as it was ready.`);
    return worker.pid;
  }

  readLoginCode(token: string): Promise<string> {
    return readLoginCode(this.urls.edge.sg, token);
  }

  async killWorker(pid: number, signal: NodeJS.Signals): Promise<void> {
    const found = [...this.#workers].find(([, worker]) => worker?.pid === pid);
    if (!found) throw new Error(`No session worker has process id ${pid}.`);
    await found[1]?.kill(signal);
    this.#workers.delete(found[0]);
  }

  async killWorkers(signal: NodeJS.Signals): Promise<void> {
    await Promise.all(this.processes['session-worker'].map((pid) => this.killWorker(pid, signal)));
  }

  async restart(app: AppName, options: { whileDown?: () => Promise<void> } = {}): Promise<void> {
    const single = this.#single.get(app);
    const restarted = app === 'session-worker' ? this.#runningWorkers() : single ? [single] : [];
    if (restarted.length === 0) throw new Error(`${app} does not run.`);
    await Promise.all(restarted.map((one) => one.stop(APP_GRACE_MS)));
    await options.whileDown?.();
    await Promise.all(restarted.map((one) => one.start()));
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const simulator = this.#single.get('network-simulator');
    const others = [...this.#single.values()].filter((app) => app !== simulator);
    const serving = [...others, ...(this.#secondEdge ? [this.#secondEdge] : []), ...this.#runningWorkers()];
    await Promise.all(serving.map((app) => app.stop(APP_GRACE_MS)));
    await simulator?.stop(2_000);
    await Promise.all([this.#secondStores?.stop(), this.stores.stop()]);
    this.register.close();
  }
}
