/** How many posts one host may have under way. */
export interface HostSlotsOptions {
  perHost: number;
  /** Longest wait for a slot. */
  waitMs: number;
}

interface Host {
  inUse: number;
  /** Of these, by webhooks whose last attempt failed. */
  inUseByFailing: number;
  waiting: Waiter[];
}

interface Waiter {
  failing: boolean;
  go(granted: boolean): void;
  timer: NodeJS.Timeout;
}

/** Gives the slot back; call it once. */
export type ReleaseSlot = () => void;

/**
 * Bounds the posts under way to each host, because many customers can share one. Webhooks that failed last time get
 * half of a host's slots at most: customers of the host whose receivers hang do not lock the others out. Waiting is
 * first come, first served, bounded in number (as many as slots) and time.
 */
export class HostSlots {
  readonly #hosts = new Map<string, Host>();
  readonly #options: HostSlotsOptions;

  constructor(options: HostSlotsOptions) {
    this.#options = options;
  }

  /** Resolves with the slot, or with undefined when the host stays full. */
  async acquire(origin: string, failing: boolean): Promise<ReleaseSlot | undefined> {
    const host = this.#hosts.get(origin) ?? { inUse: 0, inUseByFailing: 0, waiting: [] };
    this.#hosts.set(origin, host);
    if (!this.#hasRoom(host, failing)) {
      if (host.waiting.length >= this.#options.perHost) return undefined;
      if (!(await this.#turn(host, failing))) return undefined;
    } else this.#occupy(host, failing);
    return () => this.#release(origin, host, failing);
  }

  #hasRoom(host: Host, failing: boolean): boolean {
    const { perHost } = this.#options;
    return host.inUse < perHost && (!failing || host.inUseByFailing < Math.max(1, Math.floor(perHost / 2)));
  }

  #occupy(host: Host, failing: boolean): void {
    host.inUse += 1;
    if (failing) host.inUseByFailing += 1;
  }

  #turn(host: Host, failing: boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        failing,
        go: resolve,
        timer: setTimeout(() => {
          host.waiting.splice(host.waiting.indexOf(waiter), 1);
          resolve(false);
        }, this.#options.waitMs),
      };
      host.waiting.push(waiter);
    });
  }

  #release(origin: string, host: Host, failing: boolean): void {
    host.inUse -= 1;
    if (failing) host.inUseByFailing -= 1;
    const next = host.waiting.findIndex((waiter) => this.#hasRoom(host, waiter.failing));
    const [waiter] = next === -1 ? [] : host.waiting.splice(next, 1);
    if (waiter) {
      clearTimeout(waiter.timer);
      this.#occupy(host, waiter.failing); // before anyone else runs: the slot changes hands, it is not up for grabs
      waiter.go(true);
    } else if (host.inUse === 0 && host.waiting.length === 0) this.#hosts.delete(origin);
  }
}
