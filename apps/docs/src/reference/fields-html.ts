import { escaped, slugOf } from '../html.js';
import { tableHtml } from '../markdown.js';
import { nameOfRef, type Schema } from './document.js';

/** Deeper fields are described by the objects that they are in. */
const MAX_DEPTH = 3;

export interface FieldsOptions {
  /** Address of the section of a named object; undefined: it is described in place. */
  addressOf: (name: string) => string | undefined;
  schemas: Readonly<Record<string, Schema>>;
  /** What is beside a field that is always there. */
  mark: 'required' | 'always';
}

/** The fields of an object as a table; alternatives one after the other. Empty when there is none. */
export function fieldsHtml(schema: Schema, options: FieldsOptions): string {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) {
    const tables = alternatives.map((one) => fieldsHtml(inPlace(one, options), options) || NO_FIELDS);
    return tables.join('<p>Or:</p>');
  }
  const rows = rowsOf(schema, '', 0, options);
  return rows.length === 0 ? '' : tableHtml('<th>Field</th><th>Type</th><th>Notes</th>', rows.join(''));
}

const NO_FIELDS = '<p>No fields.</p>';

function rowsOf(schema: Schema, path: string, depth: number, options: FieldsOptions): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const isRequired = schema.required?.includes(name) === true;
    const row = rowHtml(at, property, isRequired, options);
    const { schema: inner, suffix } = innerOf(inPlace(property, options), options);
    return depth < MAX_DEPTH ? [row, ...rowsOf(inner, at + suffix, depth + 1, options)] : [row];
  });
}

/** What is in a list, as often as lists are in lists. */
function innerOf(schema: Schema, options: FieldsOptions): { schema: Schema; suffix: string } {
  const item = itemOf(schema);
  if (!item) return { schema, suffix: '' };
  const inner = innerOf(inPlace(item, options), options);
  return { schema: inner.schema, suffix: `[]${inner.suffix}` };
}

function itemOf({ items, prefixItems }: Schema): Schema | undefined {
  return prefixItems?.[0] ?? (typeof items === 'object' ? items : undefined);
}

/** A named object that has no section of its own is described where it is used. */
function inPlace(schema: Schema, { addressOf, schemas }: FieldsOptions): Schema {
  if (schema.$ref === undefined) return schema;
  const name = nameOfRef(schema.$ref);
  return addressOf(name) === undefined ? (schemas[name] ?? {}) : {};
}

function rowHtml(name: string, schema: Schema, isRequired: boolean, options: FieldsOptions): string {
  const required = isRequired ? ` <span class="${options.mark}">${options.mark}</span>` : '';
  return `<tr><td><code>${escaped(name)}</code>${required}</td><td>${typeHtml(schema, options)}</td><td>${notesHtml(schema)}</td></tr>`;
}

/** The type of a value in words, with links to the objects that have a section. */
export function typeHtml(schema: Schema, options: FieldsOptions): string {
  if (schema.$ref !== undefined) {
    const name = nameOfRef(schema.$ref);
    const address = options.addressOf(name);
    return address === undefined ? 'object' : `<a href="${address}">${escaped(name)}</a>`;
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return [...new Set(alternatives.map((one) => typeHtml(one, options)))].join(' or ');
  const item = itemOf(schema);
  if (item) return `list of ${typeHtml(item, options)}`;
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
  if (schema.format === 'binary') return 'file';
  return escaped([schema.type ?? 'any'].flat().join(' or '));
}

/** Description and limits of a value. */
export function notesHtml(schema: Schema): string {
  const limits = [
    schema.enum && `One of ${schema.enum.map((value) => `<code>${escaped(String(value))}</code>`).join(', ')}.`,
    rangeOf(schema.minimum, schema.maximum),
    schema.maxLength !== undefined && `${schema.maxLength} characters at most.`,
    schema.maxItems !== undefined && schema.maxItems > 1 && `${schema.maxItems} entries at most.`,
    schema.default !== undefined && `Default <code>${escaped(JSON.stringify(schema.default))}</code>.`,
  ];
  const text = schema.description === undefined ? [] : [inlineCode(sentence(schema.description))];
  return [...text, ...limits.filter(Boolean)].join(' ');
}

function rangeOf(low: number | undefined, high: number | undefined): string | undefined {
  if (low !== undefined && high !== undefined) return `${low} to ${high}.`;
  if (high !== undefined) return `${high} at most.`;
  return low === undefined || low === 0 ? undefined : `${low} at least.`;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Text in which backticks mark code. */
export function inlineCode(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

export const anchorOf = (name: string): string => slugOf(name.replace(/([a-z])([A-Z])/g, '$1-$2'));
