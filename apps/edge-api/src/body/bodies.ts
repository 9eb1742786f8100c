import type { Readable } from 'node:stream';
import { GatewayError } from '@dormouse/gateway-contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { policyOf } from '../access/endpoint.js';
import { bodyFormOf, bodyLimitOf, type BodyLimits } from './body-limits.js';

/** A body that its endpoint reads by itself, as a stream: a form or a file. */
export class UnreadBody {
  constructor(
    readonly form: 'form' | 'raw',
    readonly stream: Readable,
  ) {}

  bytes(): AsyncGenerator<Buffer> {
    return bytesOf(this.stream);
  }
}

/** The bytes of a body. Stopping early leaves the connection alone, so that the sender can be answered. */
async function* bytesOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new GatewayError(400, { details: 'body: breaks off' }, { cause: error });
  }
}

/**
 * Reads JSON bodies, and leaves forms and files to the endpoints that take them. No body at all is fine, whatever the
 * content type says: clients send `content-type: application/json` without one. A body without a content type is read as
 * JSON. Refusals: 413 as soon as the body turns out too large, 400 for another content type (unread) or for broken JSON.
 */
export function readBodies(fastify: FastifyInstance, limits: BodyLimits): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    const policy = policyOf(request);
    const form = bodyFormOf(request, policy);
    if (form === 'form' || form === 'raw') return new UnreadBody(form, payload);
    if (form === 'unknown') {
      if (!announcesBody(request)) return undefined;
      throw new GatewayError(400, { details: 'body: JSON expected' });
    }
    return parse(await text(payload, bodyLimitOf(request, policy ?? {}, limits)));
  });
}

function announcesBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function text(payload: Readable, limit: { maxBytes: number; refusal: () => GatewayError }): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of bytesOf(payload)) {
    bytes += chunk.length;
    if (bytes > limit.maxBytes) throw limit.refusal();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(body: string): unknown {
  if (body.trim() === '') return undefined;
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new GatewayError(400, { details: 'body: not valid JSON' }, { cause: error });
  }
}
