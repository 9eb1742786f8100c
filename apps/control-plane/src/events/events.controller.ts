import { OPERATIONS, eventsQuery, type EventPage, type EventsQuery } from '@dormouse/management-contract';
import { valid } from '@dormouse/http-server';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { presentedKey } from '../accounts/account-key.js';
import { CurrentAccount, CurrentCaller } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import type { Caller } from '../accounts/caller.js';
import { Callers } from '../accounts/callers.js';
import { ChannelStreams, ownerOf, wantsStream } from '../streams/channel-streams.js';
import { EventStream, streamCursor } from './event-stream.js';
import { Events } from './events.js';

@Controller('channels/:id/events')
export class EventsController {
  constructor(
    private readonly events: Events,
    private readonly streams: ChannelStreams,
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
    if (!wantsStream(request)) {
      const page: EventPage = await this.events.page(account.id, id, query);
      return void reply.send(page);
    }
    const link = await this.events.linkOf(account.id, id);
    const { access } = OPERATIONS.listEvents;
    const key = presentedKey(request.headers.authorization);
    const cursor = streamCursor(request.headers['last-event-id'], query.cursor);
    this.streams.answer(reply, {
      link,
      channelId: id,
      owner: ownerOf(caller),
      content: new EventStream(link, id, cursor),
      isAuthorized: async () =>
        (await this.callers.isStillAllowed(caller, { key, headers: request.headers }, access)) &&
        (await this.events.exists(account.id, id)),
    });
  }
}
