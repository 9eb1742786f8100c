import { newRequestId } from '@dormouse/bootstrap';
import { valid } from '@dormouse/http-server';
import { loginQuery, OPERATIONS, type LoginQuery } from '@dormouse/management-contract';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { presentedKey } from '../accounts/account-key.js';
import { CurrentAccount, CurrentCaller } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import type { Caller } from '../accounts/caller.js';
import { Callers } from '../accounts/callers.js';
import { ChannelEntries } from '../channels/channel-entries.js';
import { channelNotFound, regionAway } from '../channels/channels.js';
import { RegionAwayError, Regions } from '../regions/regions.js';
import { CallerGone } from '../http/caller-gone.js';
import { ChannelStreams, ownerOf, wantsStream } from '../streams/channel-streams.js';
import { LoginWatch } from './login-watch.js';

@Controller('channels/:id/login')
export class LoginController {
  constructor(
    private readonly entries: ChannelEntries,
    private readonly regions: Regions,
    private readonly streams: ChannelStreams,
    private readonly callers: Callers,
  ) {}

  /** What to show to the person who links the channel: once, or with `Accept: text/event-stream` as it changes. */
  @Get()
  async watch(
    @CurrentAccount() account: Account,
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query(valid(loginQuery)) { phone }: LoginQuery,
    @CallerGone() gaveUp: AbortSignal,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const entry = await this.entries.find(account.id, id);
    if (!entry) throw channelNotFound();
    const link = this.regions.link(entry.region);
    if (!link) throw regionAway(new RegionAwayError(entry.region), 'try again later');
    const requestId = request.id || newRequestId();
    const content = new LoginWatch({ link, channelId: id, phone, requestId, gaveUp });
    void reply.header('cache-control', 'no-store');
    if (!wantsStream(request)) return void reply.send(await content.first());
    const { access } = OPERATIONS.watchLogin;
    const { headers } = request;
    const key = presentedKey(headers.authorization);
    this.streams.answer(reply, {
      link,
      channelId: id,
      owner: ownerOf(caller),
      content,
      isAuthorized: async () =>
        (await this.callers.isStillAllowed(caller, { key, headers }, access)) &&
        (await this.entries.find(account.id, id)) !== undefined,
    });
  }
}
