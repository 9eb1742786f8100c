/** Fields of a JSON schema as a flat list, so that two documents can be compared whatever they name their schemas. */
import type { Json } from './json-schema.js';

/** Deeper than any request; answers repeat themselves below (the last message of a chat). */
const MAX_DEPTH = 5;

/**
 * `name: type` of every field, with `!` for those that are required; lists continue with `[]`, alternatives are merged, and a
 * field in one alternative alone counts as optional. `null` is left out: it counts as absent wherever it is accepted.
 */
export function fieldsOf(document: Json, schema: Json): Map<string, string> {
  const fields = new Map<string, string>();
  collect(document, schema, '', 0, fields);
  return fields;
}

function collect(document: Json, given: Json, path: string, depth: number, fields: Map<string, string>): void {
  const schema = resolved(document, given);
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined;
  for (const alternative of alternatives ?? []) collect(document, alternative, path, depth, fields);
  const properties = (schema['properties'] ?? {}) as Record<string, Json>;
  const required = (schema['required'] ?? []) as string[];
  for (const [name, property] of Object.entries(properties)) {
    const at = path === '' ? name : `${path}.${name}`;
    const types = typesOf(document, property);
    const isRequired = required.includes(name) && (alternatives ?? []).length === 0;
    fields.set(at, [...new Set([...(fields.get(at)?.replace('!', '').split('|') ?? []), ...types])].sort().join('|'));
    if (isRequired) fields.set(at, `${fields.get(at)}!`);
    if (depth < MAX_DEPTH) collect(document, property, at, depth + 1, fields);
  }
  const items = itemsOf(schema);
  if (items && depth < MAX_DEPTH) collect(document, items, `${path}[]`, depth + 1, fields);
}

function itemsOf(schema: Json): Json | undefined {
  const [first] = (schema['prefixItems'] ?? []) as Json[];
  const items = schema['items'];
  return first ?? (typeof items === 'object' && items !== null ? (items as Json) : undefined);
}

/** A schema with its reference followed and its `allOf` merged. */
function resolved(document: Json, schema: Json): Json {
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    const { schemas } = document['components'] as { schemas: Record<string, Json> };
    const { $ref: _ref, ...beside } = schema;
    return { ...resolved(document, schemas[name] ?? {}), ...beside };
  }
  const parts = (schema['allOf'] ?? []) as Json[];
  return parts.map((part) => resolved(document, part)).reduce(merged, { ...schema, allOf: undefined });
}

function merged(one: Json, other: Json): Json {
  const properties = { ...(one['properties'] as Json | undefined), ...(other['properties'] as Json | undefined) };
  const required = [...((one['required'] ?? []) as string[]), ...((other['required'] ?? []) as string[])];
  return { ...other, ...one, properties, required };
}

function typesOf(document: Json, given: Json): string[] {
  const schema = resolved(document, given);
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined;
  const types = alternatives
    ? alternatives.flatMap((one) => typesOf(document, one))
    : [schema['type'] ?? typeOfValues(schema)].flat().map(String);
  return types.filter((type) => type !== 'null').map((type) => (type === 'integer' ? 'number' : type));
}

function typeOfValues({ const: value, enum: values }: Json): string {
  const known: unknown = value ?? (Array.isArray(values) ? values[0] : undefined);
  return known === undefined ? 'any' : typeof known;
}
