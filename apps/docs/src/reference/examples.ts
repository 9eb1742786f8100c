import { samples, templateOf, webhookExamples, type Sample } from '@dormouse/gateway-contract/test-samples';
import type { Call, Schema } from './document.js';
import type { Example } from './operation-html.js';

const GATEWAY = '"$DORMOUSE_URL';
const MANAGEMENT = '"$DORMOUSE_API';

/** The first sample of a call that succeeds, as a request of a shell with its answer. */
export function gatewayExample({ operation, method, path }: Call): Example | undefined {
  const sample = samples.find(
    (one) => one.operation === operation.operationId && templateOf(one.method, one.path) === path && isShown(one),
  );
  if (!sample) return undefined;
  const query = new URLSearchParams(sample.request.query).toString();
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${GATEWAY}${sample.path}${query === '' ? '' : `?${query}`}"`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...bodyLines(sample),
  ];
  const { body, contentType } = sample.response;
  return { request: lines.join(' \\\n  '), answer: contentType.includes('json') ? body : undefined };
}

const isShown = ({ response, request }: Sample): boolean =>
  (response.status === 200 || response.status === 501) && request.multipart === undefined && !hasLongText(request.body);

/** Files as base64 fill the page. */
const hasLongText = (body: unknown): boolean => JSON.stringify(body ?? '').length > 700;

function bodyLines({ request }: Sample): string[] {
  if (request.body === undefined)
    return request.binaryBase64 === undefined
      ? []
      : [`-H 'Content-Type: ${request.contentType ?? ''}'`, '--data-binary @file'];
  return [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(request.body).replaceAll("'", "'\\''")}'`];
}

export function webhookExample({ path }: Call): Example | undefined {
  const example = webhookExamples.find(({ kind }) => kind === path);
  return example && { request: '', answer: example.body };
}

/** A request of the management API with the fields that it needs. */
export function managementExample({ method, path, operation }: Call): Example {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema && valueOf(schema, '');
  const filled = path
    .replace(/^\/api\/v1/, '')
    .replace(/\{(\w+)\}/g, (_whole, name: string) => IN_PATHS[name] ?? `$${name.toUpperCase()}`);
  const isForUsers = /signed-in users|everybody/i.test(operation.description ?? '');
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${MANAGEMENT}${filled}"`,
    ...(isForUsers ? [] : ['-H "Authorization: Bearer $ACCOUNT_KEY"']),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`]),
  ];
  return { request: lines.join(' \\\n  ') };
}

const IN_PATHS: Readonly<Record<string, string>> = { id: '$ID', region: 'sg' };

const BY_NAME: Readonly<Record<string, unknown>> = {
  email: 'ada@example.com',
  name: 'Support',
  region: 'sg',
  password: 'a long password of your own',
};

/** A value that a schema accepts: required fields alone. */
function valueOf(schema: Schema, name: string): unknown {
  const [alternative] = schema.anyOf ?? schema.oneOf ?? [];
  if (alternative) return valueOf(alternative, name);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.properties) {
    const needed = Object.entries(schema.properties).filter(([key]) => schema.required?.includes(key));
    return Object.fromEntries(needed.map(([key, property]) => [key, valueOf(property, key)]));
  }
  if (schema.type === 'array') return [];
  if (schema.type === 'boolean') return true;
  if (schema.type === 'integer' || schema.type === 'number')
    return schema.minimum !== undefined && schema.minimum > 0 ? schema.minimum : 1;
  return BY_NAME[name] ?? '…';
}
