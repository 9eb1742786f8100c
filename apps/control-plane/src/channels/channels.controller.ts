import {
  channelSleep,
  createChannelBody,
  listChannelsQuery,
  type ChannelDeleted,
  type ChannelList,
  type ChannelSleep,
  type ChannelWithToken,
  type CreateChannelBody,
  type ListChannelsQuery,
  type ManagedChannel,
} from '@dormouse/management-contract';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentAccount } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import { Channels } from './channels.js';

@Controller('channels')
export class ChannelsController {
  constructor(private readonly channels: Channels) {}

  @Post()
  create(
    @CurrentAccount() account: Account,
    @Body(valid(createChannelBody)) body: CreateChannelBody,
  ): Promise<ChannelWithToken> {
    return this.channels.create(account.id, body);
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

  @Delete(':id')
  delete(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<ChannelDeleted> {
    return this.channels.delete(account.id, id, request.id);
  }

  @Post(':id/sleep')
  @HttpCode(200)
  setSleep(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @Body(valid(channelSleep)) body: ChannelSleep,
  ): Promise<ManagedChannel> {
    return this.channels.setSleep(account.id, id, body);
  }

  @Post(':id/token')
  @HttpCode(200)
  rotateToken(@CurrentAccount() account: Account, @Param('id') id: string): Promise<ChannelWithToken> {
    return this.channels.rotateToken(account.id, id);
  }
}
