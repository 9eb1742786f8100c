// What requests may carry. A schema names every parameter that is understood; any other is the API's own 400, so that a
// misspelt or outdated parameter never passes unnoticed.
import { z } from 'zod';
import { parameterName, type FormNode, type FormValue } from './form.js';
import { invalid, type StripeFault } from './stripe-fault.js';

const MAX_TEXT = 5000;
const METADATA = { keys: 50, keyLength: 40, valueLength: 500 };

export const text = z.string().max(MAX_TEXT);
export const integer = z
  .string()
  .regex(/^-?\d{1,15}$/, { error: ({ input }) => `Invalid integer: ${String(input)}` })
  .transform(Number);
export const flag = z
  .string()
  .regex(/^(true|false)$/, { error: ({ input }) => `Invalid boolean: ${String(input)}` })
  .transform((given) => given === 'true');
export const url = z.string().refine((given) => URL.canParse(given) && /^https?:/.test(given), {
  error: 'Not a valid URL',
});

/** A list: on the wire parts with numbers for names. */
export function list<T extends z.ZodType>(item: T) {
  return z.preprocess(
    (given: unknown) => (typeof given === 'object' && given !== null ? Object.values(given) : given),
    z.array(item),
  );
}

/** A value that the empty string removes: it is read as null. */
export function removable<T extends z.ZodType>(inner: T) {
  return z.union([z.literal('').transform(() => null), inner]);
}

/** Keys and values of the caller's own; a value that is empty removes its key, an empty whole removes all (null). */
export const metadata = removable(
  z
    .record(
      z.string().max(METADATA.keyLength, { error: 'Metadata keys can have up to 40 characters' }),
      z.string().max(METADATA.valueLength, { error: 'Metadata values can have up to 500 characters' }),
    )
    .refine((given) => Object.keys(given).length <= METADATA.keys, { error: 'Metadata can have up to 50 keys' }),
);

/** Seconds since 1970, or bounds around them. */
export const moments = z.union([
  z.strictObject({
    gt: integer.optional(),
    gte: integer.optional(),
    lt: integer.optional(),
    lte: integer.optional(),
  }),
  integer,
]);

/** Whether a moment lies within what was given. */
export function within(given: z.output<typeof moments> | undefined, moment: number): boolean {
  if (given === undefined) return true;
  if (typeof given === 'number') return moment === given;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = given;
  return moment > gt && moment >= gte && moment < lt && moment <= lte;
}

/** The parameters of one request; `expand` is understood everywhere. */
export function parameters<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject({ ...shape, expand: list(text).optional() });
}

/** The parameters of a request for a list. */
export function listParameters<T extends z.ZodRawShape>(shape: T) {
  return parameters({
    ...shape,
    limit: integer
      .refine((given) => given >= 1 && given <= 100, { error: 'This value must be between 1 and 100' })
      .optional(),
    starting_after: text.optional(),
    ending_before: text.optional(),
  });
}

/** Reads what came by its schema. Throws the API's 400, naming the parameter. */
export function readParameters<T extends z.ZodType>(schema: T, given: FormNode): z.output<T> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw faultOf(read.error.issues, given, []);
}

type Issue = z.core.$ZodIssue;

function faultOf(issues: readonly Issue[], given: FormNode, above: readonly PropertyKey[]): StripeFault {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (!issue) return invalid('Invalid request');
  const path = [...above, ...issue.path];
  const param = parameterName(path);
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => parameterName([...path, key]));
    const noun = names.length > 1 ? 'parameters' : 'parameter';
    return invalid(`Received unknown ${noun}: ${names.join(', ')}`, names[0], 'parameter_unknown');
  }
  const found = valueAt(given, path);
  if (found === undefined) return invalid(`Missing required param: ${param}.`, param, 'parameter_missing');
  if (issue.code === 'invalid_union') {
    const kind = typeof found === 'object' ? issue.errors.find(isAboutParts) : undefined;
    return faultOf(kind ?? issue.errors.at(-1) ?? [], given, path);
  }
  if (issue.code === 'invalid_value')
    return invalid(`Invalid ${param}: must be one of ${issue.values.map(String).join(', ')}`, param);
  if (issue.code === 'invalid_type') return invalid(`Invalid ${issue.expected}`, param);
  return invalid(
    issue.message,
    param,
    issue.message.startsWith('Invalid integer') ? 'parameter_invalid_integer' : undefined,
  );
}

/** The branch of a union that takes parts, where parts were given. */
function isAboutParts(issues: readonly Issue[]): boolean {
  return !issues.some(({ code, path }) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value'));
}

function valueAt(given: FormNode, path: readonly PropertyKey[]): FormValue | undefined {
  let value: FormValue | undefined = given;
  for (const name of path) {
    if (typeof value !== 'object') return undefined;
    value = value[String(name)];
  }
  return value;
}

/** Metadata after an update: given keys replace, empty ones are removed; null empties it. */
export function mergeMetadata(
  present: Record<string, string>,
  given: Record<string, string> | null | undefined,
): Record<string, string> {
  if (given === null) return {};
  const merged = Object.entries({ ...present, ...given }).filter(([, value]) => value !== '');
  return Object.fromEntries(merged);
}
