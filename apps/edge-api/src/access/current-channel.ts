import type { ChannelRecord } from '@dormouse/channel-directory';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { whenGivenUp } from './caller-patience.js';

/** The channel whose token the request carries. */
export const CurrentChannel = createParamDecorator((_data: unknown, context: ExecutionContext): ChannelRecord => {
  const { channel } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!channel) throw new Error('a handler ran before the access chain');
  return channel;
});

/** Who makes a request. */
export interface Caller {
  channel: ChannelRecord;
  /** Id of the request in logs and in commands. */
  requestId: string;
  /** The `Idempotency-Key` header. */
  idempotencyKey?: string | undefined;
  /** Aborted when nobody waits for the answer any more. */
  gaveUp?: AbortSignal | undefined;
}

/** The {@link Caller} of the request. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const http = context.switchToHttp();
  const request = http.getRequest<FastifyRequest>();
  const { channel, id: requestId, headers } = request;
  if (!channel) throw new Error('a handler ran before the access chain');
  const key = headers['idempotency-key'];
  const gaveUp = whenGivenUp(request, http.getResponse<FastifyReply>());
  return { channel, requestId, idempotencyKey: Array.isArray(key) ? key.join(', ') : key, gaveUp };
});
