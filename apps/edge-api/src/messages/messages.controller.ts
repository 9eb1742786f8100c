import { ChannelDirectory, type ChannelRecord } from '@dormouse/channel-directory';
import {
  GatewayError,
  listMessagesQuery,
  normalizeChatId,
  sendTextBody,
  type ListMessagesQuery,
  type Message,
  type MessagesList,
  type SendTextBody,
  type SentMessage,
} from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { CommandClient } from '@dormouse/queues';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CurrentChannel, RequestId } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { valid } from '../body/valid.js';
import { requireLinked } from './sendable.js';

@Controller('messages')
export class MessagesController {
  constructor(
    private readonly commands: CommandClient,
    private readonly directory: ChannelDirectory,
    private readonly messages: MessageReader,
  ) {}

  @Get('list')
  list(
    @CurrentChannel() { id }: ChannelRecord,
    @Query(valid(listMessagesQuery)) query: ListMessagesQuery,
  ): Promise<MessagesList> {
    return this.messages.listMessages(id, query);
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
    return list;
  }

  @Post('text')
  @HttpCode(200)
  @Endpoint({ rate: 'sends' })
  async sendText(
    @CurrentChannel() channel: ChannelRecord,
    @RequestId() requestId: string,
    @Body(valid(sendTextBody)) body: SendTextBody,
  ): Promise<SentMessage> {
    await requireLinked(channel, this.directory);
    return this.commands.call(channel, 'messages.sendText', body, { requestId });
  }

  @Get(':MessageID')
  async one(@CurrentChannel() { id }: ChannelRecord, @Param('MessageID') messageId: string): Promise<Message> {
    const message = await this.messages.message(id, messageId);
    if (!message) throw new GatewayError(404, { details: 'MessageID: no such message' });
    return message;
  }
}
