import { choosePort, isFreePort } from '../processes/free-port.js';
import type { RegionName } from '../stores/region-stores.js';
import type { Installation } from './installation.js';

/** Distance between the ports of two regions. */
const REGION_STEP = 100;
/** Places of the named ports above `--port-base`; workers after the first follow their first one. */
const OFFSETS: Record<string, number> = {
  'edge-api': 0,
  'control-plane': 1,
  'network-simulator': 2,
  'webhook-dispatcher': 3,
  'edge-api-probes': 4,
  postgres: 5,
  redis: 6,
  objects: 7,
  'control-plane-probes': 8,
  billing: 9,
  'session-worker': 10,
  'billing-probes': 50,
  mailbox: 51,
  'mailbox-smtp': 52,
  'stripe-simulator': 53,
  'postgres-own': 54,
};

interface Place {
  region?: RegionName;
  index?: number;
}

/**
 * Chooses ports by name: those above the base if one is given, else those of the last start if they are free, else any.
 */
export class Ports {
  readonly #taken = new Set<number>();
  /** One choice at a time, so that two cannot be given the same free port. */
  #choosing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly installation: Installation,
    private readonly base: number | undefined,
  ) {}

  /**
   * @param place the region whose it is, if it is not the first one's, and the number of the worker
   * @throws when a port that the base demands is in use
   */
  choose(name: string, place: Place = {}): Promise<number> {
    const chosen = this.#choosing.then(() => this.#choose(name, place));
    this.#choosing = chosen.catch(() => undefined);
    return chosen;
  }

  async #choose(name: string, { region, index = 0 }: Place): Promise<number> {
    const key = `${name}${region?.suffix ?? ''}${index === 0 ? '' : `-${index + 1}`}`;
    const offset = (OFFSETS[name] ?? 0) + index + (region?.position ?? 0) * REGION_STEP;
    const port = this.base === undefined ? await this.#likeLastTime(key) : await this.#above(this.base + offset, key);
    this.#taken.add(port);
    this.installation.facts.ports[key] = port;
    this.installation.save();
    return port;
  }

  async #above(wanted: number, key: string): Promise<number> {
    if (await isFreePort(wanted)) return wanted;
    throw new Error(`Port ${wanted} (${key}) is in use; choose another --port-base.`);
  }

  async #likeLastTime(key: string): Promise<number> {
    const last = this.installation.facts.ports[key];
    for (;;) {
      const port = await choosePort(last !== undefined && !this.#taken.has(last) ? last : undefined);
      if (!this.#taken.has(port)) return port;
    }
  }
}
