import type { Logger } from '@dormouse/bootstrap';
import { errorEnvelope, GatewayError } from '@dormouse/gateway-contract';
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface Site {
  /** No trailing slash. */
  docsUrl: string;
  supportAddress: string;
}

/** The only code that writes an error body: whatever is thrown leaves as the envelope. */
@Catch()
export class ErrorEnvelopeFilter implements ExceptionFilter {
  constructor(
    private readonly site: Site,
    private readonly log: Logger,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = toGatewayError(thrown);
    if (error.status >= 500) {
      this.log[error === thrown ? 'warn' : 'error']({ err: error, requestId: request.id }, 'a request failed');
    }
    if (reply.sent) return;
    if (error.retryAfterS !== undefined) void reply.header('retry-after', String(error.retryAfterS));
    void reply
      .code(error.status)
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(errorEnvelope(error, this.site)));
  }
}

/** Client errors of Nest and Fastify keep their meaning as far as the table has it; anything else is 502. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const status = thrown instanceof HttpException ? thrown.getStatus() : statusCodeOf(thrown);
  if (status === 404) return new GatewayError(404, { details: 'there is no such endpoint' });
  if (status === 413) return new GatewayError(413, { message: 'request body too large' });
  if (status >= 400 && status < 500) return new GatewayError(400, { details: 'the request is not well-formed' });
  return new GatewayError(502, { message: 'the request could not be carried out' }, { cause: thrown });
}

function statusCodeOf(thrown: unknown): number {
  const carries = typeof thrown === 'object' && thrown !== null && 'statusCode' in thrown;
  return carries && typeof thrown.statusCode === 'number' ? thrown.statusCode : 500;
}
