import type { ChannelRecord } from '@dormouse/channel-directory';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** The channel whose token the request carries. */
export const CurrentChannel = createParamDecorator((_data: unknown, context: ExecutionContext): ChannelRecord => {
  const { channel } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!channel) throw new Error('a handler ran before the access chain');
  return channel;
});

/** The id under which this request stands in logs and goes to the worker. */
export const RequestId = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string => context.switchToHttp().getRequest<FastifyRequest>().id,
);

/** Whose request it is, under which id, and under which `Idempotency-Key` if any. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const { channel, id: requestId, headers } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!channel) throw new Error('a handler ran before the access chain');
  const key = headers['idempotency-key'];
  return { channel, requestId, idempotencyKey: Array.isArray(key) ? key.join(', ') : key };
});
