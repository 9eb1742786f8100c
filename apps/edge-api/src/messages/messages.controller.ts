import type { ChannelRecord } from '@dormouse/channel-directory';
import {
  GatewayError,
  listMessagesQuery,
  normalizeChatId,
  resyncQuery,
  sendContactBody,
  sendLocationBody,
  sendPollBody,
  sendTextBody,
  type ListMessagesQuery,
  type Message,
  type MessagesList,
  type ResyncQuery,
  type SendContactBody,
  type SendLocationBody,
  type SendPollBody,
  type SendTextBody,
  type SentMessage,
} from '@dormouse/gateway-contract';
import { FreshLinks } from '@dormouse/media-store/read';
import { MessageReader } from '@dormouse/message-store/read';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CurrentCaller, CurrentChannel, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { ChannelCommands } from './channel-commands.js';

@Controller('messages')
export class MessagesController {
  constructor(
    private readonly commands: ChannelCommands,
    private readonly messages: MessageReader,
    private readonly links: FreshLinks,
  ) {}

  @Get('list')
  async list(
    @CurrentChannel() { id }: ChannelRecord,
    @Query(valid(listMessagesQuery)) query: ListMessagesQuery,
  ): Promise<MessagesList> {
    return this.linked(id, await this.messages.listMessages(id, query));
  }

  @Get('list/:ChatID')
  async listOfChat(
    @CurrentChannel() { id }: ChannelRecord,
    @Param('ChatID') chatId: string,
    @Query(valid(listMessagesQuery)) query: ListMessagesQuery,
  ): Promise<MessagesList> {
    const chat = normalizeChatId(chatId);
    const list = chat === undefined ? undefined : await this.messages.listChatMessages(id, chat, query);
    if (!list) throw new GatewayError(404, { details: 'ChatID: no such chat' });
    return this.linked(id, list);
  }

  @Post('text')
  @HttpCode(200)
  @Endpoint({ rate: 'sends' })
  sendText(@CurrentCaller() caller: Caller, @Body(valid(sendTextBody)) body: SendTextBody): Promise<SentMessage> {
    return this.commands.call(caller, 'messages.sendText', body);
  }

  @Post('location')
  @HttpCode(200)
  @Endpoint({ rate: 'sends' })
  sendLocation(
    @CurrentCaller() caller: Caller,
    @Body(valid(sendLocationBody)) body: SendLocationBody,
  ): Promise<SentMessage> {
    return this.commands.call(caller, 'messages.sendLocation', body);
  }

  @Post('contact')
  @HttpCode(200)
  @Endpoint({ rate: 'sends' })
  sendContact(
    @CurrentCaller() caller: Caller,
    @Body(valid(sendContactBody)) body: SendContactBody,
  ): Promise<SentMessage> {
    return this.commands.call(caller, 'messages.sendContact', body);
  }

  @Post('poll')
  @HttpCode(200)
  @Endpoint({ rate: 'sends' })
  sendPoll(@CurrentCaller() caller: Caller, @Body(valid(sendPollBody)) body: SendPollBody): Promise<SentMessage> {
    return this.commands.call(caller, 'messages.sendPoll', body);
  }

  /** From the store; with `resync` after the session is open and has received the events that waited for it. */
  @Get(':MessageID')
  async one(
    @CurrentCaller() caller: Caller,
    @Param('MessageID') messageId: string,
    @Query(valid(resyncQuery)) { resync }: ResyncQuery,
  ): Promise<Message> {
    const message = await this.messages.message(caller.channel.id, messageId);
    if (!message) throw new GatewayError(404, { details: 'MessageID: no such message' });
    const known = resync ? await this.commands.call(caller, 'messages.refresh', { messageId }) : message;
    return this.links.inOne(caller.channel.id, known);
  }

  private async linked(channelId: string, list: MessagesList): Promise<MessagesList> {
    return { ...list, messages: await this.links.in(channelId, list.messages) };
  }
}
