import type { Logger, Probes } from '@dormouse/bootstrap';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Histogram } from 'prom-client';

/** From a stored read (milliseconds) to a send that waits for a wake. */
const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45];

/**
 * One log line and one measurement for every request: channel, endpoint, status, duration. The path is the route's
 * template, without query and body: ids, tokens and texts stay out of the log.
 */
export function logRequests(fastify: FastifyInstance, { log, probes }: { log: Logger; probes: Probes }): void {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_S,
    registers: [probes.metrics],
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    // Clients that keep their connection are to make the next one with another edge.
    if (probes.draining) void reply.header('connection', 'close');
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    if (!isProbe(request)) {
      const route = request.routeOptions.url ?? 'unlisted';
      const { method } = request;
      const status = reply.raw.statusCode;
      durations.observe({ method, route, status }, reply.elapsedTime / 1_000);
      const facts = { requestId: request.id, channelId: request.channel?.id, method, route, status };
      log.info({ ...facts, elapsedMs: Math.round(reply.elapsedTime) }, 'request');
    }
    done();
  });
}

function isProbe(request: FastifyRequest): boolean {
  return request.is404 && /^\/healthz(\?|$)/.test(request.originalUrl);
}
