import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { contract, sampleName, samples, templateOf } from '../test-samples.js';
import { fieldsOf } from './test-fields.js';
import { gatewayOpenApi } from './gateway-openapi.js';
import type { Json } from './json-schema.js';

interface Operation {
  operationId: string;
  tags: string[];
  summary?: string;
  parameters?: Json[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, Json>;
}
type Paths = Record<string, Record<string, Operation>>;

const listed = contract as Json & { paths: Paths };
const made = gatewayOpenApi() as Json & { paths: Paths };

const operations = Object.entries(listed.paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => ({ path, method, operation })),
);
const madeOperation = ({ path, method }: { path: string; method: string }) => made.paths[path]?.[method];

/** Why the document differs from the contract; each has a difference that it explains. */
const REASONS: readonly [reason: string, difference: RegExp][] = [
  ['accepted by any call and ignored', /^getHealth query (wakeup|platform|channel_type): /],
  ['text in the contract, too, as one of two patterns', /(path ChatID|path EntryID| to): any! -> string!$/],
  ['a setting of ours', / (before_update\.|after_update\.)?group_notices: - -> boolean$/],
  ['ours accept it for every file that has a caption', /^sendDocument mentions: - -> array$/],
  ['ours accept it in every form of a file', /^uploadMedia (no_cache|filename): - -> /],
  ['ignored: the call is never served', /^starMessage starred: /],
  ['ignored: each answer is complete', /^checkContacts blocking: /],
  ['what is quoted or edited is described where it was sent', /(quoted|edited)_content\./],
  ['an error of a receipt is none of a request', /statuses\[\]\.errors\[\]\.(href|support): /],
  ['the network reports none', /\b(recording_time|labels(\[\].*)?|phonebook|phone|api_version|core_version): /],
  [
    'buttons have a type of message of their own',
    /\b(text|image|video|gif|short|document)\.(buttons|button|sections)\b/,
  ],
  ['products have a type of message of their own', /\bproduct_items\b/],
  [
    'the network sends none of these to be opened once',
    /\b(live_location|poll|interactive|cards\[\])\.view_once: boolean -> -$/,
  ],
  [
    'the file above a template has what every file of its kind has',
    /\b(buttons|hsm)\.header\.(image|video|document)\.\w+: - -> /,
  ],
];

/** Fields of the two documents that differ, as `field: listed -> made`. */
function differences(ours: Map<string, string>, theirs: Map<string, string>): string[] {
  const names = [...new Set([...theirs.keys(), ...ours.keys()])];
  return names
    .filter((name) => ours.get(name) !== theirs.get(name))
    .map((name) => `${name}: ${theirs.get(name) ?? '-'} -> ${ours.get(name) ?? '-'}`)
    .sort();
}

/** Parameters of a call, as the fields of a schema. */
function parametersOf(document: Json, operation: Operation | undefined): Map<string, string> {
  const parameters = (operation?.parameters ?? []).map((given) => {
    const name = typeof given['$ref'] === 'string' ? given['$ref'].slice('#/components/parameters/'.length) : undefined;
    const { parameters: named } = document['components'] as { parameters?: Record<string, Json> };
    return (name === undefined ? given : (named?.[name] ?? {})) as {
      name: string;
      in: string;
      required: boolean;
      schema: Json;
    };
  });
  const schema = {
    properties: Object.fromEntries(parameters.map((each) => [`${each.in} ${each.name}`, each.schema])),
    required: parameters.filter(({ required }) => required).map((each) => `${each.in} ${each.name}`),
  };
  return fieldsOf(document, schema);
}

const bodySchema = (operation: Operation | undefined, type: string): Json =>
  operation?.requestBody?.content[type]?.schema ?? {};
const answerSchema = (operation: Operation | undefined): Json => {
  const { content } = (operation?.responses['200'] ?? {}) as { content?: Record<string, { schema: Json }> };
  return content?.['application/json']?.schema ?? {};
};

describe('the API document', () => {
  it('has each of the 56 calls under its name, with a summary', () => {
    expect(operations).toHaveLength(56);
    const described = ({ operationId, tags }: Operation) => ({ operationId, tags });
    for (const each of operations) {
      const ours = madeOperation(each);
      expect(ours && described(ours)).toEqual(described(each.operation));
      expect(ours?.summary).toMatch(/^[A-Z].{5,}[^.]$/);
    }
    expect(Object.values(made.paths).flatMap((byMethod) => Object.keys(byMethod))).toHaveLength(56);
  });

  it('has the parameters, bodies and answers that the contract lists, but for differences with a reason', () => {
    const found = operations.flatMap((each) => {
      const ours = madeOperation(each);
      const { operationId: id, requestBody } = each.operation;
      const types = Object.keys(requestBody?.content ?? {}).filter((type) => /json|form-data/.test(type));
      return [
        ...differences(parametersOf(made, ours), parametersOf(listed, each.operation)),
        ...types.flatMap((type) =>
          differences(fieldsOf(made, bodySchema(ours, type)), fieldsOf(listed, bodySchema(each.operation, type))),
        ),
        ...differences(fieldsOf(made, answerSchema(ours)), fieldsOf(listed, answerSchema(each.operation))).filter(
          isNoPromise,
        ),
      ].map((difference) => `${id} ${difference}`);
    });
    const unexplained = found.filter((difference) => !REASONS.some(([, pattern]) => pattern.test(difference)));
    expect(unexplained).toEqual([]);
    const stale = REASONS.filter(([, pattern]) => !found.some((difference) => pattern.test(difference)));
    expect(stale).toEqual([]);
  });

  it('names for each call the failures that the contract lists', () => {
    for (const each of operations) {
      const ours = Object.keys(madeOperation(each)?.responses ?? {});
      const missing = Object.keys(each.operation.responses).filter((status) => !ours.includes(status));
      const more = ours.filter((status) => !each.operation.responses[status]);
      // The parts of a file: the contract has whole files alone.
      const allowed = each.operation.operationId === 'downloadMedia' ? ['206', '416'] : [];
      expect([each.operation.operationId, missing, more]).toEqual([each.operation.operationId, [], allowed]);
    }
  });

  it('describes every sample: each request that succeeds and each answer fits, and no field of an answer is missing', () => {
    const strict: Json = { ...made, components: withoutMoreFields(made['components']) };
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ ...strict, $id: 'made' });
    const fits = (pointer: string, value: unknown) =>
      ajv.validate({ $ref: `made#${pointer}` }, value) ? undefined : ajv.errorsText(ajv.errors);
    const problems = samples.flatMap((sample) => {
      const { response, request } = sample;
      const path = templateOf(sample.method, sample.path);
      if (path === undefined) return [];
      const at = `/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${sample.method.toLowerCase()}`;
      const content = `content/application~1json/schema`;
      const isJson = request.contentType === 'application/json' && request.body !== undefined;
      const sent =
        response.status === 200 && isJson && fits(`${at}/requestBody/${content}`, withoutNulls(request.body));
      const answered =
        response.body !== undefined && fits(`${at}/responses/${response.status}/${content}`, response.body);
      return [sent, answered].filter(Boolean).map((problem) => `${sampleName(sample)}: ${String(problem)}`);
    });
    expect(problems).toEqual([]);
  });
});

/** A field that is always there where the contract only allows it. */
function isNoPromise(difference: string): boolean {
  const [, from, to] = /: (\S+) -> (\S+)$/.exec(difference) ?? [];
  return `${from}!` !== to;
}

/** `null` counts as absent in requests. */
function withoutNulls(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (_key, value: unknown) => (value === null ? undefined : value));
}

/** The document with nothing allowed that it does not name. */
function withoutMoreFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMoreFields);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, withoutMoreFields(entry)]));
  const isClosed = copy['type'] === 'object' && typeof copy['properties'] === 'object';
  return isClosed ? { ...copy, additionalProperties: false } : copy;
}
