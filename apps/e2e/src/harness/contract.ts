import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Json = Record<string, unknown>;
interface Operation {
  responses: Record<string, { $ref?: string; content?: Record<string, { schema?: Json }> }>;
}

const document = JSON.parse(
  readFileSync(new URL('../../../../libs/gateway-contract/openapi/contract.json', import.meta.url), 'utf8'),
) as { paths: Record<string, Record<string, Operation>>; components: { responses: Operation['responses'] } };

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, 'contract');
const compiled = new Map<string, ValidateFunction>();

/** The contract's path template for a request path, e.g. `/chats/{ChatID}`; a literal path wins over a template. */
function templateOf(method: string, path: string): string | undefined {
  const templates = Object.keys(document.paths).filter((template) => document.paths[template]?.[method.toLowerCase()]);
  const fits = (template: string) =>
    new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+').replaceAll('.', '\\.')}$`).test(path);
  return templates.find((template) => template === path) ?? templates.find(fits);
}

const pointer = (segment: string) => segment.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * Checks a JSON response of a listed endpoint against the OpenAPI document.
 * @returns what is wrong with it, or undefined when it fits or the contract does not describe this response
 */
export function contractViolation(method: string, path: string, status: number, body: unknown): string | undefined {
  const template = templateOf(method, path);
  if (template === undefined) return undefined;
  const verb = method.toLowerCase();
  const response = document.paths[template]?.[verb]?.responses[String(status)];
  if (!response) return `${method} ${template} does not list status ${status}`;
  const shared = response.$ref?.split('/').at(-1);
  const content = shared === undefined ? response.content : document.components.responses[shared]?.content;
  if (!content?.['application/json']?.schema) return undefined;
  const place =
    shared === undefined
      ? `/paths/${pointer(template)}/${verb}/responses/${status}`
      : `/components/responses/${pointer(shared)}`;
  const reference = `contract#${encodeURI(`${place}/content/application~1json/schema`)}`;
  const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  return validate(body) ? undefined : `${method} ${template} ${status}: ${ajv.errorsText(validate.errors)}`;
}

/** Checks any value against a named schema of the contract; returns what is wrong, or undefined. */
export function schemaViolation(name: string, value: unknown): string | undefined {
  const reference = `contract#/components/schemas/${name}`;
  const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  return validate(value) ? undefined : `${name}: ${ajv.errorsText(validate.errors)}`;
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const ENVELOPE = new Set(['event', 'channel_id']);

/** Checks the body of a webhook call against the contract's schema of its kind: one key beside the envelope, not empty. */
export function webhookViolation(
  body: Record<string, unknown> & { event?: { type: string; event: string } },
): string | undefined {
  const { type = '', event = '' } = body.event ?? {};
  const [key, ...others] = Object.keys(body).filter((name) => !ENVELOPE.has(name));
  if (key === undefined || others.length > 0)
    return `${type}.${event}: not one key but ${Object.keys(body).join(', ')}`;
  const content = body[key];
  if (Array.isArray(content) && content.length === 0) return `${type}.${event}: ${key} is empty`;
  return schemaViolation(`Hook${capital(type)}${capital(event)}`, body);
}
