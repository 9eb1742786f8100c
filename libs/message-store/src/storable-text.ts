/** What PostgreSQL refuses in text and jsonb: NUL, and halves of a surrogate pair that stand alone. */
const REFUSED = /[\u0000\p{Surrogate}]/gu;

/** The value with every refused character, in keys too, replaced by U+FFFD: a strange message is stored, not lost. */
export function storable<Value>(value: Value): Value;
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(REFUSED, '\uFFFD');
  if (Array.isArray(value)) return value.map((entry: unknown) => storable(entry));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [storable(key), storable(entry)]));
}
