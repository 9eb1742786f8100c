import { z } from 'zod';
import { answers, type Answer } from './answers.js';
import { examples } from './examples.js';
import { operations, type Operation } from './operations.js';
import type { Schema } from './type-text.js';

const FAILURE = {
  description: 'What went wrong, in a sentence.',
  content: {
    'application/json': {
      schema: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } },
    },
  },
};
/** Bodies that are text and not JSON. */
const TEXT_BODIES = new Set(['POST /admin/mock-phone/scan-qr']);

/** A call as the description has it. */
export interface DescribedCall {
  method: string;
  /** As the router knows it, `/phones/:phone`. */
  path: string;
  summary: string;
  parameters: { name: string; in: 'path' | 'query'; required: boolean; schema: Schema; description?: string }[];
  body?: { type: string; schema: Schema; examples: readonly unknown[] };
  answers: DescribedAnswer[];
}

/** An answer of a call that succeeds. */
export interface DescribedAnswer {
  status: number;
  /** When it answers so; absent where it always does. */
  description?: string;
  type: string;
  schema?: Schema;
}

/** Every call of the API, with its parameters, body, examples and answer. */
export function describedCalls(): DescribedCall[] {
  return Object.entries(operations).map(([name, operation]) => describe(name, operation));
}

/** The description of the control API (OpenAPI 3.1). */
export function openApi(server: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const call of describedCalls()) {
    const path = call.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [call.method.toLowerCase()]: operationOf(call) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Network simulator', version: '1', description: 'Drives the simulated network and its phones.' },
    servers: [{ url: server }],
    paths,
  };
}

function operationOf({ summary, parameters, body, answers: possible }: DescribedCall): object {
  return {
    summary,
    parameters,
    ...(body && {
      requestBody: {
        content: {
          [body.type]: {
            schema: body.schema,
            ...(body.examples.length > 0 && {
              examples: Object.fromEntries(body.examples.map((value, index) => [`example-${index + 1}`, { value }])),
            }),
          },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(
        possible.map(({ status, description = 'Done.', type, schema }) => [
          status,
          { description, content: { [type]: schema ? { schema } : {} } },
        ]),
      ),
      '4XX': FAILURE,
    },
  };
}

function describe(name: string, { summary, body, query }: Operation): DescribedCall {
  const [method = '', path = ''] = name.split(' ');
  const isText = TEXT_BODIES.has(name);
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => ({
    name: parameter,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' },
  }));
  const { properties = {}, required = [] } = query ? schemaOf(query, 'input') : {};
  const inQuery = Object.entries(properties).map(([parameter, schema]) => ({
    name: parameter,
    in: 'query' as const,
    required: required.includes(parameter) && schema.default === undefined,
    schema,
    ...(schema.description !== undefined && { description: schema.description }),
  }));
  return {
    method,
    path,
    summary,
    parameters: [...inPath, ...inQuery],
    ...((body ?? isText) && {
      body: {
        type: isText ? 'text/plain' : 'application/json',
        schema: body ? schemaOf(body, 'input') : { type: 'string' },
        examples: examples[name] ?? [],
      },
    }),
    answers: (answers[name] ?? []).map(answerOf),
  };
}

function answerOf({ body, ...rest }: Answer): DescribedAnswer {
  if (body instanceof z.ZodType) return { ...rest, type: 'application/json', schema: schemaOf(body, 'output') };
  return { ...rest, type: body.type };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _version, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest as Schema;
}
