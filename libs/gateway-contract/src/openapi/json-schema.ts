import { z } from 'zod';

export type Json = Record<string, unknown>;

/** What a schema without `unrepresentable` parts cannot show, and what a client need not see. */
const options = {
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    // What is computed from a value hides its default.
    const { def } = zodSchema._zod;
    if ('defaultValue' in def) jsonSchema.default = def.defaultValue;
    // Media: text, or the file of a form.
    if (def.type === 'custom') jsonSchema.type = 'string';
    // A number or a boolean in a query is text to the parser.
    if (jsonSchema.type !== 'string') delete jsonSchema.pattern;
    if (jsonSchema.type === 'boolean') delete jsonSchema.enum;
    if (jsonSchema.type === 'integer') dropSafeRange(jsonSchema);
    // New fields may come: clients must accept them.
    delete jsonSchema.additionalProperties;
  },
} as const;

/** Zod's bounds of whole numbers are those of JavaScript. */
function dropSafeRange(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** What a client sends, as a JSON schema. */
export function inputSchema(schema: z.ZodType): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { ...options, io: 'input' });
  return json;
}

/** Schemas of answers by name, which refer to each other in `components`. */
export function namedSchemas(schemas: Record<string, z.ZodType>): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: made } = z.toJSONSchema(registry, { ...options, io: 'output', uri: schemaUri });
  return Object.fromEntries(
    Object.entries(made).map(([id, { $schema: _dialect, $id: _id, id: _name, ...json }]) => [id, json]),
  );
}

export const schemaUri = (name: string): string => `#/components/schemas/${name}`;
export const refTo = (name: string): Json => ({ $ref: schemaUri(name) });
