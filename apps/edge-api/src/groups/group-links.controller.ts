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
import { CurrentCaller, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { UnreadBody } from '../body/bodies.js';
import { RequestFiles, type RequestFile, type ReadBody } from '../media/request-files.js';
import { requireLinked } from '../messages/sendable.js';
import { ChannelCommands } from '../messages/channel-commands.js';

/** Invite links of groups. */
@Controller('groups/link')
export class GroupLinksController {
  constructor(
    private readonly commands: ChannelCommands,
    private readonly files: RequestFiles,
    private readonly directory: ChannelDirectory,
  ) {}

  /** Sends the link, without joining, when the body has `to`; else joins. */
  @Post(':InviteCode')
  @HttpCode(200)
  @Endpoint({ rate: 'groupWrites', file: 'image' })
  async follow(
    @CurrentCaller() caller: Caller,
    @Param('InviteCode') inviteCode: string,
    @Req() request: FastifyRequest,
  ): Promise<SentMessage | JoinGroupResult> {
    if (request.body instanceof UnreadBody) throw new GatewayError(400, { details: 'body: JSON expected' });
    return this.files.read(request, { field: 'media', kind: 'image' }, async (body, file) => {
      const { action } = groupLinkAction(body.json);
      if (!INVITE_CODE_PATTERN.test(inviteCode)) {
        throw new GatewayError(404, { details: 'InviteCode: no such invitation' });
      }
      if (action === 'send') return this.send(caller, inviteCode, body, file);
      return this.commands.callWithoutKey(caller, 'groups.join', { inviteCode });
    });
  }

  private async send(caller: Caller, inviteCode: string, body: ReadBody, file: RequestFile): Promise<SentMessage> {
    const { media, ...fields } = body.parse(sendGroupInviteBody);
    const input = { ...fields, inviteCode };
    if (!media) return this.commands.call(caller, 'groups.sendInvite', input);
    await requireLinked(caller.channel, this.directory); // before a file is stored in vain
    const { id, sha256 } = await file.store(caller, media, 'sent', fields);
    const digestInput = { ...input, media: sha256.toString('hex') };
    return this.commands.call(caller, 'groups.sendInvite', { ...input, media: id }, digestInput);
  }
}
