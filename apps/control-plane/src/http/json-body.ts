import { GatewayError } from '@dormouse/gateway-contract';
import type { FastifyInstance } from 'fastify';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** JSON is the only kind of body. None at all is fine, whatever the content type says. */
export function readJsonBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    const text = body.toString();
    if (text.trim() === '') return done(null, undefined);
    if (!JSON_TYPE.test(request.headers['content-type'] ?? 'application/json')) {
      return done(new GatewayError(400, { details: 'body: JSON expected' }));
    }
    try {
      done(null, JSON.parse(text));
    } catch (error) {
      done(new GatewayError(400, { details: 'body: not valid JSON' }, { cause: error }));
    }
  });
}
