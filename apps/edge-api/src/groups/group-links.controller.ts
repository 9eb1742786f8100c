import { ChannelDirectory } from '@dormouse/channel-directory';
import {
  GatewayError,
  groupLinkAction,
  INVITE_CODE_PATTERN,
  sendGroupInviteBody,
  type JoinGroupResult,
  type SentMessage,
} from '@dormouse/gateway-contract';
import { Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { UnreadBody } from '../body/bodies.js';
import { GivenFiles, type GivenFile, type ReadBody } from '../media/given-files.js';
import { requireLinked } from '../messages/sendable.js';
import { Sends, type SendCaller } from '../messages/sends.js';

/** Invite links of groups. */
@Controller('groups/link')
export class GroupLinksController {
  constructor(
    private readonly sends: Sends,
    private readonly files: GivenFiles,
    private readonly directory: ChannelDirectory,
  ) {}

  /** Sends the link when the body says to whom, and never joins then; else joins. */
  @Post(':InviteCode')
  @HttpCode(200)
  @Endpoint({ rate: 'groupWrites', file: 'image' })
  async follow(
    @Caller() caller: SendCaller,
    @Param('InviteCode') inviteCode: string,
    @Req() request: FastifyRequest,
  ): Promise<SentMessage | JoinGroupResult> {
    if (request.body instanceof UnreadBody) throw new GatewayError(400, { details: 'body: JSON expected' });
    return this.files.read(request, { field: 'media', kind: 'image' }, async (body, given) => {
      const { action } = groupLinkAction(body.json);
      if (!INVITE_CODE_PATTERN.test(inviteCode)) {
        throw new GatewayError(404, { details: 'InviteCode: no such invitation' });
      }
      if (action === 'send') return this.send(caller, inviteCode, body, given);
      const { channel, requestId } = caller;
      return this.sends.send({ channel, requestId }, 'groups.join', { inviteCode });
    });
  }

  private async send(caller: SendCaller, inviteCode: string, body: ReadBody, given: GivenFile): Promise<SentMessage> {
    const { media, ...words } = body.parse(sendGroupInviteBody);
    const input = { ...words, inviteCode };
    if (!media) return this.sends.send(caller, 'groups.sendInvite', input);
    await requireLinked(caller.channel, this.directory); // before a file is kept for nothing
    const { id, sha256 } = await given.keep(caller, media, 'sent', words);
    const said = { ...input, media: sha256.toString('hex') };
    return this.sends.send(caller, 'groups.sendInvite', { ...input, media: id }, said);
  }
}
