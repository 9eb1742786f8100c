/** As much of a JSON schema as the descriptions of this API use. */
export interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  additionalProperties?: Schema | boolean;
  default?: unknown;
  $ref?: string;
}

/** A schema as people write types, with its descriptions behind the fields. */
export function typeText(schema: Schema, indent = ''): string {
  const { const: constant, enum: values, anyOf, oneOf, items, properties, $ref } = schema;
  if ($ref !== undefined) return $ref === '#' ? 'the same' : ($ref.split('/').at(-1) ?? 'any');
  if (constant !== undefined) return JSON.stringify(constant);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map((choice) => typeText(choice, indent)))].join(' | ');
  if (items) return /[|\n]/.test(typeText(items)) ? `(${typeText(items, indent)})[]` : `${typeText(items, indent)}[]`;
  if (properties) return objectText(schema, properties, indent);
  const { type = 'any', additionalProperties } = schema;
  if (type === 'object' && typeof additionalProperties === 'object') {
    return `{ [name]: ${typeText(additionalProperties, indent)} }`;
  }
  return [type].flat().join(' | ').replace('integer', 'number');
}

function objectText({ required = [] }: Schema, properties: Record<string, Schema>, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) && field.default === undefined ? '' : '?';
    const remarks = [field.description, field.default !== undefined && `Without it: ${JSON.stringify(field.default)}.`];
    const remark = remarks.filter((one) => typeof one === 'string').join(' ');
    return `${inner}${name}${optional}: ${typeText(field, inner)};${remark === '' ? '' : ` // ${remark}`}`;
  });
  return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n${indent}}`;
}
