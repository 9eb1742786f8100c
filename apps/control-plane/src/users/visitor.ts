import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Visitor } from './sign-in-engine.js';
import type { WithCookies } from './signing-in.js';

export function visitorOf({ headers, ip, id }: FastifyRequest): Visitor {
  return { headers, address: ip, requestId: id };
}

/** Sets the cookies of an answer and returns its body. Neither is to be kept by any cache. */
export function sendCookies<Body>(reply: FastifyReply, { body, cookies }: WithCookies<Body>): Body {
  void reply.header('cache-control', 'no-store');
  if (cookies.length > 0) void reply.header('set-cookie', cookies);
  return body;
}
