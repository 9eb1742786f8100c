/** The examples of the API document, for specs: requests with the responses they get, and webhook bodies. */
import { readdirSync, readFileSync } from 'node:fs';

export type Json = Record<string, unknown>;

export interface SamplePart {
  name: string;
  text?: string;
  filename?: string;
  contentType?: string;
  base64?: string;
}

export interface Sample {
  operation: string;
  variant: string;
  method: string;
  path: string;
  request: {
    contentType?: string;
    body?: unknown;
    query?: Record<string, string>;
    multipart?: SamplePart[];
    binaryBase64?: string;
  };
  response: { status: number; contentType: string; body?: unknown; headers?: Record<string, string> };
}

export interface WebhookExample {
  kind: string;
  name: string;
  body: Json;
}

const folder = new URL('../openapi/', import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));

export const contract = read('contract.json') as { paths: Record<string, Record<string, Operation>> };
export interface Operation {
  operationId: string;
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, { $ref?: string; content?: Record<string, unknown> }>;
}

export const samples: Sample[] = readdirSync(new URL('samples/', folder))
  .filter((name) => name !== 'index.json')
  .sort()
  .map((name) => read(`samples/${name}`) as Sample);

export const sampleName = ({ operation, variant }: Sample) => `${operation}.${variant}`;

const webhooks = read('webhooks.json') as { events: Record<string, { examples: { name: string; body: Json }[] }> };

export const webhookExamples: WebhookExample[] = Object.entries(webhooks.events).flatMap(([kind, { examples }]) =>
  examples.map(({ name, body }) => ({ kind, name, body })),
);

/** The template of a path that the document lists for this method; a literal path wins over a template. */
export function templateOf(method: string, path: string): string | undefined {
  const listed = Object.keys(contract.paths).filter((template) => contract.paths[template]?.[method.toLowerCase()]);
  const pattern = (template: string) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`);
  return listed.find((template) => template === path) ?? listed.find((template) => pattern(template).test(path));
}

/** The ids in a path by the names the template gives them. */
export function idsIn(template: string, path: string): Record<string, string> {
  const values = path.split('/');
  const names = template.split('/').map((segment) => /^\{(.+)\}$/.exec(segment)?.[1]);
  return Object.fromEntries(names.flatMap((name, index) => (name ? [[name, values[index] ?? '']] : [])));
}
