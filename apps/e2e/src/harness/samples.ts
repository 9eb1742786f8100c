/** The examples of the API document: their requests, to be made for real, and the shapes of their answers. */
import { sampleName, samples as listed, type Sample, type SamplePart } from '@dormouse/gateway-contract/test-samples';

export type { Sample };

export const samples: ReadonlyMap<string, Sample> = new Map(listed.map((sample) => [sampleName(sample), sample]));

/** The sample with ids and addresses of this network in the place of its own. */
export function withReal(sample: Sample, real: Readonly<Record<string, string>>): Sample {
  const text = Object.entries(real).reduce((all, [own, ours]) => all.replaceAll(own, ours), JSON.stringify(sample));
  return JSON.parse(text) as Sample;
}

export interface RawRequest {
  path: string;
  body?: unknown;
  raw?: { body: Buffer; contentType: string };
}

/** The request as it goes over the wire. */
export async function requestOf({ path, request }: Sample): Promise<RawRequest> {
  const query = request.query ? `?${new URLSearchParams(request.query).toString()}` : '';
  const made: RawRequest = { path: path + query };
  if (request.multipart) return { ...made, raw: await formOf(request.multipart) };
  if (request.binaryBase64 !== undefined) {
    return {
      ...made,
      raw: { body: Buffer.from(request.binaryBase64, 'base64'), contentType: request.contentType ?? '' },
    };
  }
  return request.body === undefined ? made : { ...made, body: request.body };
}

async function formOf(parts: readonly SamplePart[]): Promise<{ body: Buffer; contentType: string }> {
  const form = new FormData();
  for (const { name, text, base64 = '', contentType, filename } of parts) {
    if (text !== undefined) form.append(name, text);
    else form.append(name, new File([Buffer.from(base64, 'base64')], filename ?? 'file', { type: contentType ?? '' }));
  }
  const encoded = new Response(form);
  return {
    body: Buffer.from(await encoded.arrayBuffer()),
    contentType: encoded.headers.get('content-type') ?? '',
  };
}

/** The fields of an example that an answer lacks, or has as another kind of value, as paths. */
export function missingFields(example: unknown, answer: unknown, path = ''): string[] {
  if (Array.isArray(example)) {
    if (!Array.isArray(answer)) return [`${path}: no list`];
    const [first] = example as unknown[];
    const [given] = answer as unknown[];
    return first === undefined || given === undefined ? [] : missingFields(first, given, `${path}[]`);
  }
  if (typeof example === 'object' && example !== null) {
    if (typeof answer !== 'object' || answer === null) return [path];
    return Object.entries(example).flatMap(([name, value]) =>
      missingFields(value, (answer as Record<string, unknown>)[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return typeof example === typeof answer ? [] : [path];
}
