import type { FastifyReply } from 'fastify';
import type { World } from '../world/world.js';
import { html, page } from './html.js';

/** What the pages act on. */
export interface PageParts {
  world: World;
  settle: () => void;
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'self'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Sends a page. */
export function show(reply: FastifyReply, content: string, status = 200): FastifyReply {
  return reply.code(status).headers(HEADERS).send(content);
}

/** What a form of a page gave. */
export function fieldsOf(body: unknown): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(typeof body === 'string' ? body : ''));
}

/** The page for an address that stands for nothing. */
export function showNothing(reply: FastifyReply): FastifyReply {
  return show(reply, page('Not found', html`<p role="alert">There is nothing at this address.</p>`), 404);
}
