/** The apps of one region: its workers, its dispatcher and its edge. */
import { type AppProcess } from '../processes/app-process.js';
import type { RegionName, Started } from '../stores/region-stores.js';
import type { Ports } from './ports.js';
import { localUrl } from './places.js';
import { REGIONAL_APPS, type Another, type RegionalApp, type RegionProcesses, type Switches } from './stack-options.js';

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
  /** By number; one is used again once its process was ended. The first edge is at the region's address. */
  readonly #instances: Record<RegionalApp, Map<number, AppProcess | undefined>> = {
    'edge-api': new Map(),
    'webhook-dispatcher': new Map(),
    'session-worker': new Map(),
  };

  constructor(private readonly options: RunningRegionOptions) {}

  get processes(): RegionProcesses {
    return {
      'edge-api': this.apps('edge-api')[0]?.pid,
      'webhook-dispatcher': this.apps('webhook-dispatcher')[0]?.pid,
      'session-worker': this.apps('session-worker').flatMap((worker) => worker.pid ?? []),
      ...this.options.storePids,
    };
  }

  /** Those of this name that were started. */
  apps(app: RegionalApp): AppProcess[] {
    return [...this.#instances[app].values()].filter((instance) => instance !== undefined);
  }

  /** Everything that was started. */
  get all(): AppProcess[] {
    return REGIONAL_APPS.flatMap((app) => this.apps(app));
  }

  /** Resolves when edge, dispatcher and so many workers are ready. */
  async start(workers: number): Promise<void> {
    await Promise.all([
      this.startAnother('edge-api'),
      this.startAnother('webhook-dispatcher'),
      ...Array.from({ length: workers }, () => this.startAnother('session-worker')),
    ]);
  }

  /** Starts one more, with switches of its own, and waits until it is ready. */
  async startAnother(app: RegionalApp, switches: Switches = {}): Promise<Another> {
    const { create, name: region } = this.options;
    const instances = this.#instances[app];
    let index = 0;
    while (instances.has(index)) index += 1;
    instances.set(index, undefined);
    const place = await this.#placeOf(app, index);
    const label = `${app}${region.suffix}${index === 0 ? '' : `-${index + 1}`}`;
    const created = create(app, label, place, switches);
    instances.set(index, created);
    await created.start();
    if (created.pid === undefined) throw new Error(`${label} ended as soon as it was ready.`);
    return { pid: created.pid, url: localUrl(place.port) };
  }

  async #placeOf(app: RegionalApp, index: number): Promise<{ port: number; probePort?: number }> {
    const { edgeUrl, ports, name: region } = this.options;
    const port =
      app === 'edge-api' && index === 0 ? Number(new URL(edgeUrl).port) : await ports.choose(app, { region, index });
    if (app === 'session-worker') return { port };
    const probePort = app === 'edge-api' ? await ports.choose('edge-api-probes', { region, index }) : port;
    return { port, probePort };
  }

  /** @returns false when no app of this region has the process id */
  async kill(pid: number, signal: NodeJS.Signals): Promise<boolean> {
    for (const instances of Object.values(this.#instances)) {
      const found = [...instances].find(([, instance]) => instance?.pid === pid);
      if (!found) continue;
      await found[1]?.kill(signal);
      instances.delete(found[0]);
      return true;
    }
    return false;
  }
}
