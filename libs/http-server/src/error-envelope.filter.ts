import type { Logger } from '@dormouse/bootstrap';
import { errorAnswer, toGatewayError, type FrameworkErrors, type Site } from '@dormouse/gateway-contract';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lingeringClose } from './drain-request.js';

/** Reading of the body began and was given up while it was still arriving. */
function isHalfRead({ complete, readableDidRead }: FastifyRequest['raw']): boolean {
  return readableDidRead && !complete;
}

/** Work that was aborted, as it is when the client disconnects. */
function isAbort(thrown: unknown): boolean {
  return typeof thrown === 'object' && thrown !== null && Reflect.get(thrown, 'name') === 'AbortError';
}

/**
 * The only code that writes an error body. Whatever is thrown, by a handler, a pipe, a hook, Nest or Fastify,
 * ends here and leaves as the envelope with a status of the error table.
 */
@Catch()
export class ErrorEnvelopeFilter implements ExceptionFilter {
  constructor(
    private readonly site: Site,
    private readonly log: Logger,
    /** Answers to errors of Nest and Fastify, where they differ from those of the gateway API. */
    private readonly frameworkErrors?: FrameworkErrors,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = toGatewayError(thrown, this.frameworkErrors);
    if (isAbort(thrown) && reply.raw.destroyed) {
      this.log.info({ requestId: request.id }, 'the client disconnected before its answer');
    } else if (error !== thrown && error.status === 502) {
      this.log.error({ err: thrown, requestId: request.id }, 'a request failed unexpectedly');
    } else if (error.cause !== undefined && error.status >= 502) {
      this.log.warn({ err: error, requestId: request.id }, 'a request could not be served');
    }
    if (reply.sent) return;
    const { status, headers, body } = errorAnswer(error, this.site);
    void reply.code(status).headers(headers);
    // The rest of an oversized or half-read body would have to be read to use the connection again.
    const lastOfConnection = status === 413 || isHalfRead(request.raw);
    if (!lastOfConnection) return void reply.send(body);
    void reply.headers({ connection: 'close', 'content-length': Buffer.byteLength(body) });
    void reply.send(request.raw.complete ? body : lingeringClose(body, request.raw));
  }
}
