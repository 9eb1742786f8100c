import fastify, { type FastifyInstance } from 'fastify';
import { ZodError } from 'zod';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { connectionRoutes } from './connections.routes.js';
import { faultRoutes } from './faults.routes.js';
import { groupRoutes } from './groups.routes.js';
import { messageRoutes } from './messages.routes.js';
import { phoneRoutes } from './phones.routes.js';

const MAX_BODY_BYTES = 100 * 1024 * 1024;

/** What clients must be pointed at. */
export interface NetworkAddress {
  socketUrl: string;
  rootKey: string;
}

/** The control API. Every error is `{"error": "a sentence"}` with a 4xx or 5xx status. */
export async function controlServer(network: Network, address: () => NetworkAddress): Promise<FastifyInstance> {
  const app = fastify({ forceCloseConnections: true, bodyLimit: MAX_BODY_BYTES });
  app.setErrorHandler(async (error, _request, reply) => {
    if (error instanceof Refusal) return reply.status(error.code).send({ error: error.text });
    if (error instanceof ZodError) {
      const [issue] = error.issues;
      const where = issue?.path.join('.');
      return reply
        .status(400)
        .send({ error: where ? `${where}: ${issue?.message}` : (issue?.message ?? 'Bad request.') });
    }
    const status = statusOf(error);
    if (status >= 500) network.log.error({ reason: String(error) }, 'a control request failed');
    return reply.status(status).send({ error: error instanceof Error ? error.message : 'Something failed.' });
  });
  app.setNotFoundHandler((_request, reply) => reply.status(404).send({ error: 'There is nothing at this address.' }));
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.get('/health', () => ({ ok: true }));
  app.get('/network', address);
  await app.register((scope) => phoneRoutes(scope, network));
  await app.register((scope) => messageRoutes(scope, network));
  await app.register((scope) => groupRoutes(scope, network));
  await app.register((scope) => faultRoutes(scope, network));
  await app.register((scope) => connectionRoutes(scope, network));
  return app;
}

function statusOf(error: unknown): number {
  if (typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number') {
    return error.statusCode;
  }
  return 500;
}
