/**
 * What PostgreSQL refuses in text and in jsonb: NUL, and halves of surrogate pairs that stand alone. Text that
 * a stranger may have chosen is written through here: a strange message is stored, not lost, and its text is not in the
 * server's log beside the refusal.
 */
const REFUSED = /[\0\p{Surrogate}]/gu;
const REPLACEMENT = '\uFFFD';
/** How JSON.stringify writes them: what is not a pair is escaped. */
const REFUSED_IN_JSON = /\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** The value with every refused character, in keys too, replaced by U+FFFD. */
export function storable<Value>(value: Value): Value;
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(REFUSED, REPLACEMENT);
  if (Array.isArray(value)) return value.map((entry: unknown) => storable(entry));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [storable(key), storable(entry)]));
}

/** The value as JSON that a jsonb parameter takes; costs a look at the text when there is nothing to replace. */
export function storableJson(value: object): string {
  const text = stringify(value);
  return REFUSED_IN_JSON.test(text) ? JSON.stringify(storable(JSON.parse(text))) : text;
}

/** Numbers of 64 bits, which JSON has no form for, as text. */
function stringify(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, entry: unknown) => (typeof entry === 'bigint' ? entry.toString() : entry));
  }
}
