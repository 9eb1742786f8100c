import { z } from 'zod';
import { operations, type Operation } from './operations.js';

const FAILURE = {
  description: 'What went wrong, in a sentence.',
  content: {
    'application/json': {
      schema: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } },
    },
  },
};

/** The description of the control API (OpenAPI 3.1), made from the list of operations and their schemas. */
export function openApi(server: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = name.split(' ');
    const described = path.replace(/:(\w+)/g, '{$1}');
    paths[described] = { ...paths[described], [method.toLowerCase()]: describe(path, operation) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Network simulator', version: '1', description: 'Drives the simulated network and its phones.' },
    servers: [{ url: server }],
    paths,
  };
}

function describe(path: string, { summary, body, query }: Operation): object {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const names = query ? Object.keys((schemaOf(query) as { properties?: object }).properties ?? {}) : [];
  const inQuery = names.map((name) => ({ name, in: 'query', schema: { type: 'string' } }));
  return {
    summary,
    parameters: [...inPath, ...inQuery],
    ...(body && { requestBody: { content: { 'application/json': { schema: schemaOf(body) } } } }),
    responses: { 200: { description: 'Done.' }, '4XX': FAILURE },
  };
}

function schemaOf(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}
