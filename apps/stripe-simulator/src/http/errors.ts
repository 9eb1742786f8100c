import type { FastifyInstance } from 'fastify';
import { ZodError, z } from 'zod';
import { StripeFault } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';

/** While the simulator is away its connections end without an answer, all but those of the control API; errors of all routes get their shape. */
export function answerErrors(app: FastifyInstance, world: World, log: (words: string, details: object) => void): void {
  app.addHook('onRequest', async (request, reply) => {
    const isControl = request.url.startsWith('/_simulator') || request.url === '/healthz';
    if (isControl || !world.state.isAway) return;
    reply.hijack();
    request.raw.socket.destroy();
  });
  app.setErrorHandler((error, _, reply) => {
    if (error instanceof StripeFault) return reply.code(error.status).send(error.body());
    if (error instanceof ZodError)
      return reply.code(400).send({ error: { type: 'invalid_request_error', message: z.prettifyError(error) } });
    const status =
      error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
    if (status >= 500)
      log('request failed', { reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    const message = error instanceof Error && status < 500 ? error.message : 'The simulator failed; its log has more.';
    return reply.code(status).send({ error: { type: status < 500 ? 'invalid_request_error' : 'api_error', message } });
  });
}
