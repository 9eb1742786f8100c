import {
  GatewayError,
  groupLinkAct,
  INVITE_CODE_PATTERN,
  sendGroupInviteInput,
  parseInput,
  type JoinGroupResult,
  type SentMessage,
} from '@dormouse/gateway-contract';
import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { Sends, type SendCaller } from '../messages/sends.js';

/** Invite links of groups. */
@Controller('groups/link')
export class GroupLinksController {
  constructor(private readonly sends: Sends) {}

  /** Sends the link when the body says to whom, and never joins then; else joins. */
  @Post(':InviteCode')
  @HttpCode(200)
  @Endpoint({ rate: 'groupWrites' })
  async follow(
    @Caller() caller: SendCaller,
    @Param('InviteCode') inviteCode: string,
    @Body() body: unknown,
  ): Promise<SentMessage | JoinGroupResult> {
    const asked = groupLinkAct(body);
    if (!INVITE_CODE_PATTERN.test(inviteCode)) {
      throw new GatewayError(404, { details: 'InviteCode: no such invitation' });
    }
    if (asked.act === 'send') {
      const { media: _picture, ...rest } = asked.body;
      return this.sends.send(caller, 'groups.sendInvite', parseInput(sendGroupInviteInput, { ...rest, inviteCode }));
    }
    const { channel, requestId } = caller;
    return this.sends.send({ channel, requestId }, 'groups.join', { inviteCode });
  }
}
