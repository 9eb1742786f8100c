import { ChannelDirectory } from '@dormouse/channel-directory';
import { sendLinkPreviewBody, type SentMessage } from '@dormouse/gateway-contract';
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { GivenFiles } from '../media/given-files.js';
import { requireLinked } from './sendable.js';
import { Sends, type SendCaller } from './sends.js';

/** A text with the preview of its link; its picture may be a file in any form. */
@Controller('messages')
export class LinkPreviewController {
  constructor(
    private readonly files: GivenFiles,
    private readonly sends: Sends,
    private readonly directory: ChannelDirectory,
  ) {}

  @Post('link_preview')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'image' })
  sendLinkPreview(@Caller() caller: SendCaller, @Req() request: FastifyRequest): Promise<SentMessage> {
    const endpoint = { schema: sendLinkPreviewBody, field: 'media', kind: 'image' } as const;
    return this.files.receive(request, endpoint, async ({ media, ...words }, given) => {
      if (!media) return this.sends.send(caller, 'messages.sendLinkPreview', words);
      await requireLinked(caller.channel, this.directory);
      const { id, sha256 } = await given.keep(caller, media, 'sent', words);
      const said = { ...words, media: sha256.toString('hex') };
      return this.sends.send(caller, 'messages.sendLinkPreview', { ...words, media: id }, said);
    });
  }
}
