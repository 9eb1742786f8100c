import type { FastifyInstance } from 'fastify';

/**
 * Lets `?account=` choose the account of a read, as the header `X-Account` does: the browser's `EventSource` can send no
 * headers. The header wins.
 */
export function takeAccountFromQuery(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { method, headers, url } = request;
    if (method === 'GET' && headers['x-account'] === undefined && url.includes('account=')) {
      const named = new URL(url, 'http://request').searchParams.get('account');
      if (named !== null) headers['x-account'] = named;
    }
    done();
  });
}
