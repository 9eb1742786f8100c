import { whenGone } from '@dormouse/http-server';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Aborted when the connection of the request ends before its answer: a command that no worker has taken is withdrawn then. */
export const CallerGone = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const { raw } = context.switchToHttp().getResponse<FastifyReply>();
  const gone = new AbortController();
  whenGone(raw, (unanswered) => {
    if (unanswered) gone.abort();
  });
  return gone.signal;
});
