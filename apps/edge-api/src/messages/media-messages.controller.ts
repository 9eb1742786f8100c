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
import type { z } from 'zod';
import { CurrentCaller, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { RequestFiles, type FileAttributes, type FileEndpoint, type RequestFile } from '../media/request-files.js';
import { requireLinked } from './sendable.js';
import { ChannelCommands } from './channel-commands.js';

type MediaBody = FileAttributes & { media: MediaInput };
type WithFileId<Body> = Omit<Body, 'media'> & { media: string };

/**
 * Sends of files: JSON with a URL, data: URI, base64 or media id, or a form with the file. The file is stored before the
 * command is sent; the command carries its id.
 */
@Controller('messages')
export class MediaMessagesController {
  constructor(
    private readonly files: RequestFiles,
    private readonly commands: ChannelCommands,
    private readonly directory: ChannelDirectory,
  ) {}

  @Post('image')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'image' })
  sendImage(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.send(request, caller, { kind: 'image', schema: sendImageBody }, (input, digestInput) =>
      this.commands.call(caller, 'messages.sendImage', input, digestInput),
    );
  }

  @Post('video')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'video' })
  sendVideo(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.send(request, caller, { kind: 'video', schema: sendVideoBody }, (input, digestInput) =>
      this.commands.call(caller, 'messages.sendVideo', input, digestInput),
    );
  }

  @Post('audio')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'audio' })
  sendAudio(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.send(request, caller, { kind: 'audio', schema: sendAudioBody }, (input, digestInput) =>
      this.commands.call(caller, 'messages.sendAudio', input, digestInput),
    );
  }

  @Post('voice')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'voice' })
  sendVoice(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.send(request, caller, { kind: 'voice', schema: sendVoiceBody }, (input, digestInput) =>
      this.commands.call(caller, 'messages.sendVoice', input, digestInput),
    );
  }

  @Post('document')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'document' })
  sendDocument(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.send(request, caller, { kind: 'document', schema: sendDocumentBody }, (input, digestInput) =>
      this.commands.call(caller, 'messages.sendDocument', input, digestInput),
    );
  }

  @Post('sticker')
  @HttpCode(200)
  @Endpoint({ rate: 'sends', file: 'sticker' })
  sendSticker(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<SentMessage> {
    return this.send(request, caller, { kind: 'sticker', schema: sendStickerBody }, (input, digestInput) =>
      this.commands.call(caller, 'messages.sendSticker', input, digestInput),
    );
  }

  /** Receives the body and its file, then calls the command with the id of the file in its place. */
  private send<Schema extends z.ZodObject & z.ZodType<MediaBody>>(
    request: FastifyRequest,
    caller: Caller,
    endpoint: Pick<FileEndpoint<Schema>, 'kind' | 'schema'>,
    call: (input: WithFileId<z.output<Schema>>, digestInput: unknown) => Promise<SentMessage>,
  ): Promise<SentMessage> {
    return this.files.receive(request, { ...endpoint, field: 'media' }, async (body, file) => {
      const { input, digestInput } = await this.stored(caller, body, file);
      return call(input, digestInput);
    });
  }

  /**
   * Stores the file of the body, unless the channel cannot send.
   * @returns `input`: the body with the id of its file; `digestInput`: the body with the hash of its bytes, which is the
   * same when the request is repeated, while the id is not
   */
  private async stored<Body extends MediaBody>(
    caller: Caller,
    body: Body,
    file: RequestFile,
  ): Promise<{ input: WithFileId<Body>; digestInput: unknown }> {
    await requireLinked(caller.channel, this.directory);
    const stored = await file.store(caller, body.media, 'sent', body);
    return { input: { ...body, media: stored.id }, digestInput: { ...body, media: stored.sha256.toString('hex') } };
  }
}
