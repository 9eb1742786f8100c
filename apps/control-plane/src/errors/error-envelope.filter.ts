import type { Logger } from '@dormouse/bootstrap';
import { errorAnswer, toGatewayError, type FrameworkErrors, type Site } from '@dormouse/gateway-contract';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

const FRAMEWORK_ERRORS: FrameworkErrors = {
  404: { status: 404, details: 'there is no such endpoint' },
  413: { status: 413, message: 'request body too large' },
  502: { status: 502, message: 'the request could not be carried out' },
};

/** The only code that writes an error body: everything that is thrown is answered with the error envelope. */
@Catch()
export class ErrorEnvelopeFilter implements ExceptionFilter {
  constructor(
    private readonly site: Site,
    private readonly log: Logger,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = toGatewayError(thrown, FRAMEWORK_ERRORS);
    if (error.status >= 500) {
      this.log[error === thrown ? 'warn' : 'error']({ err: error, requestId: request.id }, 'a request failed');
    }
    if (reply.sent) return;
    const { status, headers, body } = errorAnswer(error, this.site);
    void reply.code(status).headers(headers).send(body);
  }
}
