import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

interface Operation {
  responses: Record<string, Response>;
}
interface Response {
  $ref?: string;
  content?: Record<string, unknown>;
}
interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response> };
}

const document = JSON.parse(
  readFileSync(new URL('../../../libs/gateway-contract/openapi/contract.json', import.meta.url), 'utf8'),
) as OpenApi;

/** `METHOD /path/{Id}` of every operation in the contract. */
export function contractRoutes(): string[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema(document, 'contract');

/**
 * What is wrong with a JSON body by the contract's schema for this operation and status; empty when it is right.
 * @param route as {@link contractRoutes} names it
 */
export function contractFaults(route: string, status: number, body: unknown): (ErrorObject | string)[] {
  const [method = '', path = ''] = route.split(' ');
  const escaped = path.replaceAll('~', '~0').replaceAll('/', '~1');
  const response = document.paths[path]?.[method.toLowerCase()]?.responses[status];
  if (!response) return [`${route} has no ${status} in the contract`];
  const pointer = response.$ref ?? `#/paths/${escaped}/${method.toLowerCase()}/responses/${status}`;
  const validate = ajv.compile({ $ref: `contract${pointer}/content/application~1json/schema` });
  return validate(body) ? [] : (validate.errors ?? []);
}
