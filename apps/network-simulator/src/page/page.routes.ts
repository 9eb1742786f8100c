import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

const PUBLIC = fileURLToPath(new URL('../../public', import.meta.url));
/** The page's scripts are compiled beside this file. */
const SCRIPTS = fileURLToPath(new URL('client', import.meta.url));
const FILE_NAME = /^[a-z-]+\.(css|js)$/;

/** The page for people: phones side by side. */
export function pageRoutes(app: FastifyInstance): void {
  app.get('/', async (_request, reply) => {
    return reply.type(TYPES['html'] ?? '').send(await readFile(join(PUBLIC, 'index.html')));
  });
  app.get<{ Params: { file: string } }>('/page/:file', async (request, reply) => {
    const { file } = request.params;
    const ending = FILE_NAME.exec(file)?.[1];
    if (!ending) return reply.callNotFound();
    const bytes = await readFile(join(ending === 'js' ? SCRIPTS : PUBLIC, file)).catch(() => undefined);
    if (!bytes) return reply.callNotFound();
    return reply
      .type(TYPES[ending] ?? '')
      .header('cache-control', 'no-cache')
      .send(bytes);
  });
}
