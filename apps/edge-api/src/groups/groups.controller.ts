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
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { Caller, CurrentChannel } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { valid } from '../body/valid.js';
import { Sends, type SendCaller } from '../messages/sends.js';
import { groupIdIn } from './group-id.js';

/** Groups the channel is in: lists come from the store, everything else is said to the network. */
@Controller('groups')
export class GroupsController {
  constructor(
    private readonly groups: GroupReader,
    private readonly sends: Sends,
  ) {}

  @Get()
  list(@CurrentChannel() { id }: ChannelRecord, @Query(valid(pageQuery)) query: PageQuery): Promise<GroupsList> {
    return this.groups.listGroups(id, query);
  }

  @Post()
  @HttpCode(200)
  @Endpoint({ rate: 'groupWrites' })
  create(
    @Caller() caller: SendCaller,
    @Body(valid(createGroupBody)) body: CreateGroupBody,
  ): Promise<GroupCreateResult> {
    return this.act(caller, 'groups.create', body);
  }

  /** From the store; with `resync` the network is asked first. */
  @Get(':GroupID')
  async one(
    @Caller() caller: SendCaller,
    @Param('GroupID') id: string,
    @Query(valid(resyncQuery)) { resync }: ResyncQuery,
  ): Promise<Group> {
    const groupId = groupIdIn(id);
    if (resync) return this.act(caller, 'groups.refresh', { groupId });
    const group = await this.groups.group(caller.channel.id, groupId);
    if (!group) throw new GatewayError(404, { details: 'GroupID: no such group' });
    return group;
  }

  /** What it is called, or who may do what in it. */
  @Patch(':GroupID')
  @Endpoint({ rate: 'groupWrites' })
  async update(@Caller() caller: SendCaller, @Param('GroupID') id: string, @Body() body: unknown): Promise<Success> {
    const action = patchGroupAction(body);
    const groupId = groupIdIn(id);
    return action.action === 'info'
      ? this.act(caller, 'groups.updateInfo', { groupId, ...action.body })
      : this.act(caller, 'groups.updateSetting', { groupId, ...action.body });
  }

  @Delete(':GroupID')
  @Endpoint({ rate: 'groupWrites', ignoresBody: true })
  leave(@Caller() caller: SendCaller, @Param('GroupID') id: string): Promise<Success> {
    return this.act(caller, 'groups.leave', { groupId: groupIdIn(id) });
  }

  @Post(':GroupID/participants')
  @HttpCode(200)
  @Endpoint({ rate: 'groupWrites' })
  add(
    @Caller() caller: SendCaller,
    @Param('GroupID') id: string,
    @Body(valid(participantsBody)) { participants }: ParticipantsBody,
  ): Promise<ParticipantsResult> {
    return this.act(caller, 'groups.addParticipants', { groupId: groupIdIn(id), participants });
  }

  @Delete(':GroupID/participants')
  @Endpoint({ rate: 'groupWrites' })
  remove(
    @Caller() caller: SendCaller,
    @Param('GroupID') id: string,
    @Body(valid(participantsBody)) { participants }: ParticipantsBody,
  ): Promise<ParticipantsResult> {
    return this.act(caller, 'groups.removeParticipants', { groupId: groupIdIn(id), participants });
  }

  @Patch(':GroupID/admins')
  @Endpoint({ rate: 'groupWrites' })
  promote(
    @Caller() caller: SendCaller,
    @Param('GroupID') id: string,
    @Body(valid(participantsBody)) { participants }: ParticipantsBody,
  ): Promise<Success> {
    return this.act(caller, 'groups.promote', { groupId: groupIdIn(id), participants });
  }

  @Delete(':GroupID/admins')
  @Endpoint({ rate: 'groupWrites' })
  demote(
    @Caller() caller: SendCaller,
    @Param('GroupID') id: string,
    @Body(valid(participantsBody)) { participants }: ParticipantsBody,
  ): Promise<Success> {
    return this.act(caller, 'groups.demote', { groupId: groupIdIn(id), participants });
  }

  @Get(':GroupID/invite')
  invite(@Caller() caller: SendCaller, @Param('GroupID') id: string): Promise<GroupInvite> {
    return this.act(caller, 'groups.invite', { groupId: groupIdIn(id) });
  }

  /** The old link leads nowhere from then on; the answer has the new one. */
  @Delete(':GroupID/invite')
  @Endpoint({ rate: 'groupWrites', ignoresBody: true })
  revokeInvite(@Caller() caller: SendCaller, @Param('GroupID') id: string): Promise<GroupInviteRevoked> {
    return this.act(caller, 'groups.revokeInvite', { groupId: groupIdIn(id) });
  }

  /** Acts have no key: who repeats one sees in its answer, or in the group, what came of it. */
  private act: Sends['send'] = ({ channel, requestId }, name, input) =>
    this.sends.send({ channel, requestId }, name, input);
}
