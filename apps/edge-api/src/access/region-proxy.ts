/**
 * Forwards a request to another region's edge and streams the answer back; neither body is held in memory. Only the
 * configured origin can be reached, whatever the request contains (forward-target.ts); the home edge checks the token.
 * There are no retries. No connection to the other edge: 503, it cannot have received the request. A connection that
 * breaks before the answer, or falls silent: 502, it may have. When the client disconnects, the forwarded request is
 * aborted; for how long this edge waits travels with it (caller-patience.ts).
 */
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { GatewayError, type Region } from '@dormouse/gateway-contract';
import { drainBody } from '@dormouse/http-server';
import { inSpan } from '@dormouse/traces';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ANSWER_WITHIN_HEADER } from './caller-patience.js';
import { FORWARDED_HEADER } from './home-region.js';
import { forwardTarget, type ForwardTarget } from './forward-target.js';
import { countPassed } from './passed-chunks.js';

/** Longer than any command, so that the home region's own answer comes first. */
const IDLE_MS = 150_000;
/** Headers that apply to one connection only (RFC 9110, section 7.6.1), and `expect`, which is answered here. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A request to the other edge, whose body may still be on its way, and the answer to it. */
interface Exchange {
  outgoing: ClientRequest;
  answer: IncomingMessage;
}

export interface RegionProxyOptions {
  here: Region;
  /** Timeout of a connection to another edge on which nothing is sent or received, in milliseconds. */
  idleMs?: number;
}

export class RegionProxy {
  readonly #here: Region;
  readonly #idleMs: number;
  readonly #agents = {
    'http:': new HttpAgent({ keepAlive: true }),
    'https:': new HttpsAgent({ keepAlive: true }),
  };

  constructor({ here, idleMs = IDLE_MS }: RegionProxyOptions) {
    this.#here = here;
    this.#idleMs = idleMs;
  }

  /**
   * Answers `reply` with what `origin` answers to the same request.
   * @throws {GatewayError} 400 for what is no request of this API, before anything leaves; 502 or 503 while nothing of an
   * answer has been sent
   */
  async forward(request: FastifyRequest, reply: FastifyReply, origin: string): Promise<void> {
    const target = forwardTarget(origin, request.originalUrl);
    requireKnownFraming(request);
    const { outgoing, answer } = await this.#sendInSpan(request, reply, target);
    reply.hijack();
    // Answered while the body is still arriving and is no longer read: the connection cannot be used again.
    const headers = { ...endToEnd(answer.headers), ...(request.raw.complete ? {} : { connection: 'close' }) };
    reply.raw.writeHead(answer.statusCode ?? 502, { 'x-request-id': request.id, ...headers });
    answer.on('data', countPassed);
    // Broken off in the middle: the client sees its connection end.
    await pipeline(answer, reply.raw, { end: false }).catch(() => reply.raw.destroy());
    // The other edge has answered without the rest of the body; its connection cannot be used again.
    if (!outgoing.writableEnded) {
      request.raw.unpipe(outgoing);
      outgoing.destroy();
    }
    if (!request.raw.complete) await drainBody(request.raw);
    reply.raw.end();
  }

  close(): void {
    this.#agents['http:'].destroy();
    this.#agents['https:'].destroy();
  }

  /** The other edge continues the trace. */
  #sendInSpan(request: FastifyRequest, reply: FastifyReply, target: ForwardTarget): Promise<Exchange> {
    const { method } = request;
    const facts = {
      'http.request.method': method,
      'server.address': target.hostname,
      'server.port': Number(target.port),
    };
    return inSpan(method, { kind: 'client', facts }, async (span) => {
      const { traceparent } = span;
      const exchange = await this.#send(request, reply, target, traceparent === undefined ? {} : { traceparent });
      span.add({ 'http.response.status_code': exchange.answer.statusCode ?? 0 });
      return exchange;
    });
  }

  #send(
    request: FastifyRequest,
    reply: FastifyReply,
    target: ForwardTarget,
    ofTrace: { traceparent?: string },
  ): Promise<Exchange> {
    const secure = target.protocol === 'https:';
    const send = secure ? httpsRequest : httpRequest;
    const headers = {
      ...endToEnd(request.headers),
      'x-request-id': request.id,
      ...ofTrace,
      // The client's own header is replaced: the other edge believes ours where this edge is a trusted proxy.
      'x-forwarded-for': request.ip,
      [FORWARDED_HEADER]: this.#here,
      [ANSWER_WITHIN_HEADER]: String(this.#idleMs),
      ...(request.headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }),
    };
    return new Promise((resolve, reject) => {
      const agent = this.#agents[target.protocol];
      const outgoing = send({ ...target, method: request.method, headers, agent, timeout: this.#idleMs });
      let connected = false;
      outgoing.on('socket', (socket) => {
        if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', () => (connected = true));
        else connected = true;
      });
      outgoing.on('response', (answer) => resolve({ outgoing, answer }));
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
      outgoing.on('error', (error) => {
        const details = 'the home region of the channel could not be reached';
        reject(
          new GatewayError(
            connected ? 502 : 503,
            { details, ...(connected ? {} : { retryAfterS: 3 }) },
            { cause: error },
          ),
        );
      });
      request.raw.once('close', () => {
        if (!request.raw.complete) outgoing.destroy();
      });
      // The body may have arrived whole, and the answer not yet begun.
      reply.raw.once('close', () => {
        if (!reply.raw.writableEnded) outgoing.destroy();
      });
      request.raw.on('data', countPassed).pipe(outgoing);
    });
  }
}

/** @throws {GatewayError} 400 for a transfer coding that would be lost on the way */
function requireKnownFraming({ headers }: FastifyRequest): void {
  const coding = headers['transfer-encoding'];
  if (coding === undefined || coding.trim().toLowerCase() === 'chunked') return;
  throw new GatewayError(400, { details: 'transfer-encoding: only chunked is understood' });
}

/**
 * The headers that are meant for both ends. A length stays, though the sender lists it as an option of its connection: what follows a
 * body without a length is read as another request, whose answer another caller would get.
 */
function endToEnd(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const listed = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/)
    .filter((name) => name !== 'content-length');
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string | string[]] =>
        entry[1] !== undefined && !OF_THE_CONNECTION.has(entry[0]) && !listed.includes(entry[0]),
    ),
  );
}
