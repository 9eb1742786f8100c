import { invalid } from './stripe-fault.js';

const CLAUSE =
  /^(-?)(\w+)(?:\[(?:'([^']*)'|"([^"]*)")\])?\s*([:~])\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(null))$/;

/** One condition of a search. */
interface Clause {
  field: string;
  key: string | undefined;
  isNegated: boolean;
  isPart: boolean;
  /** null: the field is empty. */
  value: string | null;
}

/**
 * Reads `email:'a@b.c' AND metadata['account']:'7'` into a test of a record's fields. `~` finds a part, a minus negates,
 * `null` is an empty field. Throws the API's 400 for what it does not understand and for fields that cannot be searched.
 */
export function readSearchQuery(query: string, fields: readonly string[]) {
  const clauses = splitByAnd(query).map((part) => readClause(part, fields));
  return (record: { metadata: Record<string, string> } & object): boolean =>
    clauses.every((clause) => holds(clause, record));
}

/** Splits at AND outside quotes. */
function splitByAnd(query: string): string[] {
  const quoted = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g;
  const strings: string[] = [];
  const bare = query.replace(quoted, (found) => `\uE000${strings.push(found) - 1}\uE000`);
  const digit = new RegExp('\uE000(\\d+)\uE000', 'g');
  return bare
    .split(/\s+AND\s+/i)
    .map((part) => part.replace(digit, (_, index: string) => strings[Number(index)] ?? '').trim());
}

function readClause(part: string, fields: readonly string[]): Clause {
  const match = CLAUSE.exec(part);
  const [, minus, field = '', single, double, operator, one, two, none] = match ?? [];
  if (!match || (field === 'metadata') === (single === undefined && double === undefined))
    throw invalid(`We were unable to parse your search query: ${part}`, 'query');
  if (field !== 'metadata' && !fields.includes(field))
    throw invalid(`Field \`${field}\` is an unsupported search field for this resource.`, 'query');
  const value = none === 'null' ? null : (one ?? two ?? '').replace(/\\(.)/g, '$1');
  return { field, key: single ?? double, isNegated: minus === '-', isPart: operator === '~', value };
}

function holds(
  { field, key, isNegated, isPart, value }: Clause,
  record: { metadata: Record<string, string> },
): boolean {
  const found =
    key === undefined
      ? (Object.entries(record).find(([name]) => name === field)?.[1] as unknown)
      : record.metadata[key];
  const words = typeof found === 'string' ? found.toLowerCase() : undefined;
  const wanted = value?.toLowerCase();
  const matches =
    wanted === undefined ? words === undefined : isPart ? words?.includes(wanted) === true : words === wanted;
  return matches !== isNegated;
}
