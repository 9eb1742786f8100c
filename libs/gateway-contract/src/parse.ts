import { z } from 'zod';
import { GatewayError } from './errors.js';

/**
 * Validates what a customer sent. `null` counts as absent at every depth, because official clients of the compatible
 * gateway send `caption: null`; unknown fields are dropped by the schemas.
 * @throws {GatewayError} 400 whose details name the first offending field
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(withoutNulls(value));
  if (result.success) return result.data;
  throw new GatewayError(400, { details: describeIssue(result.error.issues[0], value) });
}

/** Deeper than any schema reads. Below it nulls stay, so that a body nested a million times cannot end the stack. */
const MAX_DEPTH = 16;

function withoutNulls(value: unknown, depth = 0): unknown {
  if (depth === MAX_DEPTH || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((entry) => withoutNulls(entry, depth + 1));
  if (!isPlain(value)) return value;
  const kept = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(kept.map(([key, entry]) => [key, withoutNulls(entry, depth + 1)]));
}

/** Made by JSON or by a query parser; file parts of forms are not. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Does a body have this field with something in it? `null` counts as absent; anything but an object has no fields. */
export function hasField(body: unknown, name: string): boolean {
  if (body === null || typeof body !== 'object' || !Object.hasOwn(body, name)) return false;
  const entry: unknown = Reflect.get(body, name);
  return entry !== undefined && entry !== null;
}

const anyObject = z.object({});

/**
 * For calls that need no body: nothing, `null` and any object will do.
 * @throws {GatewayError} 400 when the body is something else
 */
export function expectObjectOrNothing(body: unknown): void {
  parseInput(anyObject, body ?? {});
}

/** The error for a body in another form where only JSON is accepted. */
export function jsonExpected(): GatewayError {
  return new GatewayError(400, { details: 'body: JSON expected' });
}

/** Zod's names of types in the words of our error texts. */
const KIND_NAMES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** `<field>: <reason>`; a missing field reads `<field>: required`, a bad whole body `body: …`. */
function describeIssue(issue: z.core.$ZodIssue | undefined, value: unknown): string {
  if (!issue) return 'body: not valid';
  if (issue.path.length === 0 && issue.code === 'invalid_type') return 'body: a JSON object is expected';
  const field = issue.path.length === 0 ? 'body' : fieldName(issue.path);
  // The error of a record whose names have a pattern: the pattern's own error text is nested.
  if (issue.code === 'invalid_key') return `${field}: ${issue.issues[0]?.message ?? 'not a valid name'}`;
  if (issue.path.length > 0 && valueAt(value, issue.path) == null) return `${field}: required`;
  // A schema's own error text is better than ours; zod's standard texts all begin with "Invalid".
  if (!issue.message.startsWith('Invalid ')) return `${field}: ${issue.message}`;
  if (issue.code === 'invalid_value') return `${field}: must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_type') return `${field}: must be ${KIND_NAMES[issue.expected] ?? issue.expected}`;
  return `${field}: ${issue.message}`;
}

/** Names in a path may be the customer's own (of headers): a long one is cut. */
function fieldName(path: readonly PropertyKey[]): string {
  const name = path.map(String).join('.');
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at: unknown = value;
  for (const key of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}
