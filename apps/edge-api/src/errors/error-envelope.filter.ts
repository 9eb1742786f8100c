import { type Logger } from '@dormouse/bootstrap';
import { errorEnvelope, GatewayError } from '@dormouse/gateway-contract';
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface Site {
  /** No trailing slash. */
  docsUrl: string;
  supportAddress: string;
}

/**
 * The only code that writes an error body. Whatever is thrown, by a handler, a pipe, the access chain, Nest or Fastify,
 * ends here and leaves as the envelope with a status of the error table.
 */
@Catch()
export class ErrorEnvelopeFilter implements ExceptionFilter {
  constructor(
    private readonly site: Site,
    private readonly log: Logger,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = toGatewayError(thrown);
    if (error !== thrown && error.status === 502) {
      this.log.error({ err: thrown, requestId: request.id }, 'a request failed unexpectedly');
    } else if (error.cause !== undefined && error.status >= 502) {
      this.log.warn({ err: error, requestId: request.id }, 'a request could not be served');
    }
    if (reply.sent) return;
    if (error.retryAfterS !== undefined)
      void reply.header('retry-after', String(Math.max(1, Math.ceil(error.retryAfterS))));
    // The rest of an oversized body would have to be read to use the connection again.
    if (error.status === 413) void reply.header('connection', 'close');
    void reply
      .code(error.status)
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(errorEnvelope(error, this.site)));
  }
}

/** The error of the table that a thrown thing amounts to. Frameworks' client errors become 400, the rest 502. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const status = thrown instanceof HttpException ? thrown.getStatus() : statusCodeOf(thrown);
  if (status === 413) return new GatewayError(413, {}, { cause: thrown });
  if (status >= 400 && status < 500)
    return new GatewayError(400, { details: 'the request is not well-formed' }, { cause: thrown });
  return new GatewayError(502, {}, { cause: thrown });
}

function statusCodeOf(thrown: unknown): number {
  const carries = typeof thrown === 'object' && thrown !== null && 'statusCode' in thrown;
  return carries && typeof thrown.statusCode === 'number' ? thrown.statusCode : 500;
}
