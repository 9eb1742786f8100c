import type { FastifyInstance } from 'fastify';
import { openApi } from './openapi.js';
import { operations } from './operations.js';

/** The description of the API: for programs, and as a page. */
export function docsRoutes(app: FastifyInstance, server: () => string): void {
  app.get('/openapi.json', () => openApi(server()));
  app.get('/docs', (_request, reply) => reply.type('text/html; charset=utf-8').send(page()));
}

function page(): string {
  const rows = Object.entries(operations).map(([name, { summary, body }]) => {
    const [method = '', path = ''] = name.split(' ');
    const fields = body && 'shape' in body ? Object.keys(body.shape as object).join(', ') : '';
    return `<tr><td><b>${method}</b></td><td><code>${path}</code></td><td>${summary}</td><td>${fields}</td></tr>`;
  });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Control API</title>
<style>body{font:15px/1.5 system-ui;margin:2rem;max-width:72rem}td,th{padding:.2rem .8rem;text-align:left;vertical-align:top}
tr:nth-child(even){background:#f3f5f4}</style>
<h1>Control API</h1><p>As a document for programs: <a href="openapi.json">openapi.json</a>. The phones: <a href="./">the page</a>.</p>
<table><tr><th></th><th>Path</th><th>What</th><th>Body</th></tr>${rows.join('\n')}</table></html>`;
}
