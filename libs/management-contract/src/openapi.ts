import { z } from 'zod';
import type { Access } from './access.js';
import { errorBody } from './error-envelope.js';
import type { Operation } from './operation.js';
import { MANAGEMENT_PREFIX, OPERATIONS } from './operations.js';

type Json = Record<string, unknown>;

/** Cookie that a sign-in sets. */
export const SESSION_COOKIE = 'dormouse.session_token';

/** Ways to authenticate, by whom an operation is for. */
const SECURITY: Record<Access['for'], Json[]> = {
  anyone: [],
  users: [{ session: [] }],
  members: [{ accountKey: [] }, { session: [] }],
  operators: [{ operatorKey: [] }, { session: [] }],
};

const ERROR_CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

/** What a path is about, by how it begins; the first that fits. */
const TAGS: Readonly<Record<string, string>> = {
  '/auth': 'Signing in',
  '/channels/{id}/': 'Events and webhooks',
  '/channels': 'Channels',
  '/accounts': 'Accounts and teams',
  '/account': 'Accounts and teams',
  '/invitations': 'Accounts and teams',
  '/audit': 'Accounts and teams',
  '/billing': 'Billing',
  '/fleet': 'Operators',
  '/operators': 'Operators',
  '': 'Installation',
};

/** Of a channel, these are about the channel itself. */
const OF_CHANNELS = /\/(settings|logout|token|sleep|login[^/]*)$/;

function tagOf(path: string): string {
  const [, tag = ''] = Object.entries(TAGS).find(([beginning]) => path.startsWith(beginning)) ?? [];
  return OF_CHANNELS.test(path) && path.startsWith('/channels') ? 'Channels' : tag;
}

/** The management API as an OpenAPI 3.1 document, made from the schemas that validate it. */
export function managementOpenApi(): Json {
  const paths: Record<string, Json> = {};
  for (const [operationId, operation] of Object.entries<Operation>(OPERATIONS)) {
    const path = MANAGEMENT_PREFIX + operation.path;
    paths[path] = { ...paths[path], [operation.method]: { operationId, ...describe(operation) } };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Dormouse management API', version: '1' },
    security: SECURITY.members,
    tags: [...new Set(Object.values(TAGS))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: jsonSchema(errorBody, 'output') },
      securitySchemes: {
        accountKey: { type: 'http', scheme: 'bearer' },
        operatorKey: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
      },
    },
  };
}

function describe(operation: Operation): Json {
  const { access, answer } = operation;
  const failures = [400, 401, 403, ...operation.failures, 429, 502];
  const done = answer ? { content: jsonOf(answer, 'output') } : {};
  return {
    tags: [tagOf(operation.path)],
    summary: operation.summary,
    description: whoMay(access),
    ...(access.for === 'members' ? {} : { security: SECURITY[access.for] }),
    parameters: [...pathParameters(operation.path), ...queryParameters(operation.query)],
    ...(operation.body ? { requestBody: { required: true, content: jsonOf(operation.body, 'input') } } : {}),
    responses: {
      [operation.status]: { description: 'Done', ...done },
      ...(operation.later ? { 202: { description: operation.later, ...done } } : {}),
      ...Object.fromEntries(failures.map((status) => [status, { description: 'Not done', content: ERROR_CONTENT }])),
    },
  };
}

/** A sentence about who may call an operation. */
function whoMay(access: Access): string {
  const proof = 'proof' in access && access.proof ? ' A session must have entered its password within 15 minutes.' : '';
  switch (access.for) {
    case 'anyone':
      return 'For everybody.';
    case 'users':
      return `For signed-in users.${proof}`;
    case 'operators':
      return `For operators.${proof}`;
    case 'members':
      return `Roles: ${access.roles.join(', ')}. Scope of a key: ${access.scope}.${proof}`;
  }
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodObject | undefined): Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: !(schema as z.ZodType).safeParse(undefined).success,
    schema: jsonSchema(schema as z.ZodType, 'input'),
  }));
}

function jsonOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  return { 'application/json': { schema: jsonSchema(schema, io) } };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, override: dropSafeRange });
  return rest;
}

/** Zod's bounds of whole numbers are those of JavaScript. */
function dropSafeRange({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
