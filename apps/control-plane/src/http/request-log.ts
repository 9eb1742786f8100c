import type { Logger, Probes } from '@dormouse/bootstrap';
import type { FastifyInstance } from 'fastify';
import { Histogram } from 'prom-client';

/**
 * Sets the request id on every response, and writes one log line and one measurement for each request. Both hold the
 * route, never the path with its ids, and no bodies.
 */
export function logRequests(fastify: FastifyInstance, { log, probes }: { log: Logger; probes: Probes }): void {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [probes.metrics],
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    if (probes.draining) void reply.header('connection', 'close');
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const { method, account, operator } = request;
    const route = request.routeOptions.url ?? 'unlisted';
    const status = reply.raw.statusCode;
    durations.observe({ method, route, status }, reply.elapsedTime / 1_000);
    const facts = { requestId: request.id, accountId: account?.id, operator: operator?.name, method, route, status };
    if (route !== LIVENESS) log.info({ ...facts, elapsedMs: Math.round(reply.elapsedTime) }, 'request');
    done();
  });
}

const LIVENESS = '/healthz';

/** Liveness for load balancers, without a key: it only shows that the process answers. The other probes have a port of their own. */
export function answerLiveness(fastify: FastifyInstance, probes: Probes): void {
  fastify.get(LIVENESS, async (_request, reply) => {
    const answer = await probes.answer(LIVENESS);
    return reply
      .code(answer?.status ?? 404)
      .header('content-type', answer?.contentType ?? 'text/plain')
      .send(answer?.body);
  });
}
