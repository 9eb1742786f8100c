import { GatewayError } from '@dormouse/gateway-contract';
import { OPERATIONS, eventsQuery, type EventPage, type EventsQuery } from '@dormouse/management-contract';
import { valid } from '@dormouse/http-server';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { presentedKey } from '../accounts/account-key.js';
import { CurrentAccount, CurrentCaller } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import type { Caller } from '../accounts/caller.js';
import { Callers } from '../accounts/callers.js';
import { EventStreams, streamCursor } from './event-streams.js';
import { Events } from './events.js';

/** Maximum number of open streams of one channel. */
const STREAMS_PER_CHANNEL = 10;
const RETRY_AFTER_S = 5;

@Controller('channels/:id/events')
export class EventsController {
  constructor(
    private readonly events: Events,
    private readonly streams: EventStreams,
    private readonly callers: Callers,
  ) {}

  /** A page of events, or with `Accept: text/event-stream` a stream of them. */
  @Get()
  async list(
    @CurrentAccount() account: Account,
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query(valid(eventsQuery)) query: EventsQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (!/\btext\/event-stream\b/.test(request.headers.accept ?? '')) {
      const page: EventPage = await this.events.page(account.id, id, query);
      return void reply.send(page);
    }
    const link = await this.events.linkOf(account.id, id);
    if (this.streams.open(id) >= STREAMS_PER_CHANNEL) {
      throw new GatewayError(429, {
        details: 'too many open event streams of this channel: close one first',
        retryAfterS: RETRY_AFTER_S,
      });
    }
    const { access } = OPERATIONS.listEvents;
    const key = presentedKey(request.headers.authorization);
    const cursor = streamCursor(request.headers['last-event-id'], query.cursor);
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    this.streams.send(reply.raw, {
      link,
      channelId: id,
      cursor,
      isAuthorized: async () =>
        (await this.callers.isStillAllowed(caller, { key, headers: request.headers }, access)) &&
        (await this.events.exists(account.id, id)),
    });
  }
}
