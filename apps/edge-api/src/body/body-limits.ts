import {
  fileTooLarge,
  GatewayError,
  kindOfUpload,
  MAX_DATA_URI_HEADER,
  type MediaLimits,
} from '@dormouse/gateway-contract';
import type { FastifyRequest } from 'fastify';
import type { EndpointPolicy } from '../access/endpoint.js';
import { LONG_TEXT_BYTES } from './json-reader.js';

/** How large bodies may be. */
export interface BodyLimits {
  /** JSON of an endpoint that takes no file, in bytes. */
  maxJsonBytes: number;
  media: {
    /** JSON of one that takes a file as base64, in bytes. */
    maxJsonBytes: number;
    limits: MediaLimits;
  };
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const FORM_TYPE = /^multipart\/form-data\s*(?:;|$)/i;
/** Room beside the file, in bytes: for the texts and boundaries of a form, for the other fields of a JSON body. */
const BESIDE_THE_FILE = 1024 * 1024;
/**
 * Most bytes of a body with a file held in memory. JSON: other fields, and the text of a file until it is known to be long.
 * A form: everything that is not the content of a file part.
 */
export const MAX_BESIDE_FILE_BYTES = BESIDE_THE_FILE + 4 * LONG_TEXT_BYTES;
/** Base64 is a third longer; broken into lines it is a little more. */
const BASE64_FACTOR = 1.4;

/** The form of a body. Without a content type it is JSON, except where a file may be the whole body. */
export function bodyFormOf(request: FastifyRequest, policy: Pick<EndpointPolicy, 'file'> | undefined) {
  const type = request.headers['content-type'];
  if (type !== undefined && JSON_TYPE.test(type)) return 'json';
  if (type !== undefined && FORM_TYPE.test(type)) return policy?.file === undefined ? 'unknown' : 'form';
  if (policy?.file === 'upload') return 'raw';
  return type === undefined ? 'json' : 'unknown';
}

/** How large a body may be. */
export interface BodySizeLimit {
  maxBytes: number;
  refusal: () => GatewayError;
}

/** The largest body a request may have, and the error for a larger one, which names the kind of file and its limit. */
export function bodyLimitOf(
  request: FastifyRequest,
  policy: Pick<EndpointPolicy, 'file' | 'maxBodyBytes'>,
  { maxJsonBytes, media }: BodyLimits,
): BodySizeLimit {
  if (policy.file === undefined) {
    const maxBytes = policy.maxBodyBytes ?? maxJsonBytes;
    return { maxBytes, refusal: () => new GatewayError(413, { details: `body: larger than ${maxBytes} bytes` }) };
  }
  const { limits } = media;
  const form = bodyFormOf(request, policy);
  // The error for an upload beyond all limits names the kind that its content type claims.
  const claimed = form === 'raw' ? kindOfUpload(request.headers['content-type'] ?? '') : 'document';
  const [kind, bytes] =
    policy.file === 'upload'
      ? [claimed, Math.max(limits.document, limits.video, limits.image, limits.audio)]
      : [policy.file, limits[policy.file]];
  const asBase64 = Math.ceil(bytes * BASE64_FACTOR);
  const maxBytes = {
    json: Math.min(media.maxJsonBytes, asBase64 + BESIDE_THE_FILE),
    // May be a data: URI. For the file itself the limit of its kind is checked while it is spooled.
    raw: asBase64 + MAX_DATA_URI_HEADER,
    form: bytes + BESIDE_THE_FILE,
    unknown: bytes + BESIDE_THE_FILE,
  }[form];
  return { maxBytes, refusal: () => fileTooLarge(kind, limits) };
}
