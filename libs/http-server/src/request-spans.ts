import { isTracing, startSpan, type OpenSpan } from '@dormouse/traces';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LIVENESS } from './request-log.js';

/**
 * Makes a span of every request, in which all of its work and every line of the log is. A trace that the client names by
 * `traceparent` goes on. Without traces nothing is added to requests.
 */
export function traceRequests(fastify: FastifyInstance): void {
  if (!isTracing()) return;
  const spans = new WeakMap<FastifyRequest, OpenSpan>();
  const within = (request: FastifyRequest, done: () => void): void => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  };
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!LIVENESS.test(request.originalUrl)) spans.set(request, spanOf(request));
    within(request, done);
  });
  // The body arrives in events of the connection, which belong to no request.
  fastify.addHook('preValidation', (request, _reply, done) => within(request, done));
  fastify.addHook('onResponse', (request, { raw: { statusCode } }, done) => {
    const span = spans.get(request);
    span?.add({ 'http.response.status_code': statusCode });
    if (statusCode >= 500) span?.fail(String(statusCode));
    span?.end();
    within(request, done);
  });
}

function spanOf({ method, routeOptions: { url: route }, id: requestId, headers }: FastifyRequest): OpenSpan {
  const { traceparent } = headers;
  return startSpan(route === undefined ? method : `${method} ${route}`, {
    kind: 'server',
    parent: typeof traceparent === 'string' ? traceparent : null,
    requestId,
    facts: { 'http.request.method': method, ...(route !== undefined && { 'http.route': route }) },
  });
}
