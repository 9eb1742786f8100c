import type { FastifyInstance } from 'fastify';
import { describedCalls, openApi, type DescribedCall } from './openapi.js';
import { typeText } from './type-text.js';

/** The description of the API: for programs, and as a page. */
export function docsRoutes(app: FastifyInstance, server: () => string): void {
  app.get('/openapi.json', () => openApi(server()));
  app.get('/docs', (_request, reply) => reply.type('text/html; charset=utf-8').send(page(server())));
}

const STYLE = `
:root { color-scheme: light dark; --quiet: light-dark(#5b6661, #a3afa9); --line: light-dark(#d5dcd8, #39423e);
  --box: light-dark(#f3f5f4, #1d2320); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 56rem; background: light-dark(#fff, #121614);
  color: light-dark(#17211c, #e6ece9); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
a { color: light-dark(#0a6b4a, #5fd3a6); } p { margin: .3rem 0; }
section { border-top: 1px solid var(--line); padding: 1rem 0; }
h3 { font-size: .85rem; margin: .8rem 0 .2rem; color: var(--quiet); font-weight: 600; }
pre { background: var(--box); border-radius: .4rem; padding: .6rem .8rem; margin: 0; overflow-x: auto; font-size: .85rem; }
code { font-family: ui-monospace, monospace; } .method { color: var(--quiet); }
nav ul { columns: 22rem; padding-left: 1.2rem; font-size: .9rem; } nav li { overflow-wrap: anywhere; }
`;

function page(server: string): string {
  const calls = describedCalls();
  const links = calls.map(
    (call) => `<li><a href="#${anchor(call)}"><code>${call.method} ${escaped(call.path)}</code></a></li>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Control API</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head><body>
<h1>Control API</h1><p>As a document for programs: <a href="openapi.json">openapi.json</a>. The phones: <a href="./">the page</a>.
Every error is <code>{"error": "a sentence"}</code> with a status of 4xx or 5xx.</p>
<nav aria-label="Calls"><ul>${links.join('')}</ul></nav>
<main>${calls.map((call) => section(call, server)).join('\n')}</main></body></html>`;
}

function section(call: DescribedCall, server: string): string {
  const { method, path, summary, parameters, body, answers } = call;
  const inQuery = parameters.filter((one) => one.in === 'query');
  const parts = [
    `<h2 id="${anchor(call)}"><span class="method">${method}</span> <code>${escaped(path)}</code></h2><p>${escaped(summary)}</p>`,
  ];
  if (inQuery.length > 0) {
    const properties = Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema]));
    const required = inQuery.filter((one) => one.required).map(({ name }) => name);
    parts.push(box('Query', typeText({ type: 'object', properties, required })));
  }
  if (body) parts.push(box(body.type === 'text/plain' ? 'Body, as text' : 'Body', typeText(body.schema)));
  for (const { status, description, type, schema } of answers) {
    const title = description === undefined ? `Answer ${status}` : `Answer ${status}: ${description}`;
    parts.push(box(title, schema ? typeText(schema) : type));
  }
  parts.push(box('Example', curlCalls(call, server).join('\n')));
  return `<section>${parts.join('\n')}</section>`;
}

/** Values of the parameters in paths, for examples. */
const SAMPLES: Record<string, string> = {
  phone: '6591110001',
  number: '6591110001',
  device: '1',
  group: '120363000000000001@g.us',
  id: '3A0123456789',
};

/** The call on a command line, once for each example of its body. */
function curlCalls({ method, path, parameters, body }: DescribedCall, server: string): string[] {
  const filled = path.replace(/:(\w+)/g, (_all, name: string) => SAMPLES[name] ?? name);
  const needed = parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => `${name}=…`);
  const url = `${server}${filled}${needed.length > 0 ? `?${needed.join('&')}` : ''}`;
  const start = method === 'GET' ? `curl '${url}'` : `curl -X ${method} '${url}'`;
  if (!body || body.examples.length === 0) return [start];
  return body.examples.map((example) =>
    typeof example === 'string'
      ? `${start} --data-binary '${example}'`
      : `${start} --json '${JSON.stringify(example).replaceAll("'", "'\\\\''")}'`,
  );
}

const box = (title: string, text: string): string => `<h3>${title}</h3><pre><code>${escaped(text)}</code></pre>`;
const anchor = ({ method, path }: DescribedCall): string => `${method}${path}`.toLowerCase().replace(/[^a-z]+/g, '-');
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
