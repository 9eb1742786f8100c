import { z } from 'zod';
import { ANSWERS } from '../answer-schemas.js';
import { ERROR_TABLE, type ErrorStatus } from '../errors.js';
import { CHANNEL_ENDPOINTS, MEDIA_ENDPOINTS, PRESENCE_ENDPOINTS } from './channel-endpoints.js';
import { CHAT_ENDPOINTS, GROUP_ENDPOINTS } from './chat-endpoints.js';
import { COMMON_FAILURES, type Endpoint } from './endpoint.js';
import { inputSchema, namedSchemas, refTo, type Json } from './json-schema.js';
import { MESSAGE_ENDPOINTS } from './message-endpoints.js';

/** Every call, by its name. */
export const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  ...CHANNEL_ENDPOINTS,
  ...MESSAGE_ENDPOINTS,
  ...CHAT_ENDPOINTS,
  ...GROUP_ENDPOINTS,
  ...MEDIA_ENDPOINTS,
  ...PRESENCE_ENDPOINTS,
};

const errorEnvelope = z.object({
  error: z.object({
    code: z.int().describe('The HTTP status.'),
    message: z.string(),
    details: z.string().optional().describe('What is wrong and what to do; for 400 it names the field.'),
    href: z.string().describe('The section of the errors page.'),
    support: z.string().describe('Address of support.'),
  }),
});

const PARAMETERS: Readonly<Record<string, string>> = {
  ChatID: 'Id of a chat: `<digits>@s.whatsapp.net`, `<group>@g.us`, or the digits alone.',
  MessageID: 'Id of a message.',
  ContactID: 'Id of a contact: digits, or `<digits>@lid`.',
  GroupID: 'Id of a group: `<group>@g.us`.',
  MediaID: 'Id of a file.',
  EntryID: 'The chat in which it is shown: digits, `<digits>@s.whatsapp.net`, or `<group>@g.us`.',
  InviteCode: 'The part of an invite link after the host.',
};

/** The gateway API as an OpenAPI 3.1 document, made from the schemas that validate requests, and those of its answers. */
export function gatewayOpenApi(): Json {
  const paths: Record<string, Json> = {};
  for (const [operationId, endpoint] of Object.entries(ENDPOINTS)) {
    const { method, path } = endpoint;
    paths[path] = { ...paths[path], [method]: { operationId, ...describe(endpoint) } };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Dormouse gateway API', version: '1' },
    security: [{ channelToken: [] }, { tokenInQuery: [] }],
    tags: [...new Set(Object.values(ENDPOINTS).map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        channelToken: { type: 'http', scheme: 'bearer', description: 'The token of the channel.' },
        tokenInQuery: {
          type: 'apiKey',
          in: 'query',
          name: 'token',
          description: 'For clients that cannot set headers.',
        },
      },
      schemas: namedSchemas({ ...ANSWERS, Error: errorEnvelope }),
    },
  };
}

function describe(endpoint: Endpoint): Json {
  const { tag, summary, description, query, path } = endpoint;
  const body = requestBodyOf(endpoint);
  return {
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    parameters: [...pathParameters(path), ...queryParameters(query)],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { ...successOf(endpoint), ...Object.fromEntries(failuresOf(endpoint).map(failure)) },
  };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PARAMETERS[name],
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodObject | undefined): Json[] {
  if (!query) return [];
  const { properties, required } = inputSchema(query) as { properties: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required?.includes(name) ?? false,
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

function requestBodyOf({ bodies, isOptional, fileField, takesBytes }: Endpoint): Json | undefined {
  if (!bodies) return undefined;
  const [first, ...more] = bodies.map(inputSchema);
  const schema = more.length === 0 ? first : { anyOf: [first, ...more] };
  const form = fileField !== undefined && { 'multipart/form-data': { schema: formOf(first ?? {}, fileField) } };
  const bytes = takesBytes === true && { 'application/octet-stream': { schema: BYTES } };
  return { required: isOptional !== true, content: { 'application/json': { schema }, ...form, ...bytes } };
}

const BYTES = { type: 'string', format: 'binary' };

/** The same fields as parts of a form, one of which is the file. */
function formOf(schema: Json, fileField: string): Json {
  const properties = schema['properties'] as Record<string, Json>;
  return { ...schema, properties: { ...properties, [fileField]: { ...BYTES, description: 'The file.' } } };
}

function successOf({ answers, method, path }: Endpoint): Json {
  if (answers === undefined) return {};
  const content =
    typeof answers === 'string' ? { [answers]: { schema: BYTES } } : { 'application/json': { schema: anyOf(answers) } };
  const range = path === '/media/{MediaID}' && method === 'get' ? { 206: { description: 'The range', content } } : {};
  return { 200: { description: 'Done', content }, ...range };
}

function anyOf(names: readonly string[]): Json {
  const [first = '', ...more] = names;
  return more.length === 0 ? refTo(first) : { anyOf: names.map(refTo) };
}

function failuresOf({ failures, failsRarely }: Endpoint): ErrorStatus[] {
  const common: readonly ErrorStatus[] = failsRarely ? [401, 429] : COMMON_FAILURES;
  const neverServed = failures.includes(501);
  return [...new Set([...(neverServed ? ([401] as const) : common), ...failures])].sort((a, b) => a - b);
}

function failure(status: ErrorStatus): [ErrorStatus, Json] {
  const { message, retryable } = ERROR_TABLE[status];
  const description = `${message.charAt(0).toUpperCase()}${message.slice(1)}${retryable ? '; retry' : ''}`;
  return [status, { description, content: { 'application/json': { schema: refTo('Error') } } }];
}
