import {
  sendAudioBody,
  sendDocumentBody,
  sendImageBody,
  sendStickerBody,
  sendVideoBody,
  sendVoiceBody,
  type MediaInput,
  type SentMessage,
} from '@dormouse/gateway-contract';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { GivenFiles, type FileWords, type GivenFile } from '../media/given-files.js';
import { requireLinked } from './sendable.js';
import { Sends, type SendCaller } from './sends.js';

/**
 * Sends of files: JSON with a URL, data: URI, base64 or media id, or a form with the file. The file is in the media store
 * before the command is said; the command carries its id.
 */
@Controller('messages')
export class MediaMessagesController {
  constructor(
    private readonly files: GivenFiles,
    private readonly sends: Sends,
    private readonly directory: ChannelDirectory,
  ) {}

  @Post('image')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'image' })
  sendImage(@Caller() caller: SendCaller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.files.receive(
      request,
      { schema: sendImageBody, field: 'media', kind: 'image' },
      async (body, given) => {
        const { input, said } = await this.stored(caller, body, given);
        return this.sends.send(caller, 'messages.sendImage', input, said);
      },
    );
  }

  @Post('video')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'video' })
  sendVideo(@Caller() caller: SendCaller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.files.receive(
      request,
      { schema: sendVideoBody, field: 'media', kind: 'video' },
      async (body, given) => {
        const { input, said } = await this.stored(caller, body, given);
        return this.sends.send(caller, 'messages.sendVideo', input, said);
      },
    );
  }

  @Post('audio')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'audio' })
  sendAudio(@Caller() caller: SendCaller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.files.receive(
      request,
      { schema: sendAudioBody, field: 'media', kind: 'audio' },
      async (body, given) => {
        const { input, said } = await this.stored(caller, body, given);
        return this.sends.send(caller, 'messages.sendAudio', input, said);
      },
    );
  }

  @Post('voice')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'voice' })
  sendVoice(@Caller() caller: SendCaller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.files.receive(
      request,
      { schema: sendVoiceBody, field: 'media', kind: 'voice' },
      async (body, given) => {
        const { input, said } = await this.stored(caller, body, given);
        return this.sends.send(caller, 'messages.sendVoice', input, said);
      },
    );
  }

  @Post('document')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'document' })
  sendDocument(@Caller() caller: SendCaller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.files.receive(
      request,
      { schema: sendDocumentBody, field: 'media', kind: 'document' },
      async (body, given) => {
        const { input, said } = await this.stored(caller, body, given);
        return this.sends.send(caller, 'messages.sendDocument', input, said);
      },
    );
  }

  @Post('sticker')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'sticker' })
  sendSticker(@Caller() caller: SendCaller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.files.receive(
      request,
      { schema: sendStickerBody, field: 'media', kind: 'sticker' },
      async (body, given) => {
        const { input, said } = await this.stored(caller, body, given);
        return this.sends.send(caller, 'messages.sendSticker', input, said);
      },
    );
  }

  /**
   * The body with the id of its file, and as it reads in any repetition of the request: the bytes are the same, their id
   * is another. A channel that cannot send gets nothing stored.
   */
  private async stored<Body extends FileWords & { media: MediaInput }>(
    caller: SendCaller,
    body: Body,
    given: GivenFile,
  ): Promise<{ input: Omit<Body, 'media'> & { media: string }; said: unknown }> {
    await requireLinked(caller.channel, this.directory);
    const file = await given.keep(caller, body.media, 'sent', body);
    return { input: { ...body, media: file.id }, said: { ...body, media: file.sha256.toString('hex') } };
  }
}
