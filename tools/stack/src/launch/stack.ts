import { createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Region } from '@dormouse/gateway-contract';
import { appEnvironment, type AppPlace, type BillingPlace, type NetworkAddress } from './app-environment.js';
import { appEntry, SIMULATIONS, type AppName, type Simulation } from '../app-names.js';
import { AppProcess } from '../processes/app-process.js';
import { readEnvironment } from '../config.js';
import { setUpSimulatedStripe } from './accounts-and-money.js';
import { emptyFolder, keepPrivate } from './data-folder.js';
import { ensureFirstAccount } from './first-account.js';
import { Installation } from './installation.js';
import { type LogSink, plainSink, prettySink } from '../processes/log-lines.js';
import { readLoginCode } from './login-code.js';
import { byRegion, localUrl, type Place, type Places, placesOf } from './places.js';
import { Ports } from './ports.js';
import { ProcessRegister } from '../processes/process-register.js';
import { RunningRegion } from './running-region.js';
import {
  type Another,
  type AppSwitches,
  type FirstRegion,
  isRegionalApp,
  REGIONAL_APPS,
  type RegionalApp,
  type Stack,
  type StackOptions,
  type StackUrls,
  type Switches,
} from './stack-options.js';
import { startStores, type Stores } from '../stores/stores.js';

/** An app that does not end in this time is killed; with the stores' time it stays below ten seconds. */
const APP_GRACE_MS = 6_000;

function openLogs(options: Pick<StackOptions, 'logs' | 'dataDir'>): LogSink {
  if (options.logs === 'pretty') return prettySink(process.stderr);
  if (options.logs !== 'silent') return prettySink(options.logs);
  return plainSink(createWriteStream(join(options.dataDir, 'stack.log'), { flags: 'a' }));
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
export async function startStack<Code extends Region = FirstRegion>(options: StackOptions<Code>): Promise<Stack<Code>> {
  const apps: AppName[] = ['control-plane', ...REGIONAL_APPS];
  if (options.network === 'simulator') apps.unshift('network-simulator');
  if (options.billing) apps.unshift('mailbox', 'stripe-simulator');
  if (options.billing || readEnvironment().stripe) apps.unshift('billing');
  requireBuilt(apps);
  keepPrivate(options.dataDir);
  const register = await ProcessRegister.open(options.dataDir);
  try {
    if (options.fresh) emptyFolder(options.dataDir);
    return await RunningStack.start(options, register);
  } catch (error) {
    register.close();
    throw error;
  }
}

class RunningStack implements Stack<Region> {
  /** The apps that there are once. */
  readonly #single = new Map<AppName, AppProcess>();
  readonly #regions: ReadonlyMap<Region, RunningRegion>;
  #network: NetworkAddress | undefined;
  #billing: BillingPlace | undefined;
  #smtp: { url: string; from: string } | undefined;
  #switches: AppSwitches = {};
  #stopping: Promise<void> | undefined;
  readonly urls: StackUrls<Region>;

  private constructor(
    private readonly options: StackOptions<Region>,
    private readonly register: ProcessRegister,
    private readonly logs: LogSink,
    readonly installation: Installation,
    private readonly ports: Ports,
    private readonly stores: Stores,
    private readonly places: Places,
  ) {
    this.urls = { edge: byRegion(places, ({ edgeUrl }) => edgeUrl), controlPlane: '' };
    this.#regions = new Map(places.map((place) => [place.code, this.#regionAt(place)]));
  }

  static async start(options: StackOptions<Region>, register: ProcessRegister): Promise<RunningStack> {
    const logs = openLogs(options);
    const installation = new Installation(options.dataDir);
    const regions = installation.regionsOfStart(options.regions);
    const ports = new Ports(installation, options.portBase);
    const stores = await startStores({
      register,
      dataDir: options.dataDir,
      given: readEnvironment(),
      regions,
      ownDatabaseServers: options.ownDatabaseServers ?? false,
      objectKeys: installation.facts.objectKeys,
      passwords: installation.facts.passwords,
      appPasswords: installation.facts.appPasswords,
      fast: options.fast ?? false,
      port: (name, region) => ports.choose(name, { region }),
      log: (message) => logs.notice(message),
    });
    let stack: RunningStack;
    try {
      installation.rememberRegions(regions);
      const places = await placesOf(regions, stores, ports);
      await ensureFirstAccount(stores.globalDatabase.url, installation.facts);
      stack = new RunningStack(options, register, logs, installation, ports, stores, places);
    } catch (error) {
      await stores.stop();
      throw error;
    }
    try {
      await stack.#startApps();
    } catch (error) {
      await stack.stop();
      throw error;
    }
    return stack;
  }

  get regions(): Stack['regions'] {
    const [first, ...others] = this.places;
    return [first.code, ...others.map(({ code }) => code)];
  }

  get publicUrl(): string {
    return readEnvironment().publicUrl ?? this.urls.controlPlane;
  }

  get databases(): Stack<Region>['databases'] {
    return {
      global: this.stores.globalDatabase.url,
      ...byRegion(this.places, ({ stores }) => stores.databaseUrl),
    };
  }

  get redis(): Stack<Region>['redis'] {
    return byRegion(this.places, ({ stores }) => stores.redisUrl);
  }

  get objects(): Stack<Region>['objects'] {
    return byRegion(this.places, ({ stores }) => stores.objects);
  }

  get accounts(): Stack<Region>['accounts'] {
    return byRegion(this.places, ({ stores }) => stores.accounts);
  }

  get accountKey(): string {
    return this.installation.facts.accountKey;
  }

  get operatorKey(): string {
    return this.installation.facts.operatorKey;
  }

  get probes(): Stack['probes'] {
    const at = (app: AppName): string[] => this.#running(app).flatMap(({ origin }) => origin ?? []);
    return {
      'network-simulator': this.urls.simulator === undefined ? [] : [this.urls.simulator],
      mailbox: this.urls.mail === undefined ? [] : [this.urls.mail],
      'stripe-simulator': this.urls.stripe === undefined ? [] : [this.urls.stripe],
      billing: at('billing'),
      'control-plane': at('control-plane'),
      'session-worker': at('session-worker'),
      'webhook-dispatcher': at('webhook-dispatcher'),
      'edge-api': at('edge-api'),
    };
  }

  get processes(): Stack<Region>['processes'] {
    const pid = (app: AppName): number | undefined => this.#single.get(app)?.pid;
    const { postgres } = this.stores.processes;
    return {
      ...this.#region().processes,
      'control-plane': pid('control-plane'),
      'network-simulator': pid('network-simulator'),
      mailbox: pid('mailbox'),
      'stripe-simulator': pid('stripe-simulator'),
      billing: pid('billing'),
      ...(postgres !== undefined && { postgres }),
      ...byRegion(this.places, ({ code }) => this.#region(code).processes),
    };
  }

  #region(code: Region = this.places[0].code): RunningRegion {
    const found = this.#regions.get(code);
    if (!found) throw new Error(`There is no region ${code} here, but ${this.regions.join(', ')}.`);
    return found;
  }

  #regionAt(place: Place): RunningRegion {
    return new RunningRegion({
      name: place,
      edgeUrl: place.edgeUrl,
      ports: this.ports,
      storePids: this.stores.processes.regions.get(place.code) ?? {},
      create: (app, label, { port, probePort }, switches) =>
        this.#create(app, label, { port, probePort, region: place }, undefined, switches),
    });
  }

  /** What runs of an app, in all regions unless one is named. */
  #running(app: AppName, region?: Region): AppProcess[] {
    const regions = region === undefined ? [...this.#regions.values()] : [this.#region(region)];
    if (isRegionalApp(app)) return regions.flatMap((each) => each.apps(app));
    return [this.#single.get(app) ?? []].flat();
  }

  async #startApps(): Promise<void> {
    const { env = {} } = this.options;
    const regions = byRegion(this.places, ({ stores, edgeUrl }) => ({ ...stores, edgeUrl }));
    const globalDatabaseUrl = this.stores.globalDatabase.url;
    this.#switches = typeof env === 'function' ? await env({ globalDatabaseUrl, regions }) : env;
    this.urls.controlPlane = localUrl(await this.ports.choose('control-plane'));
    await this.#chooseBilling();
    await Promise.all([
      ...(this.options.network === 'simulator' ? [this.#startSimulator()] : []),
      ...(this.options.billing ? [this.#startMailbox(), this.#startStripe()] : []),
    ]);
    await Promise.all([
      this.#startSingle('control-plane', this.urls.controlPlane),
      ...(this.#billing ? [this.#startBilling(this.#billing)] : []),
      ...[...this.#regions.values()].map((region) => region.start(this.options.workers ?? 1)),
    ]);
  }

  /** Whether there is billing, where, and with which Stripe: the simulated one needs to know before it starts. */
  async #chooseBilling(): Promise<void> {
    const { stripe, smtp } = readEnvironment();
    this.#smtp = smtp;
    const used = this.options.billing ? this.installation.facts.secrets.simulatedStripe : stripe;
    if (!used) return;
    const url = localUrl(await this.ports.choose('billing'));
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

  /** @param url its address */
  async #startSingle(app: 'control-plane' | 'billing', url: string): Promise<void> {
    const probePort = await this.ports.choose(`${app}-probes`);
    const created = this.#create(app, app, { port: Number(new URL(url).port), probePort });
    this.#single.set(app, created);
    await created.start();
  }

  #create(
    app: AppName,
    label: string,
    { port, ...place }: { port: number } & AppPlace,
    ready: AppProcess['options']['ready'] = { url: `${localUrl(place.probePort ?? port)}/readyz` },
    switches: Switches = {},
  ): AppProcess {
    if (this.#stopping) throw new Error('The stack is stopping.');
    const facts = {
      globalDatabaseUrls: this.stores.globalDatabase.accounts,
      regions: this.places,
      installation: this.installation.facts,
      shardCount: this.options.shardCount,
      network: this.#network,
      dataDir: this.options.dataDir,
      publicUrl: this.publicUrl,
      smtp: this.#smtp,
      billing: this.#billing,
    };
    return new AppProcess({
      register: this.register,
      label,
      entry: appEntry(app),
      env: { ...appEnvironment(app, facts, port, place), ...this.#switches[app], ...switches },
      logs: this.logs,
      ready,
      sourceMaps: !this.options.fast,
      restartCrashed: !this.options.fast,
    });
  }

  async startWorker(switches: Switches = {}, region?: Region): Promise<number> {
    return (await this.startAnother('session-worker', switches, region)).pid;
  }

  startAnother(app: RegionalApp, switches: Switches = {}, region?: Region): Promise<Another> {
    return this.#region(region).startAnother(app, switches);
  }

  readLoginCode(token: string, region: Region = this.places[0].code): Promise<string> {
    return readLoginCode(this.urls.edge[region], token);
  }

  async kill(pid: number, signal: NodeJS.Signals): Promise<void> {
    for (const region of this.#regions.values()) if (await region.kill(pid, signal)) return;
    throw new Error(`No app of a region has process id ${pid}.`);
  }

  killWorker(pid: number, signal: NodeJS.Signals): Promise<void> {
    return this.kill(pid, signal);
  }

  async killWorkers(signal: NodeJS.Signals): Promise<void> {
    const pids = this.#running('session-worker').flatMap((worker) => worker.pid ?? []);
    await Promise.all(pids.map((pid) => this.killWorker(pid, signal)));
  }

  async restart(app: AppName, options: { whileDown?: () => Promise<void>; region?: Region } = {}): Promise<void> {
    const restarted = this.#running(app, options.region);
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
    const serving = [...others, ...[...this.#regions.values()].flatMap(({ all }) => all)];
    await Promise.all(serving.map((app) => app.stop(APP_GRACE_MS)));
    await Promise.all(simulations.map((app) => app.stop(2_000)));
    await this.stores.stop();
    this.register.close();
  }
}
