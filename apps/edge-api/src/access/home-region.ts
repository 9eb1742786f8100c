import { GatewayError, type Region } from '@dormouse/gateway-contract';
import type { FastifyRequest } from 'fastify';

export type RegionHosts = Readonly<Partial<Record<Region, string>>>;

/** Set on a request that another region's edge forwarded, to the name of that region. */
export const FORWARDED_HEADER = 'x-dormouse-forwarded-by';

/**
 * Where a request with a token of `home` goes: undefined when it stays here, else the origin of the home region's edge.
 * A channel lives in one region, and its token works only there. The common host leads to the nearest edge, which
 * forwards the request; a region-pinned host does not.
 * @throws {GatewayError} 401 naming the right host, on a pinned host or when the home region's host is not configured
 */
export function homeOf(
  request: Pick<FastifyRequest, 'headers'>,
  { home, here, hosts }: { home: Region; here: Region; hosts: RegionHosts },
): string | undefined {
  if (home === here) return undefined;
  const origin = hosts[home];
  const ownHost = hosts[here] && new URL(hosts[here]).host;
  const pinned = ownHost !== undefined && request.headers.host?.toLowerCase() === ownHost;
  // Forwarded to us although the token is not ours: the other edge's map is wrong. Forwarding again could loop.
  const forwarded = request.headers[FORWARDED_HEADER] !== undefined;
  if (origin !== undefined && !pinned && !forwarded) return origin;
  const where = origin === undefined ? `that region's host` : new URL(origin).host;
  throw new GatewayError(401, { details: `the token belongs to region ${home}: use ${where}` });
}
