/**
 * Requests from pages of other origins (CORS). This is no access control: a page needs a token like any client, and
 * there are no cookies, so every origin may be allowed. A preflight carries no token and is answered before the token
 * is checked. A page can read errors like any other answer.
 */
import type { FastifyInstance } from 'fastify';

/** Origins whose pages may call: every one, or these; none when the list is empty. */
export type AllowedOrigins = '*' | readonly string[];

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, Content-Disposition, Idempotency-Key, If-Range, Range, X-Request-Id',
  // As long as browsers keep it at most.
  'access-control-max-age': '86400',
};
/** Headers that a page may read in addition to the standard ones. */
const EXPOSED = 'X-Request-Id, Retry-After, Content-Disposition, Content-Length, Content-Range, Accept-Ranges, ETag';

/** The headers of every answer to a page of this origin. */
export function originHeaders(allowed: AllowedOrigins, origin: string | undefined): Record<string, string> {
  const exposed = { 'access-control-expose-headers': EXPOSED };
  if (allowed === '*') return { 'access-control-allow-origin': '*', ...exposed };
  if (allowed.length === 0) return {};
  if (origin === undefined || !allowed.includes(origin)) return { vary: 'Origin' };
  return { vary: 'Origin', 'access-control-allow-origin': origin, ...exposed };
}

/** Answers preflights with 204 and puts the headers on all other answers. Must be registered before the access chain. */
export function allowOrigins(fastify: FastifyInstance, allowed: AllowedOrigins): void {
  fastify.addHook('onRequest', async ({ method, headers }, reply) => {
    const own = originHeaders(allowed, headers.origin);
    void reply.headers(own);
    const isPreflight = headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
    if (method !== 'OPTIONS' || !isPreflight || own['access-control-allow-origin'] === undefined) return;
    await reply.code(204).headers(PREFLIGHT_HEADERS).send();
  });
}
