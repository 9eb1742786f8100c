import type { z } from 'zod';
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

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(kept.map(([key, entry]) => [key, withoutNulls(entry)]));
}

/** How zod's names of kinds read in a sentence. */
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
  const field = issue.path.length === 0 ? 'body' : issue.path.join('.');
  const isMissing = valueAt(value, issue.path) == null;
  if (isMissing && (issue.code === 'invalid_type' || issue.code === 'invalid_value')) return `${field}: required`;
  // A schema's own sentence is better than ours; zod's stock sentences all begin this way.
  if (!issue.message.startsWith('Invalid ')) return `${field}: ${issue.message}`;
  if (issue.code === 'invalid_value') return `${field}: must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_type') return `${field}: must be ${KIND_NAMES[issue.expected] ?? issue.expected}`;
  return `${field}: ${issue.message}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at: unknown = value;
  for (const key of path) {
    if (at === null || typeof at !== 'object') return undefined;
    at = Object.entries(at).find(([name]) => name === String(key))?.[1];
  }
  return at;
}
