import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { normalizeContactId } from './contacts.js';
import { ERROR_TABLE, errorEnvelope, GatewayError, isErrorStatus, type ErrorEnvelope } from './errors.js';
import { INVITE_CODE_PATTERN } from './groups.js';
import { MESSAGE_ID_PATTERN, normalizeChatId } from './ids.js';
import { DEFAULT_MEDIA_LIMITS, fileTooLarge, MEDIA_ID_PATTERN } from './media.js';
import { READERS } from './test-readers.js';
import { contract, idsIn, sampleName, samples, templateOf, webhookExamples, type Sample } from './test-samples.js';

const site = { docsUrl: 'https://docs.example.com', supportAddress: 'support@example.com' };
const routes = Object.entries(contract.paths).flatMap(([template, operations]) =>
  Object.keys(operations).map((method) => `${method.toUpperCase()} ${template}`),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(contract, 'contract');
const pointer = (segment: string) => encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));

/** What is wrong with a value, by a place in the document; undefined when it fits. */
function violation(place: readonly string[], value: unknown): string | undefined {
  const fits = ajv.validate({ $ref: `contract#/${place.map(pointer).join('/')}` }, value);
  return fits ? undefined : ajv.errorsText(ajv.errors);
}

/** Reads the request of a sample as a server would; the refusal, if there is one. */
function refusalOf({ method, path, request }: Sample): GatewayError | undefined {
  const route = `${method} ${templateOf(method, path) ?? path}`;
  try {
    READERS[route]?.(request, route);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const named = (chosen: Sample[]) => chosen.map((sample) => [sampleName(sample), sample] as const);
const withJson = samples.filter(({ response }) => response.body !== undefined);

describe('the document', () => {
  it('lists 56 calls, and each of them is read', () => {
    expect(routes).toHaveLength(56);
    expect(Object.keys(READERS).sort()).toEqual(routes.sort());
  });

  it('has 104 samples, at least one of every call', () => {
    expect(samples).toHaveLength(104);
    const seen = new Set(samples.map(({ method, path }) => `${method} ${templateOf(method, path) ?? path}`));
    expect(routes.filter((route) => !seen.has(route))).toEqual([]);
  });
});

describe('requests of the samples', () => {
  it.each(named(samples.filter(({ response }) => response.status === 400)))(
    'refuses %s with its words',
    (_, sample) => {
      const refusal = refusalOf(sample);
      expect(refusal && errorEnvelope(refusal, site)).toEqual(sample.response.body);
    },
  );

  it.each(named(samples.filter(({ response }) => response.status !== 400)))('reads %s', (_, sample) => {
    expect(refusalOf(sample)).toBeUndefined();
  });

  it.each(named(samples.filter(({ request }) => request.body !== undefined)))(
    'agrees with the document on the body of %s',
    (_, { method, path, request, response }) => {
      const template = templateOf(method, path) ?? '';
      const place = ['paths', template, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema'];
      const problem = violation(place, request.body);
      if (response.status === 400) expect(problem).toBeDefined();
      else expect(problem).toBeUndefined();
    },
  );

  it('knows every id in the paths of samples', () => {
    const knows: Record<string, (id: string) => boolean> = {
      ChatID: (id) => normalizeChatId(id) !== undefined,
      EntryID: (id) => normalizeChatId(id) !== undefined,
      GroupID: (id) => normalizeChatId(id) !== undefined,
      ContactID: (id) => normalizeContactId(id) !== undefined,
      MessageID: (id) => MESSAGE_ID_PATTERN.test(id),
      MediaID: (id) => MEDIA_ID_PATTERN.test(id),
      InviteCode: (id) => INVITE_CODE_PATTERN.test(id),
    };
    const strangers = samples.flatMap(({ method, path }) =>
      Object.entries(idsIn(templateOf(method, path) ?? '', path)).filter(([name, id]) => !knows[name]?.(id)),
    );
    expect(strangers).toEqual([]);
  });
});

describe('responses of the samples', () => {
  it.each(named(withJson))('fits the document: %s', (_, { method, path, response }) => {
    const template = templateOf(method, path);
    const listed = contract.paths[template ?? '']?.[method.toLowerCase()]?.responses[String(response.status)];
    if (!listed) return expect(violation(['components', 'schemas', 'ResponseError'], response.body)).toBeUndefined();
    const shared = listed.$ref?.split('/').at(-1);
    const place = shared
      ? ['components', 'responses', shared]
      : ['paths', template ?? '', method.toLowerCase(), 'responses', String(response.status)];
    return expect(violation([...place, 'content', 'application/json', 'schema'], response.body)).toBeUndefined();
  });

  it.each(named(withJson.filter(({ response }) => response.status >= 400)))(
    'uses the words of the error table in %s',
    (_, { method, path, response }) => {
      const { error } = response.body as ErrorEnvelope;
      if (!isErrorStatus(response.status)) throw new Error(`status ${response.status} is not in the table`);
      const message =
        response.status === 501
          ? `${method} ${templateOf(method, path) ?? path} is not implemented`
          : ERROR_TABLE[response.status].message;
      const { details } = error;
      const facts = details === undefined ? { message } : { message, details };
      expect(response.body).toEqual(errorEnvelope(new GatewayError(response.status, facts), site));
    },
  );

  it('names the kind and the limit of a file that is too large', () => {
    const sample = samples.find(({ response }) => response.status === 413);
    expect(errorEnvelope(fileTooLarge('image', DEFAULT_MEDIA_LIMITS), site)).toEqual(sample?.response.body);
  });
});

describe('webhook examples', () => {
  it.each(webhookExamples.map((example) => [`${example.kind} ${example.name}`, example] as const))(
    'fit the document: %s',
    (_, { kind, body }) => {
      const schema = `Hook${kind.replace(/(?:^|\.)(\w)/g, (_match, letter: string) => letter.toUpperCase())}`;
      expect(violation(['components', 'schemas', schema], body)).toBeUndefined();
    },
  );
});
