import { GatewayError } from '@dormouse/gateway-contract';
import type { FastifyInstance } from 'fastify';

/** Webhooks are verified on the bytes that were signed. */
export const WEBHOOK_PATH = '/stripe/webhook';

/** Gives the webhook its body as the bytes that were sent, and everything else its body as JSON. */
export function readBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, ({ url }, body, done) => {
    if (url.split('?', 1)[0] === WEBHOOK_PATH) return done(null, body);
    const text = body.toString();
    if (text.trim() === '') return done(null, undefined);
    try {
      done(null, JSON.parse(text));
    } catch (error) {
      done(new GatewayError(400, { details: 'body: not valid JSON' }, { cause: error }));
    }
  });
}
