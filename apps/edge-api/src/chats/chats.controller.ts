import type { ChannelRecord } from '@dormouse/channel-directory';
import {
  GatewayError,
  normalizeChatId,
  pageQuery,
  type Chat,
  type ChatsList,
  type PageQuery,
} from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentChannel } from '../access/current-channel.js';
import { valid } from '../body/valid.js';

@Controller('chats')
export class ChatsController {
  constructor(private readonly messages: MessageReader) {}

  @Get()
  list(@CurrentChannel() { id }: ChannelRecord, @Query(valid(pageQuery)) query: PageQuery): Promise<ChatsList> {
    return this.messages.listChats(id, query);
  }

  @Get(':ChatID')
  async one(@CurrentChannel() { id }: ChannelRecord, @Param('ChatID') chatId: string): Promise<Chat> {
    const known = normalizeChatId(chatId);
    const chat = known === undefined ? undefined : await this.messages.chat(id, known);
    if (!chat) throw new GatewayError(404, { details: 'ChatID: no such chat' });
    return chat;
  }
}
