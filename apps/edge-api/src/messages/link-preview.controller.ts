import { ChannelDirectory } from '@dormouse/channel-directory';
import { sendLinkPreviewBody, type SentMessage } from '@dormouse/gateway-contract';
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentCaller, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { RequestFiles } from '../media/request-files.js';
import { requireLinked } from './sendable.js';
import { ChannelCommands } from './channel-commands.js';

/** A text with the preview of its link; its picture may be a file in any form. */
@Controller('messages')
export class LinkPreviewController {
  constructor(
    private readonly files: RequestFiles,
    private readonly commands: ChannelCommands,
    private readonly directory: ChannelDirectory,
  ) {}

  @Post('link_preview')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'image' })
  sendLinkPreview(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<SentMessage> {
    const endpoint = { schema: sendLinkPreviewBody, field: 'media', kind: 'image' } as const;
    return this.files.receive(request, endpoint, async ({ media, ...fields }, file) => {
      if (!media) return this.commands.call(caller, 'messages.sendLinkPreview', fields);
      await requireLinked(caller.channel, this.directory);
      const { id, sha256 } = await file.store(caller, media, 'sent', fields);
      const digestInput = { ...fields, media: sha256.toString('hex') };
      return this.commands.call(caller, 'messages.sendLinkPreview', { ...fields, media: id }, digestInput);
    });
  }
}
