import { ERROR_TABLE } from '@dormouse/gateway-contract';
import { gatewayOpenApi, webhooksOpenApi } from '@dormouse/gateway-contract/openapi';
import { managementOpenApi } from '@dormouse/management-contract';
import type { PageEntry } from '../contents.js';
import { escaped, slugOf } from '../html.js';
import { DOCS_PREFIX } from '../index.js';
import { headingHtml, tableHtml, type Heading } from '../markdown.js';
import type { PageParts } from '../page-html.js';
import { callsOf, type ApiDocument, type Call } from './document.js';
import { gatewayExample, managementExample, webhookExample } from './examples.js';
import { anchorOf, fieldsHtml, inlineCode } from './fields-html.js';
import { headingOf, operationHtml, type OperationOptions } from './operation-html.js';

const errorAnchors = Object.fromEntries(Object.entries(ERROR_TABLE).map(([status, { anchor }]) => [status, anchor]));
const OBJECTS = 'api/objects';

/** The three documents as programs get them: texts of JSON. */
export const DOCUMENT_TEXTS = {
  gateway: JSON.stringify(gatewayOpenApi()),
  management: JSON.stringify(managementOpenApi()),
  webhooks: JSON.stringify(webhooksOpenApi()),
};

type DocumentName = keyof typeof DOCUMENT_TEXTS;

interface Reference {
  name: DocumentName;
  title: string;
  /** What one has to know before the calls. */
  intro: string;
  options: Pick<OperationOptions, 'exampleOf'>;
}

const REFERENCES: readonly Reference[] = [
  {
    name: 'gateway',
    title: 'Gateway API',
    intro: `<p>What programs use: one channel, one token. Each request has the channel token in the header <code>Authorization: Bearer &lt;token&gt;</code>, or, for clients that cannot set headers, as <code>?token=&lt;token&gt;</code>. Bodies are JSON; <code>null</code> counts as absent, and unknown fields are ignored. A send takes the header <code>Idempotency-Key</code>: see <a href="${DOCS_PREFIX}/idempotency">Sending once</a>.</p>`,
    options: { exampleOf: gatewayExample },
  },
  {
    name: 'management',
    title: 'Management API',
    intro: `<p>Accounts, channels, events, billing and operators. Requests have an account key, <code>Authorization: Bearer &lt;key&gt;</code>, or the session of a signed-in user. In the examples <code>$DORMOUSE_API</code> is the address of the control plane with <code>/api/v1</code>.</p>`,
    options: { exampleOf: managementExample },
  },
];

/** Every page of the references, and the sections of the list of pages that name them. */
export function referencePages(): { pages: PageParts[]; entries: PageEntry[] } {
  const apis = REFERENCES.map(apiPages);
  const webhooks = webhooksPage();
  const objects = objectsPage();
  return {
    pages: [...apis.flat(), webhooks, objects],
    entries: [
      ...apis.map(([overview]) => overview?.entry).filter((entry) => entry !== undefined),
      webhooks.entry,
      objects.entry,
    ],
  };
}

const sectionOf = (text: string): Heading => ({ depth: 2, id: slugOf(text), text });

const documentOf = (name: DocumentName): ApiDocument => JSON.parse(DOCUMENT_TEXTS[name]) as ApiDocument;

/** Objects that answers and events are made of have sections of their own, on one page. */
function objectAddress(name: string): string | undefined {
  return isObject(name) ? `${DOCS_PREFIX}/${OBJECTS}#${anchorOf(name)}` : undefined;
}

const GATEWAY = documentOf('gateway');
const isObject = (name: string): boolean => name !== 'Error' && name in GATEWAY.components.schemas;

function apiPages({ name, title, intro, options }: Reference): PageParts[] {
  const document = documentOf(name);
  const calls = callsOf(document);
  const shared = { ...options, errorAnchors, addressOf: objectAddress, schemas: document.components.schemas };
  const groups = document.tags.map((tag) => ({
    entry: { slug: `api/${name}/${slugOf(tag.name)}`, title: `${title}: ${tag.name}` },
    tag: tag.name,
    calls: calls.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const children = groups.map(({ entry, tag }) => ({ ...entry, title: tag }));
  const overview = { slug: `api/${name}`, title, children };
  const headings = groups.map((group) => sectionOf(group.tag));
  const lists = groups.map((group) => headingHtml(sectionOf(group.tag)) + callList(group.entry, group.calls));
  const html = `<h1 id="top">${escaped(title)}</h1>${intro}${download(name)}${lists.join('')}`;
  const pages = groups.map((group) => groupPage(group, overview, shared));
  return [{ entry: overview, html, headings: [{ depth: 1, id: 'top', text: title }, ...headings] }, ...pages];
}

const download = (name: DocumentName): string =>
  `<p><a href="${DOCS_PREFIX}/openapi/${name}.json">The same as an OpenAPI 3.1 document</a></p>`;

function callList(page: PageEntry, calls: readonly Call[]): string {
  const rows = calls.map((call) => {
    const { id, text } = headingOf(call);
    return `<tr><td><a href="${DOCS_PREFIX}/${page.slug}#${id}">${escaped(text)}</a></td><td><code>${call.method} ${escaped(call.path)}</code></td></tr>`;
  });
  return tableHtml('<th>Call</th><th>Address</th>', rows.join(''));
}

function groupPage(
  { entry, tag, calls }: { entry: PageEntry; tag: string; calls: readonly Call[] },
  overview: PageEntry,
  options: OperationOptions,
): PageParts {
  const headings = [{ depth: 1, id: 'top', text: tag }, ...calls.map(headingOf)];
  const sections = calls.map((call) => `<section class="operation">${operationHtml(call, options)}</section>`);
  const above = `<p class="above"><a href="${DOCS_PREFIX}/${overview.slug}">${escaped(overview.title)}</a></p>`;
  return { entry, html: `${above}<h1 id="top">${escaped(tag)}</h1>${sections.join('')}`, headings };
}

function webhooksPage(): PageParts {
  const document = documentOf('webhooks');
  const calls = callsOf(document);
  const entry = { slug: 'api/webhooks', title: 'Events' };
  const options = {
    exampleOf: webhookExample,
    errorAnchors,
    addressOf: objectAddress,
    schemas: document.components.schemas,
  };
  const headings = calls.map(({ path }) => sectionOf(path));
  const sections = calls.map((call) => {
    const [first, ...rest] = operationHtml(call, options).split('\n').slice(1);
    const { summary } = call.operation;
    return `<section class="operation">${headingHtml(sectionOf(call.path))}<p>${inlineCode(summary)}.</p>${first ?? ''}${rest.join('\n')}</section>`;
  });
  const intro = `<p>What a webhook receives and <code>GET /channels/{id}/events</code> shows, by type and method. How calls are made, in which order, and how to verify them: <a href="${DOCS_PREFIX}/webhooks">Webhooks</a>.</p>${download('webhooks')}`;
  const html = `<h1 id="top">Events</h1>${intro}${sections.join('')}`;
  return { entry, html, headings: [{ depth: 1, id: 'top', text: 'Events' }, ...headings] };
}

function objectsPage(): PageParts {
  const { schemas } = GATEWAY.components;
  const names = Object.keys(schemas).filter(isObject);
  const options = { addressOf: objectAddress, schemas, mark: 'always' } as const;
  const objectOf = (name: string): Heading => ({ depth: 2, id: anchorOf(name), text: name });
  const sections = names.map((name) => {
    const schema = schemas[name] ?? {};
    const text = schema.description === undefined ? '' : `<p>${inlineCode(schema.description)}</p>`;
    const fields = fieldsHtml(schema, options);
    return `<section class="operation">${headingHtml(objectOf(name))}${text}${fields}</section>`;
  });
  const html = `<h1 id="top">Objects</h1><p>What answers and events are made of. Absent values are left out, never <code>null</code>; new fields may be added.</p>${sections.join('')}`;
  return {
    entry: { slug: OBJECTS, title: 'Objects' },
    html,
    headings: [{ depth: 1, id: 'top', text: 'Objects' }, ...names.map(objectOf)],
  };
}
