import type { Readable } from 'node:stream';
import { GatewayError } from '@dormouse/gateway-contract';
import { announcesBody, unreadableType } from '@dormouse/http-server';
import type { ByteBudget, HeldBytes } from '@dormouse/media-files';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { policyOf, type EndpointPolicy } from '../access/endpoint.js';
import { bodyFormOf, bodyLimitOf, MAX_BESIDE_FILE_BYTES, type BodyLimits, type BodySizeLimit } from './body-limits.js';
import { readJson, type LongTextField } from './json-reader.js';

/** A form or a file, which the endpoint reads itself, as a stream. */
export class UnreadBody {
  constructor(
    readonly form: 'form' | 'raw',
    /** Unbounded: whoever reads it holds it to `limits`. */
    readonly stream: Readable,
    /** `keep` is called with the bytes held in memory, as in {@link readJson}. */
    readonly limits: BodySizeLimit & { keep: (bytes: number) => void },
  ) {}

  /** @throws {GatewayError} 413 beyond the largest body that the endpoint takes; 400 when it ends too early */
  async *bytes(): AsyncGenerator<Buffer> {
    let arrivedBytes = 0;
    for await (const chunk of bytesOf(this.stream)) {
      arrivedBytes += chunk.length;
      if (arrivedBytes > this.limits.maxBytes) throw this.limits.refusal();
      yield chunk;
    }
  }
}

/** JSON that may contain a file: the endpoint reads it, so that the file goes directly to its place. */
export class UnreadJson {
  constructor(
    /** See {@link readJson}; bound to the limits of the request. */
    readonly read: (longText: LongTextField) => Promise<unknown>,
  ) {}
}

/** The bytes of a body. Stopping early does not close the connection, so that the client can be answered. */
async function* bytesOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new GatewayError(400, { details: 'body: unexpected end' }, { cause: error });
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The body's part of the memory shared by all bodies, until it is answered. */
    bodyMemory: HeldBytes | null;
  }
}

/** The first bytes of every body are not counted: a small request is never rejected because of others' large ones. */
const UNCOUNTED_BYTES = 64 * 1024;

/**
 * Reads JSON bodies; endpoints that take files read theirs themselves, in the same memory. A missing body is accepted
 * with any content type: clients send `content-type: application/json` without one. A body without a content type is read as JSON. Errors: 413
 * as soon as the body exceeds its limit, 400 for another content type (unread), for invalid JSON and for more values than
 * any request needs, 503 when the bodies in progress use all the memory they share.
 */
export function readBodies(fastify: FastifyInstance, limits: BodyLimits & { bodyMemory: ByteBudget }): void {
  fastify.removeAllContentTypeParsers();
  fastify.decorateRequest('bodyMemory', null);
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    const { headers } = request;
    if (headers['content-type'] !== undefined && request.mediaType === undefined) {
      if (announcesBody(request) && policyOf(request)?.ignoresBody !== true) return done(unreadableType());
      // Fastify rejects an invalid type even when there is no body.
      delete headers['content-type'];
    }
    if (announcesBody(request)) {
      const held = limits.bodyMemory.open(request.channel?.id);
      request.bodyMemory = held;
      reply.raw.once('close', () => held.release());
    }
    done(null, payload);
  });
  fastify.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    const policy: Partial<EndpointPolicy> = policyOf(request) ?? {};
    if (policy.ignoresBody) return undefined;
    const form = bodyFormOf(request, policy);
    const limit = bodyLimitOf(request, policy, limits);
    const hasFile = policy.file !== undefined;
    const keep = keeping(request.bodyMemory, hasFile ? MAX_BESIDE_FILE_BYTES : limit.maxBytes, form);
    if (form === 'form' || form === 'raw') return new UnreadBody(form, payload, { ...limit, keep });
    if (form === 'unknown') {
      if (!announcesBody(request)) return undefined;
      throw new GatewayError(400, { details: 'body: JSON expected' });
    }
    const read = (longText?: LongTextField) => readJson(bytesOf(payload), { ...limit, keep }, longText);
    return hasFile ? new UnreadJson(read) : read();
  });
}

function keeping(memory: HeldBytes | null, maxBytes: number, form: string): (bytes: number) => void {
  const advice = form === 'form' ? ': send the file as a part with a filename' : '';
  let counted = UNCOUNTED_BYTES;
  return (bytes) => {
    if (bytes > maxBytes) {
      throw new GatewayError(413, { details: `body: larger than ${maxBytes} bytes beside the file${advice}` });
    }
    if (bytes <= counted) return;
    memory?.hold(bytes - counted);
    counted = bytes;
  };
}
