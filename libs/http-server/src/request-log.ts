import type { Logger, Probes } from '@dormouse/bootstrap';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Histogram } from 'prom-client';

export interface RequestLogOptions {
  /** Upper bounds of the measured durations, in seconds. */
  bucketsS: number[];
  /** Facts for the log: who sent the request. */
  callerOf: (request: FastifyRequest) => object;
}

/** Answered for load balancers, which query it every few seconds: neither logged nor measured. */
export const LIVENESS = /^\/healthz(\?|$)/;

/**
 * Sets the request id on every response, and writes one log line and one measurement for each request: caller, endpoint,
 * status, duration. The path is the route's template, without query and body: ids, tokens and texts stay out of the log.
 */
export function logRequests(
  fastify: FastifyInstance,
  { log, probes }: { log: Logger; probes: Probes },
  { bucketsS, callerOf }: RequestLogOptions,
): void {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: bucketsS,
    registers: [probes.metrics],
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    // Clients that keep their connection should use another server for the next request.
    if (probes.draining) void reply.header('connection', 'close');
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    if (!LIVENESS.test(request.originalUrl)) {
      const route = request.routeOptions.url ?? 'unlisted';
      const { method } = request;
      const status = reply.raw.statusCode;
      durations.observe({ method, route, status }, reply.elapsedTime / 1_000);
      const facts = { requestId: request.id, ...callerOf(request), method, route, status };
      log.info({ ...facts, elapsedMs: Math.round(reply.elapsedTime) }, 'request');
    }
    done();
  });
}
