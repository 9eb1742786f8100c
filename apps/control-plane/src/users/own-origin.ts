import { GatewayError } from '@dormouse/gateway-contract';
import type { FastifyRequest } from 'fastify';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a request that changes something and was made by a page of another origin. Browsers name the origin with every such
 * request; programs without a session need not.
 * @param publicUrl origin of this installation
 * @throws {GatewayError} 403
 */
export function requireOwnOrigin(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  publicUrl: string | undefined,
): void {
  if (READS.has(method) || publicUrl === undefined) return;
  const { origin, cookie } = headers;
  if (origin === publicUrl || (origin === undefined && cookie === undefined)) return;
  throw new GatewayError(403, { details: `origin: must be ${publicUrl} for requests that change something` });
}
