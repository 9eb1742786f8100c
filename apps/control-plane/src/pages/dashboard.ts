/**
 * The dashboard: one page whose script draws every address that is not the API's.
 *
 * Guarantees: a strict content security policy with a nonce of each answer; nothing is loaded from another host; the page may
 * make requests to this origin and to the gateways of the regions alone. Files below `/assets/` have their content's hash in
 * their names and are kept for a year; the page itself is never kept.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@dormouse/bootstrap';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Where the build of the dashboard is, seen from the sources as from what is built of them. */
export const DASHBOARD_FILES = fileURLToPath(new URL('../../../dashboard/dist/pages/', import.meta.url));

/** In place of it the page gets its nonce. */
const NONCE = /NONCE_OF_THIS_PAGE/g;
const NONCE_BYTES = 18;
/** The first part of an address that is a page: not one of the API, of files, or of probes and metrics, which have a port of their own. */
const PAGE = '/:page(^(?!(?:api|docs|assets|healthz|readyz|metrics)$).+)';

export interface DashboardSettings {
  /** Folder with `index.html` and `assets/`. */
  files: string;
  /** Addresses of the regions' gateways, which the page sends messages to. */
  gatewayUrls: readonly string[];
}

/** Adds the dashboard to a server. Without its files, the API is served alone. */
export function serveDashboard(fastify: FastifyInstance, { files, gatewayUrls }: DashboardSettings, log: Logger): void {
  const index = join(files, 'index.html');
  if (!existsSync(index)) {
    log.warn({ index }, 'the dashboard is not built: only the API is served (npm run build)');
    return;
  }
  const page = readFileSync(index, 'utf8');
  void fastify.register(fastifyStatic, {
    root: join(files, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    index: false,
    setHeaders: (reply) => void reply.header('x-content-type-options', 'nosniff'),
  });
  const connect = ["'self'", ...gatewayUrls.map((url) => new URL(url).origin)].join(' ');
  const send = (_request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policy(nonce, connect),
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      .send(page.replace(NONCE, nonce));
  };
  for (const path of ['/', PAGE, `${PAGE}/*`]) fastify.get(path, send);
}

function policy(nonce: string, connect: string): string {
  return [
    "default-src 'self'",
    `connect-src ${connect}`,
    "img-src 'self' data: blob:",
    `style-src 'self' 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join('; ');
}
