import { GatewayError } from '@dormouse/gateway-contract';
import { announcesBody, unreadableType } from '@dormouse/http-server';
import type { FastifyInstance } from 'fastify';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Accepts JSON bodies only. An empty body is accepted with any content type. */
export function readJsonBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addHook('preParsing', ({ headers, mediaType }, _reply, payload, done) => {
    if (headers['content-type'] !== undefined && mediaType === undefined) {
      if (announcesBody({ headers })) return done(unreadableType());
      // Fastify rejects an invalid content type even without a body.
      delete headers['content-type'];
    }
    done(null, payload);
  });
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
