import {
  channelRetention,
  channelSleep,
  createChannelBody,
  listChannelsQuery,
  renameChannelBody,
  type ChannelDeleted,
  type ChannelList,
  type ChannelLoggedOut,
  type ChannelRetention,
  type ChannelSleep,
  type ChannelWithToken,
  type CreateChannelBody,
  type ListChannelsQuery,
  type ManagedChannel,
  type TokenRotated,
  type RenameChannelBody,
} from '@dormouse/management-contract';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentAccount, CurrentCause } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import type { Cause } from '../accounts/cause.js';
import { CallerGone } from '../http/caller-gone.js';
import { Channels } from './channels.js';

/** Status of what is stored but has not reached the region yet. */
const ACCEPTED = 202;

@Controller('channels')
export class ChannelsController {
  constructor(private readonly channels: Channels) {}

  @Post()
  create(
    @CurrentAccount() account: Account,
    @CurrentCause() cause: Cause,
    @Body(valid(createChannelBody)) body: CreateChannelBody,
  ): Promise<ChannelWithToken> {
    return this.channels.create(account.id, body, cause);
  }

  @Get()
  list(
    @CurrentAccount() account: Account,
    @Query(valid(listChannelsQuery)) query: ListChannelsQuery,
  ): Promise<ChannelList> {
    return this.channels.list(account.id, query);
  }

  @Get(':id')
  get(@CurrentAccount() account: Account, @Param('id') id: string): Promise<ManagedChannel> {
    return this.channels.get(account.id, id);
  }

  @Patch(':id')
  rename(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @CurrentCause() cause: Cause,
    @Body(valid(renameChannelBody)) body: RenameChannelBody,
  ): Promise<ManagedChannel> {
    return this.channels.rename(account.id, id, body, cause);
  }

  @Post(':id/logout')
  @HttpCode(200)
  logOut(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @CurrentCause() cause: Cause,
    @CallerGone() gaveUp: AbortSignal,
  ): Promise<ChannelLoggedOut> {
    return this.channels.logOut(account.id, id, cause, gaveUp);
  }

  @Delete(':id')
  delete(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @CurrentCause() cause: Cause,
  ): Promise<ChannelDeleted> {
    return this.channels.delete(account.id, id, cause);
  }

  @Post(':id/sleep')
  @HttpCode(200)
  setSleep(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @CurrentCause() cause: Cause,
    @Body(valid(channelSleep)) body: ChannelSleep,
  ): Promise<ManagedChannel> {
    return this.channels.setSleep(account.id, id, body, cause);
  }

  @Put(':id/retention')
  setRetention(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @CurrentCause() cause: Cause,
    @Body(valid(channelRetention)) body: ChannelRetention,
  ): Promise<ManagedChannel> {
    return this.channels.setRetention(account.id, id, body, cause);
  }

  @Post(':id/token')
  @HttpCode(200)
  async rotateToken(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @CurrentCause() cause: Cause,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TokenRotated> {
    const rotated = await this.channels.rotateToken(account.id, id, cause);
    if (rotated.takes_effect !== 'now') void reply.code(ACCEPTED);
    return rotated;
  }
}
