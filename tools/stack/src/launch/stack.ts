import { chmodSync, createWriteStream, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  appEnvironment,
  secondRegionSwitches,
  type BillingPlace,
  type MorePorts,
  type NetworkAddress,
} from './app-environment.js';
import { appEntry, SIMULATIONS, type AppName, type Simulation } from '../app-names.js';
import { AppProcess } from '../processes/app-process.js';
import { readEnvironment } from '../config.js';
import { setUpSimulatedStripe } from './accounts-and-money.js';
import { ensureFirstAccount } from './first-account.js';
import { Installation } from './installation.js';
import { type LogSink, plainSink, prettySink } from '../processes/log-lines.js';
import { readLoginCode } from './login-code.js';
import { Ports } from './ports.js';
import { ProcessRegister } from '../processes/process-register.js';
import { SECOND_REGION, startSecondRegionStores } from './second-region.js';
import type { AppSwitches, Stack, StackOptions, StackUrls, Switches } from './stack-options.js';
import { postgresDataFolder } from '../stores/postgres.js';
import { startStores, type Stores } from '../stores/stores.js';

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
  if (options.network === 'simulator') apps.unshift('network-simulator');
  if (options.billing) apps.unshift('mailbox', 'stripe-simulator');
  if (options.billing || readEnvironment().stripe) apps.unshift('billing');
  requireBuilt(apps);
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
  #billing: BillingPlace | undefined;
  #smtp: { url: string; from: string } | undefined;
  #secondStores: Awaited<ReturnType<typeof startSecondRegionStores>> | undefined;
  #secondEdge: AppProcess | undefined;
  #switches: AppSwitches = {};
  #stopping: Promise<void> | undefined;
  readonly urls: StackUrls = { edge: { sg: '' }, controlPlane: '' };

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

  get publicUrl(): string {
    return readEnvironment().publicUrl ?? this.urls.controlPlane;
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
      mailbox: this.urls.mail === undefined ? [] : [this.urls.mail],
      'stripe-simulator': this.urls.stripe === undefined ? [] : [this.urls.stripe],
      billing: single('billing'),
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
      mailbox: pid('mailbox'),
      'stripe-simulator': pid('stripe-simulator'),
      billing: pid('billing'),
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
    this.urls.controlPlane = `http://127.0.0.1:${await this.ports.choose('control-plane')}`;
    await this.#chooseBilling();
    if (this.options.secondRegion) await this.#startSecondStores();
    await Promise.all([
      ...(this.options.network === 'simulator' ? [this.#startSimulator()] : []),
      ...(this.options.billing ? [this.#startMailbox(), this.#startStripe()] : []),
    ]);
    const workers = Array.from({ length: this.options.workers ?? 1 }, () => this.startWorker());
    await Promise.all([
      this.#startSingle('control-plane', this.urls.controlPlane),
      this.#startSingle('edge-api', this.urls.edge.sg),
      this.#startSingle('webhook-dispatcher'),
      ...(this.#billing ? [this.#startBilling(this.#billing)] : []),
      ...workers,
      this.#startSecondRegion(),
    ]);
  }

  /** Whether there is billing, where, and with which Stripe: the simulated one needs to know before it starts. */
  async #chooseBilling(): Promise<void> {
    const { stripe, smtp } = readEnvironment();
    this.#smtp = smtp;
    const used = this.options.billing ? this.installation.facts.secrets.simulatedStripe : stripe;
    if (!used) return;
    const url = `http://127.0.0.1:${await this.ports.choose('billing')}`;
    this.urls.billing = url;
    this.#billing = { url, stripe: { ...used } };
  }

  /** The simulated Stripe is set up once billing receives its webhooks. */
  async #startBilling(billing: BillingPlace): Promise<void> {
    await this.#startSingle('billing', billing.url);
    if (this.options.billing) await setUpSimulatedStripe(billing);
  }

  async #startMailbox(): Promise<void> {
    const port = await this.ports.choose('mailbox');
    const smtpPort = await this.ports.choose('mailbox-smtp');
    await this.#startSimulation('mailbox', { port, smtpPort }, '{"listening"', (line) => {
      const { listening } = line as { listening: { url: string; smtpUrl: string } };
      this.urls.mail = listening.url;
      this.#smtp = { url: listening.smtpUrl, from: 'no-reply@dormouse.example' };
    });
  }

  async #startStripe(): Promise<void> {
    const port = await this.ports.choose('stripe-simulator');
    await this.#startSimulation('stripe-simulator', { port }, '{"url"', (line) => {
      const { url } = line as { url: string };
      this.urls.stripe = url;
      if (this.#billing) this.#billing.stripe.url = url;
    });
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
    const port = await this.ports.choose('network-simulator');
    await this.#startSimulation('network-simulator', { port }, '{"listening"', (line) => {
      const { listening } = line as {
        listening: { control: string } & Omit<NetworkAddress, 'mediaOrigin' | 'pageUrl'>;
      };
      const { control, socketUrl, rootKey, certificateFile } = listening;
      // One port for everything; files go over TLS only.
      const mediaOrigin = control.replace(/^http:/, 'https:');
      this.#network = { socketUrl, rootKey, certificateFile, mediaOrigin, pageUrl: control };
      this.urls.simulator = control;
    });
  }

  /** @param read takes what the line with the addresses holds; it is printed again by a restart */
  async #startSimulation(
    app: Simulation,
    ports: { port: number; smtpPort?: number },
    lineStart: string,
    read: (line: unknown) => void,
  ): Promise<void> {
    const created = this.#create(app, app, ports, {
      line: (text) => {
        if (!text.startsWith(lineStart)) return false;
        read(JSON.parse(text));
        return true;
      },
    });
    this.#single.set(app, created);
    await created.start();
  }

  /** @param chosen its address, if its port was chosen before */
  async #startSingle(app: Exclude<AppName, 'session-worker' | Simulation>, chosen?: string): Promise<void> {
    const port = chosen === undefined ? await this.ports.choose(app) : Number(new URL(chosen).port);
    const probePort = app === 'webhook-dispatcher' ? port : await this.ports.choose(`${app}-probes`);
    const ready = { url: `http://127.0.0.1:${probePort}/readyz` };
    const created = this.#create(app, app, { port, probePort }, ready);
    this.#single.set(app, created);
    await created.start();
  }

  #create(
    app: AppName,
    label: string,
    { port, ...more }: { port: number } & MorePorts,
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
      publicUrl: this.publicUrl,
      smtp: this.#smtp,
      billing: this.#billing,
    };
    return new AppProcess({
      register: this.register,
      label,
      entry: appEntry(app),
      env: { ...appEnvironment(app, facts, port, more), ...this.#switches[app], ...switches },
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
    const simulations = SIMULATIONS.flatMap((name) => this.#single.get(name) ?? []);
    const others = [...this.#single.values()].filter((app) => !simulations.includes(app));
    const serving = [...others, ...(this.#secondEdge ? [this.#secondEdge] : []), ...this.#runningWorkers()];
    await Promise.all(serving.map((app) => app.stop(APP_GRACE_MS)));
    await Promise.all(simulations.map((app) => app.stop(2_000)));
    await Promise.all([this.#secondStores?.stop(), this.stores.stop()]);
    this.register.close();
  }
}
