/**
 * Serves the documentation site: addresses without endings, a page of its own for those that do not exist.
 *
 * Guarantees: only files that were there at the start are served, none that a path leads to otherwise. It needs no store: the
 * errors page answers while the databases are away.
 */
import { readdirSync } from 'node:fs';
import { ASSETS, DOCS_PREFIX, SITE_FOLDER } from '@dormouse/docs';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

const YEAR_MS = 31_536_000_000;
const NOT_FOUND = '404.html';

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Adds the site to a server, under the prefix that its pages have in their links. */
export function serveSite(fastify: FastifyInstance): void {
  const files = filesByAddress();
  void fastify.register(async (scope) => {
    await scope.register(fastifyStatic, { root: SITE_FOLDER, serve: false, preCompressed: true });
    const send = (reply: FastifyReply, address: string): FastifyReply => {
      const file = files.get(address.replace(/\/+$/, ''));
      void reply.headers(HEADERS);
      if (file === undefined) return reply.code(404).sendFile(NOT_FOUND, { maxAge: 0 });
      const isAsset = file.startsWith(`${ASSETS}/`) && /\.[0-9a-f]{12}\./.test(file);
      return reply.sendFile(file, isAsset ? { maxAge: YEAR_MS, immutable: true } : { maxAge: 0 });
    };
    scope.get(DOCS_PREFIX, (_request, reply) => send(reply, ''));
    scope.get<{ Params: { '*': string } }>(`${DOCS_PREFIX}/*`, ({ params }, reply) => send(reply, params['*']));
  });
}

/** Every file of the site: pages by their address below the prefix, other files by their path. */
function filesByAddress(): Map<string, string> {
  const paths = readdirSync(SITE_FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.br'))
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(SITE_FOLDER.length).replace(/^\/+/, ''));
  return new Map(paths.map((path) => [path === 'index.html' ? '' : path.replace(/\.html$/, ''), path]));
}
