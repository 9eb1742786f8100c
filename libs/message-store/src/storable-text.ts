/** Halves of a surrogate pair that stand alone; PostgreSQL refuses them and NUL, in text and in jsonb. */
const LONE_SURROGATES = /\p{Surrogate}/gu;
const NUL = '\u0000';
const REPLACEMENT = '\uFFFD';

/** The value with every refused character, in keys too, replaced by U+FFFD: a strange message is stored, not lost. */
export function storable<Value>(value: Value): Value;
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(LONE_SURROGATES, REPLACEMENT).replaceAll(NUL, REPLACEMENT);
  if (Array.isArray(value)) return value.map((entry: unknown) => storable(entry));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [storable(key), storable(entry)]));
}
