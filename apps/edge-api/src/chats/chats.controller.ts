import type { ChannelRecord } from '@dormouse/channel-directory';
import { ChannelDirectory } from '@dormouse/channel-directory';
import {
  GatewayError,
  normalizeChatId,
  pageQuery,
  patchChatBody,
  postChatAction,
  type Chat,
  type ChatsList,
  type PageQuery,
  type PatchChatBody,
  type Success,
} from '@dormouse/gateway-contract';
import { FreshLinks } from '@dormouse/media-store/read';
import { MessageReader } from '@dormouse/message-store/read';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CurrentCaller, CurrentChannel, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { requireLinked } from '../messages/sendable.js';
import { ChannelCommands } from '../messages/channel-commands.js';

/** Chats. Ids that this channel does not have are 404, whatever they look like. */
@Controller('chats')
export class ChatsController {
  constructor(
    private readonly messages: MessageReader,
    private readonly commands: ChannelCommands,
    private readonly directory: ChannelDirectory,
    private readonly links: FreshLinks,
  ) {}

  @Get()
  async list(@CurrentChannel() { id }: ChannelRecord, @Query(valid(pageQuery)) query: PageQuery): Promise<ChatsList> {
    const list = await this.messages.listChats(id, query);
    return { ...list, chats: await this.linked(id, list.chats) };
  }

  @Get(':ChatID')
  async one(@CurrentChannel() { id }: ChannelRecord, @Param('ChatID') chatId: string): Promise<Chat> {
    const chat = await this.known(id, chatId);
    const [linked = chat] = await this.linked(id, [chat]);
    return linked;
  }

  /** Archives or restores the chat when the body has `archive`, else marks it as read. */
  @Post(':ChatID')
  @HttpCode(200)
  async post(@CurrentCaller() caller: Caller, @Param('ChatID') id: string, @Body() body: unknown): Promise<Success> {
    const action = postChatAction(body);
    const chatId = await this.changeable(caller, id);
    return action.action === 'archive'
      ? this.commands.callWithoutKey(caller, 'chats.update', { chatId, ...action.body })
      : this.commands.callWithoutKey(caller, 'chats.markRead', { chatId });
  }

  @Patch(':ChatID')
  async change(
    @CurrentCaller() caller: Caller,
    @Param('ChatID') id: string,
    @Body(valid(patchChatBody)) body: PatchChatBody,
  ): Promise<Success> {
    const chatId = await this.changeable(caller, id);
    return this.commands.callWithoutKey(caller, 'chats.update', { chatId, ...body });
  }

  @Delete(':ChatID')
  @Endpoint({ ignoresBody: true })
  async remove(@CurrentCaller() caller: Caller, @Param('ChatID') id: string): Promise<Success> {
    const chatId = await this.changeable(caller, id);
    return this.commands.callWithoutKey(caller, 'chats.delete', { chatId });
  }

  /** Checked before a session is woken. */
  private async changeable({ channel }: Caller, chatId: string): Promise<string> {
    await requireLinked(channel, this.directory);
    return (await this.known(channel.id, chatId)).id;
  }

  /** The last messages of chats with links that work. */
  private async linked(channelId: string, chats: readonly Chat[]): Promise<Chat[]> {
    const last = chats.flatMap((chat) => chat.last_message ?? []);
    const fresh = new Map((await this.links.in(channelId, last)).map((message) => [message.id, message]));
    return chats.map((chat) => {
      const message = chat.last_message && fresh.get(chat.last_message.id);
      return message ? { ...chat, last_message: message } : chat;
    });
  }

  private async known(channelId: string, chatId: string): Promise<Chat> {
    const id = normalizeChatId(chatId);
    const chat = id === undefined ? undefined : await this.messages.chat(channelId, id);
    if (!chat) throw new GatewayError(404, { details: 'ChatID: no such chat' });
    return chat;
  }
}
