/** The apps of one region: its workers, its dispatcher and its edge. */
import { type AppProcess } from '../processes/app-process.js';
import type { RegionName, Started } from '../stores/region-stores.js';
import type { Ports } from './ports.js';
import type { RegionalApp, RegionProcesses, Switches } from './stack-options.js';

/** What makes an app of this region; it is not started yet. */
export type CreateApp = (
  app: RegionalApp,
  label: string,
  place: { port: number; probePort?: number },
  switches?: Switches,
) => AppProcess;

export interface RunningRegionOptions {
  name: RegionName;
  edgeUrl: string;
  ports: Ports;
  create: CreateApp;
  /** Process ids of the region's own stores. */
  storePids: Started<unknown>['pids'];
}

export class RunningRegion {
  readonly #single = new Map<RegionalApp, AppProcess>();
  /** By number; a number is used again once its worker was killed. */
  readonly #workers = new Map<number, AppProcess | undefined>();

  constructor(private readonly options: RunningRegionOptions) {}

  get processes(): RegionProcesses {
    return {
      'edge-api': this.#single.get('edge-api')?.pid,
      'webhook-dispatcher': this.#single.get('webhook-dispatcher')?.pid,
      'session-worker': this.apps('session-worker').flatMap((worker) => worker.pid ?? []),
      ...this.options.storePids,
    };
  }

  /** Those of this name that were started. */
  apps(app: RegionalApp): AppProcess[] {
    if (app !== 'session-worker') return [this.#single.get(app) ?? []].flat();
    return [...this.#workers.values()].filter((worker) => worker !== undefined);
  }

  /** Everything that was started. */
  get all(): AppProcess[] {
    return [...this.#single.values(), ...this.apps('session-worker')];
  }

  /** Resolves when edge, dispatcher and so many workers are ready. */
  async start(workers: number): Promise<void> {
    await Promise.all([
      this.#startSingle('edge-api'),
      this.#startSingle('webhook-dispatcher'),
      ...Array.from({ length: workers }, () => this.startWorker()),
    ]);
  }

  async #startSingle(app: Exclude<RegionalApp, 'session-worker'>): Promise<void> {
    const { edgeUrl, ports, create, name: region } = this.options;
    const isEdge = app === 'edge-api';
    const port = isEdge ? Number(new URL(edgeUrl).port) : await ports.choose(app, { region });
    const probePort = isEdge ? await ports.choose(`${app}-probes`, { region }) : port;
    const created = create(app, `${app}${region.suffix}`, { port, probePort });
    this.#single.set(app, created);
    await created.start();
  }

  /** Starts one more worker, with switches of its own. @returns its process id */
  async startWorker(switches: Switches = {}): Promise<number> {
    const { ports, create, name: region } = this.options;
    let index = 0;
    while (this.#workers.has(index)) index += 1;
    this.#workers.set(index, undefined);
    const label = `session-worker${region.suffix}${index === 0 ? '' : `-${index + 1}`}`;
    const port = await ports.choose('session-worker', { region, index });
    const worker = create('session-worker', label, { port }, switches);
    this.#workers.set(index, worker);
    await worker.start();
    if (worker.pid === undefined) throw new Error(`${label} ended as soon as it was ready.`);
    return worker.pid;
  }

  /** @returns false when no worker of this region has the process id */
  async killWorker(pid: number, signal: NodeJS.Signals): Promise<boolean> {
    const found = [...this.#workers].find(([, worker]) => worker?.pid === pid);
    if (!found) return false;
    await found[1]?.kill(signal);
    this.#workers.delete(found[0]);
    return true;
  }
}
