/** The regions of a stack, and where each has its stores and its edge. */
import type { Region } from '@dormouse/gateway-contract';
import type { RegionName } from '../stores/region-stores.js';
import type { Stores } from '../stores/stores.js';
import type { RegionPlace } from './app-environment.js';
import type { Ports } from './ports.js';

export type Place = RegionPlace & { code: Region };
export type Places = readonly [Place, ...Place[]];

/** One value for each region that runs; it is up to the caller of `startStack` to name no other. */
export function byRegion<Value>(places: readonly Place[], of: (place: Place) => Value): Record<Region, Value> {
  return Object.fromEntries(places.map((place) => [place.code, of(place)])) as Record<Region, Value>;
}

/** Chooses the ports of the edges: every edge knows those of the others from its start. */
export async function placesOf(
  regions: readonly (RegionName & { code: Region })[],
  stores: Stores,
  ports: Ports,
): Promise<Places> {
  const [first, ...others] = await Promise.all(
    regions.map(async (region) => {
      const found = stores.regions.get(region.code);
      if (!found) throw new Error(`region ${region.code} has no stores`);
      return { ...region, stores: found, edgeUrl: localUrl(await ports.choose('edge-api', { region })) };
    }),
  );
  if (!first) throw new Error('there is no region');
  return [first, ...others];
}

/** The address of a server on this machine. */
export function localUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
