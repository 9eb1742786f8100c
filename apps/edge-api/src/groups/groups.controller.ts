import type { ChannelRecord } from '@dormouse/channel-directory';
import {
  createGroupBody,
  GatewayError,
  pageQuery,
  participantsBody,
  patchGroupAction,
  resyncQuery,
  type CreateGroupBody,
  type Group,
  type GroupCreateResult,
  type GroupInvite,
  type GroupInviteRevoked,
  type GroupsList,
  type PageQuery,
  type ParticipantsBody,
  type ParticipantsResult,
  type ResyncQuery,
  type Success,
} from '@dormouse/gateway-contract';
import { GroupReader } from '@dormouse/message-store/read';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CurrentCaller, CurrentChannel, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { ChannelCommands } from '../messages/channel-commands.js';
import { groupIdIn } from './group-id.js';

/** Groups of the channel: lists are read from the store, everything else is a command to the network. */
@Controller('groups')
export class GroupsController {
  constructor(
    private readonly groups: GroupReader,
    private readonly commands: ChannelCommands,
  ) {}

  @Get()
  list(@CurrentChannel() { id }: ChannelRecord, @Query(valid(pageQuery)) query: PageQuery): Promise<GroupsList> {
    return this.groups.listGroups(id, query);
  }

  @Post()
  @HttpCode(200)
  @Endpoint({ rate: 'groupWrites' })
  create(
    @CurrentCaller() caller: Caller,
    @Body(valid(createGroupBody)) body: CreateGroupBody,
  ): Promise<GroupCreateResult> {
    return this.commands.callWithoutKey(caller, 'groups.create', body);
  }

  /** From the store; with `resync` from a query to the network. */
  @Get(':GroupID')
  async one(
    @CurrentCaller() caller: Caller,
    @Param('GroupID') id: string,
    @Query(valid(resyncQuery)) { resync }: ResyncQuery,
  ): Promise<Group> {
    const groupId = groupIdIn(id);
    if (resync) return this.commands.callWithoutKey(caller, 'groups.refresh', { groupId });
    const group = await this.groups.group(caller.channel.id, groupId);
    if (!group) throw new GatewayError(404, { details: 'GroupID: no such group' });
    return group;
  }

  /** Changes name and description, or a setting. */
  @Patch(':GroupID')
  @Endpoint({ rate: 'groupWrites' })
  async update(@CurrentCaller() caller: Caller, @Param('GroupID') id: string, @Body() body: unknown): Promise<Success> {
    const action = patchGroupAction(body);
    const groupId = groupIdIn(id);
    return action.action === 'info'
      ? this.commands.callWithoutKey(caller, 'groups.updateInfo', { groupId, ...action.body })
      : this.commands.callWithoutKey(caller, 'groups.updateSetting', { groupId, ...action.body });
  }

  @Delete(':GroupID')
  @Endpoint({ rate: 'groupWrites', ignoresBody: true })
  leave(@CurrentCaller() caller: Caller, @Param('GroupID') id: string): Promise<Success> {
    return this.commands.callWithoutKey(caller, 'groups.leave', { groupId: groupIdIn(id) });
  }

  @Post(':GroupID/participants')
  @HttpCode(200)
  @Endpoint({ rate: 'groupWrites' })
  add(
    @CurrentCaller() caller: Caller,
    @Param('GroupID') id: string,
    @Body(valid(participantsBody)) { participants }: ParticipantsBody,
  ): Promise<ParticipantsResult> {
    return this.commands.callWithoutKey(caller, 'groups.addParticipants', { groupId: groupIdIn(id), participants });
  }

  @Delete(':GroupID/participants')
  @Endpoint({ rate: 'groupWrites' })
  remove(
    @CurrentCaller() caller: Caller,
    @Param('GroupID') id: string,
    @Body(valid(participantsBody)) { participants }: ParticipantsBody,
  ): Promise<ParticipantsResult> {
    return this.commands.callWithoutKey(caller, 'groups.removeParticipants', { groupId: groupIdIn(id), participants });
  }

  @Patch(':GroupID/admins')
  @Endpoint({ rate: 'groupWrites' })
  promote(
    @CurrentCaller() caller: Caller,
    @Param('GroupID') id: string,
    @Body(valid(participantsBody)) { participants }: ParticipantsBody,
  ): Promise<Success> {
    return this.commands.callWithoutKey(caller, 'groups.promote', { groupId: groupIdIn(id), participants });
  }

  @Delete(':GroupID/admins')
  @Endpoint({ rate: 'groupWrites' })
  demote(
    @CurrentCaller() caller: Caller,
    @Param('GroupID') id: string,
    @Body(valid(participantsBody)) { participants }: ParticipantsBody,
  ): Promise<Success> {
    return this.commands.callWithoutKey(caller, 'groups.demote', { groupId: groupIdIn(id), participants });
  }

  @Get(':GroupID/invite')
  invite(@CurrentCaller() caller: Caller, @Param('GroupID') id: string): Promise<GroupInvite> {
    return this.commands.callWithoutKey(caller, 'groups.invite', { groupId: groupIdIn(id) });
  }

  /** Makes the old link invalid; the answer has the new one. */
  @Delete(':GroupID/invite')
  @Endpoint({ rate: 'groupWrites', ignoresBody: true })
  revokeInvite(@CurrentCaller() caller: Caller, @Param('GroupID') id: string): Promise<GroupInviteRevoked> {
    return this.commands.callWithoutKey(caller, 'groups.revokeInvite', { groupId: groupIdIn(id) });
  }
}
