import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Own } from './own-user.js';
import { visitorOf } from './visitor.js';

/** The user who makes the request; the guard has read the session. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): Own => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  if (!request.signedIn) throw new Error('no user: the route is not for users');
  return { signedIn: request.signedIn, visitor: visitorOf(request) };
});
