/**
 * Requests that never become one of an application's: broken HTTP, which Node refuses, and URLs that no router reads,
 * which Fastify refuses. Both would be answered in a form of their own, without a request id and unseen by the log. Here
 * the application's own answer is written in their place. Knows Fastify by shape only.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from './log.js';
import { newRequestId } from './request-id.js';

/** What is wrong with a request, in a sentence for its sender. */
export interface RequestFault {
  status: 400 | 404;
  details: string;
}

/** The application's answer to it. */
export interface FaultAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface BrokenRequestsOptions {
  answerTo: (fault: RequestFault) => FaultAnswer;
  log: Logger;
}

const REASONS: Record<number, string> = { 400: 'Bad Request', 404: 'Not Found' };

/** By the codes of Fastify. */
const UNROUTABLE: Record<string, RequestFault> = {
  FST_ERR_MAX_PARAM_LENGTH: { status: 404, details: 'path: a part of it is longer than any id' },
  FST_ERR_BAD_URL: { status: 400, details: 'path: is not a valid URL: a % stands alone or for no character' },
};

/** By the codes of Node's HTTP parser and server. */
const UNREADABLE: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'the request line and the headers are larger than 16 KiB',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'the chunk extensions are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'the request took too long to arrive',
};

/** Options for Fastify. */
export function answerBrokenRequests({ answerTo, log }: BrokenRequestsOptions) {
  const logged = (requestId: string, method: string | undefined, status: number): void =>
    log.info({ requestId, method, route: 'unlisted', status }, 'request');
  return {
    frameworkErrors: (
      error: { code?: string },
      request: { id: string; method: string },
      { raw }: { raw: ServerResponse },
    ): void => {
      const fault = UNROUTABLE[error.code ?? ''] ?? { status: 400, details: 'path: is not one of this API' };
      const { status, headers, body } = answerTo(fault);
      logged(request.id, request.method, status);
      raw.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body), 'x-request-id': request.id });
      raw.end(body);
    },
    clientErrorHandler: (error: { code?: string }, socket: Socket): void => {
      if (error.code === 'ECONNRESET' || socket.destroyed) return;
      if (!socket.writable) return void socket.destroy();
      const details = UNREADABLE[error.code ?? ''] ?? 'the request is not valid HTTP';
      const { status, headers, body } = answerTo({ status: 400, details });
      const requestId = newRequestId();
      logged(requestId, undefined, status);
      const head = [
        `HTTP/1.1 ${status} ${REASONS[status] ?? ''}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        `content-length: ${Buffer.byteLength(body)}`,
        `x-request-id: ${requestId}`,
        'connection: close',
      ];
      socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    },
    /** Node answers a request without Host by itself, without a body; see {@link headerFault}. */
    http: { requireHostHeader: false },
  };
}

/** Lets a request with an unknown `Expect` through, which Node would answer by itself; see {@link headerFault}. */
export function acceptEveryExpectation(server: Server): void {
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
}

/** What is wrong with the headers of a request that reached the application. */
export function headerFault({ headers, httpVersion }: IncomingMessage): RequestFault | undefined {
  if (headers.host === undefined && httpVersion === '1.1') {
    return { status: 400, details: 'host: the header is missing' };
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return { status: 400, details: 'expect: only 100-continue is understood' };
  }
  return undefined;
}
