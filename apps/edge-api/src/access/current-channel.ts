import type { ChannelRecord } from '@dormouse/channel-directory';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** The channel whose token the request carries. */
export const CurrentChannel = createParamDecorator((_data: unknown, context: ExecutionContext): ChannelRecord => {
  const { channel } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!channel) throw new Error('a handler ran before the access chain');
  return channel;
});

/** The id of this request in logs and in commands. */
export const RequestId = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string => context.switchToHttp().getRequest<FastifyRequest>().id,
);

/** Who makes a request. */
export interface Caller {
  channel: ChannelRecord;
  /** Id of the request in logs and in commands. */
  requestId: string;
  /** The `Idempotency-Key` header. */
  idempotencyKey?: string | undefined;
}

/** The {@link Caller} of the request. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const { channel, id: requestId, headers } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!channel) throw new Error('a handler ran before the access chain');
  const key = headers['idempotency-key'];
  return { channel, requestId, idempotencyKey: Array.isArray(key) ? key.join(', ') : key };
});
