/** For the fuzz of all routes: malformed and hostile requests, made from an OpenAPI document. */
import fc from 'fast-check';

type Json = Record<string, unknown>;

/** An operation of a document, as far as requests are made of it. */
export interface FuzzedOperation {
  /** `METHOD /path/{Id}`. */
  route: string;
  queryNames: string[];
  bodyNames: string[];
}

export interface HostileRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

/** Every operation of an OpenAPI document. */
export function operationsOf(document: Json): FuzzedOperation[] {
  const resolve = (value: unknown): Json => {
    let at = objectOf(value);
    while (typeof at['$ref'] === 'string') at = objectOf(pointedAt(document, at['$ref']));
    return at;
  };
  return Object.entries(objectOf(document['paths'])).flatMap(([path, operations]) =>
    Object.entries(objectOf(operations)).flatMap(([method, given]): FuzzedOperation[] => {
      if (!METHODS.has(method)) return [];
      const operation = objectOf(given);
      const parameters = [operation['parameters'], objectOf(operations)['parameters']].flat().map(resolve);
      const queryNames = parameters.flatMap(({ in: place, name }) => (place === 'query' ? [String(name)] : []));
      const content = objectOf(resolve(operation['requestBody'])['content']);
      const bodyNames = Object.values(content).flatMap((media) => namesIn(objectOf(media)['schema'], resolve, 0));
      return [{ route: `${method.toUpperCase()} ${path}`, queryNames, bodyNames: [...new Set(bodyNames)] }];
    }),
  );
}

function objectOf(value: unknown): Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};
}

function pointedAt(document: Json, reference: string): unknown {
  const names = reference.replace(/^#\//, '').split('/');
  return names.reduce<unknown>((at, name) => objectOf(at)[name.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

/** Names of the fields of a schema and of what is nested in it. */
function namesIn(schema: unknown, resolve: (value: unknown) => Json, depth: number): string[] {
  if (depth > 4) return [];
  const at = resolve(schema);
  const fields = Object.entries(objectOf(at['properties']));
  const parts = [at['allOf'], at['oneOf'], at['anyOf'], at['items']].flat().filter((part) => part !== undefined);
  return [
    ...fields.map(([name]) => name),
    ...[...fields.map(([, field]) => field), ...parts].flatMap((part) => namesIn(part, resolve, depth + 1)),
  ];
}

const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\u001f',
  '\u007f\u0085',
  '\ud800',
  '\udfff\ud800',
  '\u202e\ufeff',
  '../../etc/passwd',
  '%00',
  '__proto__',
  'constructor',
  'true',
  '1',
  '-1',
  '1e999',
  '99999999999999999999',
  '9007199254740993',
  '8640000000000001',
  'NaN',
  '15550001111',
  '15550001111@s.whatsapp.net',
  '120363000000000001@g.us',
  '99887766554433@lid',
  'PrAAAAAAAAAAEAA-wP4Dntov1w',
  'png-00000000000000000000000000abc123-000014c0fb69ad',
  'https://[',
  'http://127.0.0.1:9/',
  'data:,',
  'data:a/b;\u00e9=\ud800;base64,AAAA',
  'AAAAAAAA',
  'text/html\r\nX: y',
  "'; DROP TABLE messages; --",
  'x'.repeat(70_000),
  '\ud83d\ude00'.repeat(1_000),
];
const NUMBERS = [0, -0, -1, 1, 1.5, 501, 2 ** 31, 2 ** 53, 2 ** 63, 1e21, 1e308, -1e308, 5e-324];

const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'binary', maxLength: 40 }));
const leaf = fc.oneof(text, fc.constantFrom<unknown>(...NUMBERS, null, true, false), fc.double());

/** Any JSON, more often than not with fields that the operation knows. */
function anyValue(names: readonly string[]): fc.Arbitrary<unknown> {
  const name = names.length > 0 ? fc.oneof(fc.constantFrom(...names), text) : text;
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(name, tie('value'), { maxKeys: 6 }),
    ),
  }));
  return value;
}

const RAW_BODIES = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '{"a":1,"a":2}',
  '\ufeff{}',
  '['.repeat(20_000),
  '{"a":'.repeat(20_000),
];
const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'text/plain',
      'garbage',
      'application/json, text/html',
      'multipart/form-data; boundary=x',
      'multipart/form-data',
    ),
    'idempotency-key': fc.constantFrom('', 'k', 'x'.repeat(300), '\u00e9'),
    accept: fc.constantFrom('', '*/*', 'nonsense;q=2'),
    range: fc.constantFrom('bytes=0-', 'bytes=99999999999999999999-', 'bytes=-1', 'lines=1'),
    'x-request-id': fc.constantFrom('', 'a b', 'x'.repeat(500)),
    'content-disposition': fc.constantFrom(
      'attachment; filename="never ends',
      "attachment; filename*=UTF-8''%zz",
      '\u00ff',
    ),
  },
  { requiredKeys: [] },
);

/** What an id in a path is: percent-encoded text, or something that only looks so. */
const pathId = fc.oneof(
  text.map((id) => encodeURIComponent(id.replace(/\p{Cs}/gu, '\ufffd').slice(0, 3_000)) || '%20'),
  fc.constantFrom('%', '%zz', '%ff', '%00', 'a%2fb', '%2e%2e'),
);

/**
 * Requests to an operation: with hostile or plausible ids, queries, headers and bodies.
 * @param plausible values of path parameters and fields with which an operation gets further
 */
export function hostileRequests(
  { route, queryNames, bodyNames }: FuzzedOperation,
  plausible: Readonly<Record<string, unknown>>,
): fc.Arbitrary<HostileRequest> {
  const [method = '', template = ''] = route.split(' ');
  const parameters = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const ids = fc.tuple(
    ...parameters.map((name) =>
      plausible[name] === undefined
        ? pathId
        : fc.oneof(pathId, fc.constant(encodeURIComponent(`${plausible[name] as string}`))),
    ),
  );
  const query = fc.dictionary(queryNames.length > 0 ? fc.constantFrom(...queryNames) : fc.constant('x'), text, {
    maxKeys: 3,
  });
  const known = Object.fromEntries(Object.entries(plausible).filter(([name]) => bodyNames.includes(name)));
  const damage = fc.dictionary(fc.constantFrom(...bodyNames, 'x'), anyValue(bodyNames), { maxKeys: 2 });
  const body = fc.oneof(
    damage.map((damaged) => JSON.stringify({ ...known, ...damaged })),
    anyValue(bodyNames).map((value) => JSON.stringify(value)),
    fc.constantFrom(...RAW_BODIES),
    fc.constant(undefined),
  );
  return fc.record({ ids, query, headers, body }).map((made) => {
    const left = [...made.ids];
    const path = template.replace(/\{\w+\}/g, () => left.shift() ?? '');
    const pairs = Object.entries(made.query).map(
      ([name, value]) => `${name}=${encodeURIComponent(value.replace(/\p{Cs}/gu, '\ufffd').slice(0, 2_000))}`,
    );
    const isJson = made.body !== undefined && made.headers['content-type'] === undefined;
    return {
      method,
      path: pairs.length > 0 ? `${path}?${pairs.join('&')}` : path,
      headers: { ...definedOnly(made.headers), ...(isJson && { 'content-type': 'application/json' }) },
      body: method === 'GET' ? undefined : made.body,
    };
  });
}

function definedOnly(given: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
