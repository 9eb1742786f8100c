import type { MediaKind } from '@dormouse/gateway-contract';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { RateClass } from './rate-limits.js';

/** Properties of an endpoint that the access chain uses. */
export interface EndpointPolicy {
  /** Which limit a request counts against. */
  rate: RateClass;
  /** Refused with 402 while the channel may not be billed? */
  billed: boolean;
  /** Answered with 501 otherwise. */
  implemented: boolean;
  /** Needs no body: whatever comes is not read. */
  ignoresBody?: boolean;
  /** Largest body in bytes; undefined = the edge's limit for JSON without media. */
  maxBodyBytes?: number;
  /** Takes a file, as JSON or as a form: of this kind; an upload may be of any, and comes as a raw body, too. */
  file?: MediaKind | 'upload';
}

const STANDARD: EndpointPolicy = { rate: 'other', billed: true, implemented: true };

declare module 'fastify' {
  interface FastifyContextConfig {
    policy?: Partial<EndpointPolicy>;
  }
}

/** Declares where an endpoint differs from the standard: rate 'other', billed, implemented, JSON without media. */
export const Endpoint = (policy: Partial<EndpointPolicy>): MethodDecorator => RouteConfig({ policy });

/** The policy of the endpoint that a request goes to; undefined when there is no such endpoint. */
export function policyOf(request: FastifyRequest): EndpointPolicy | undefined {
  return request.is404 ? undefined : { ...STANDARD, ...request.routeOptions.config.policy };
}
