import type { IncomingMessage } from 'node:http';
import {
  acceptEveryExpectation,
  answerBrokenRequests,
  headerFault,
  requestIdFrom,
  type Logger,
  type Probes,
} from '@dormouse/bootstrap';
import { errorAnswer, GatewayError, type Site } from '@dormouse/gateway-contract';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { logRequests, type RequestLogOptions } from './request-log.js';
import { traceRequests } from './request-spans.js';

/** Longer than load balancers keep an idle connection (usually 60 s), so that they, not we, close it. */
const KEEP_ALIVE_MS = 65_000;

export interface HttpAdapterOptions extends RequestLogOptions {
  site: Site;
  log: Logger;
  probes: Probes;
  /** Addresses whose `X-Forwarded-For` is trusted; empty: none. */
  trustedProxies: string[];
  /** Further options of Fastify: routing, limits. */
  fastify: Pick<
    FastifyServerOptions,
    'bodyLimit' | 'exposeHeadRoutes' | 'requestTimeout' | 'rewriteUrl' | 'routerOptions'
  >;
  /** Further headers of an answer to a request that never reaches Fastify. */
  faultHeaders?: () => Record<string, string>;
  /** Hooks that run before the headers are checked, so that an error about them has what they set. */
  beforeChecks?: (fastify: FastifyInstance) => void;
}

/**
 * Fastify for Nest, as both APIs have it: every request has an id, a log line and a measurement, and is answered in the
 * error envelope, whether Node, Fastify or a header stops it.
 */
export function openHttpAdapter(options: HttpAdapterOptions): FastifyAdapter {
  const { site, log, probes, trustedProxies, faultHeaders } = options;
  const adapter = new FastifyAdapter({
    genReqId: ({ headers }: Pick<IncomingMessage, 'headers'>) => requestIdFrom(headers['x-request-id']),
    requestIdHeader: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    skipMiddie: true,
    ...answerBrokenRequests({
      answerTo: ({ status, details }) => {
        const answer = errorAnswer(new GatewayError(status, { details }), site);
        return { ...answer, headers: { ...answer.headers, ...faultHeaders?.() } };
      },
      log,
    }),
    ...options.fastify,
  });
  const fastify = adapter.getInstance();
  traceRequests(fastify);
  logRequests(fastify, { log, probes }, options);
  acceptEveryExpectation(fastify.server);
  options.beforeChecks?.(fastify);
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    const fault = headerFault(raw);
    done(fault && new GatewayError(fault.status, fault));
  });
  return adapter;
}
