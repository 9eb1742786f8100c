import { GatewayError } from '@dormouse/gateway-contract';
import type { FastifyRequest } from 'fastify';

/** Whether the headers of a request announce a body. */
export function announcesBody({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The error for a content type that cannot be parsed. */
export function unreadableType(): GatewayError {
  return new GatewayError(400, { details: 'content-type: must be one media type, such as application/json' });
}
