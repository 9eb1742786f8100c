/** The ways from the control plane, billing and the other regions' edges to one region, which a journey can take away together. */
import type { StoreAddresses } from '@dormouse/stack';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';

type Place = StoreAddresses['regions']['sg'];

export class RegionWays {
  private closing: Promise<unknown> | undefined;

  private constructor(
    private readonly toDatabase: FaultProxy,
    private readonly toRedis: FaultProxy,
    private readonly toEdge: FaultProxy,
  ) {}

  static async to({ databaseUrl, redisUrl, edgeUrl }: Place): Promise<RegionWays> {
    return new RegionWays(
      await FaultProxy.to(databaseUrl),
      await FaultProxy.to(redisUrl),
      await FaultProxy.to(edgeUrl),
    );
  }

  /** The region's edge, as the others reach it. */
  get edgeUrl(): string {
    return new URL(this.toEdge.url).origin;
  }

  /** The region's entry in `REGIONS` of an app that reaches all regions. */
  entry({ accounts }: Place, app: 'control-plane' | 'billing'): Record<string, unknown> {
    const { databaseUrl, redisUrl, objects: storage } = accounts[app];
    return {
      databaseUrl: through(this.toDatabase, databaseUrl),
      redisUrl: through(this.toRedis, redisUrl),
      gatewayUrl: this.edgeUrl,
      storage,
    };
  }

  /** The region is away for everything outside it, until {@link restore}. */
  cutOff(): void {
    for (const way of this.#all) way.refuse();
  }

  restore(): void {
    for (const way of this.#all) way.restore();
  }

  /** Ends them for good: connections are refused, as by a region that is down. */
  async close(): Promise<void> {
    await (this.closing ??= Promise.all(this.#all.map((way) => way.close())));
  }

  get #all(): FaultProxy[] {
    return [this.toDatabase, this.toRedis, this.toEdge];
  }
}

/** The same address, at the port of the proxy. */
function through(proxy: FaultProxy, address: string): string {
  const url = new URL(address);
  const { hostname, port } = new URL(proxy.url);
  return Object.assign(url, { hostname, port }).href;
}
