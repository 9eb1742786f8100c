import { GatewayError } from '@dormouse/gateway-contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tooLarge } from '../access/access-chain.js';
import { policyOf } from '../access/endpoint.js';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads JSON bodies; the only kind of body there is so far. No body at all is fine, whatever the content type says:
 * clients send `content-type: application/json` without one. A body without a content type is read as JSON.
 * Refusals: 413 as soon as the body turns out too large, 400 for another content type (unread) or for broken JSON.
 */
export function readJsonBodies(fastify: FastifyInstance, { maxJsonBytes }: { maxJsonBytes: number }): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', async (request: FastifyRequest, payload: AsyncIterable<Buffer>) => {
    const type = request.headers['content-type'];
    if (type !== undefined && !JSON_TYPE.test(type)) {
      if (!announcesBody(request)) return undefined;
      throw new GatewayError(400, { details: 'body: JSON expected' });
    }
    const maxBytes = policyOf(request)?.maxBodyBytes ?? maxJsonBytes;
    return parse(await text(payload, maxBytes));
  });
}

function announcesBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function text(payload: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of payload) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
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
