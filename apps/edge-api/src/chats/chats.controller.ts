import type { ChannelRecord } from '@dormouse/channel-directory';
import { ChannelDirectory } from '@dormouse/channel-directory';
import {
  GatewayError,
  normalizeChatId,
  pageQuery,
  patchChatBody,
  postChatAct,
  type Chat,
  type ChatsList,
  type PageQuery,
  type PatchChatBody,
  type Success,
} from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { Caller, CurrentChannel } from '../access/current-channel.js';
import { valid } from '../body/valid.js';
import { requireLinked } from '../messages/sendable.js';
import { Sends, type SendCaller } from '../messages/sends.js';

/** Chats. Ids that this channel does not have are 404, whatever they look like. */
@Controller('chats')
export class ChatsController {
  constructor(
    private readonly messages: MessageReader,
    private readonly sends: Sends,
    private readonly directory: ChannelDirectory,
  ) {}

  @Get()
  list(@CurrentChannel() { id }: ChannelRecord, @Query(valid(pageQuery)) query: PageQuery): Promise<ChatsList> {
    return this.messages.listChats(id, query);
  }

  @Get(':ChatID')
  one(@CurrentChannel() { id }: ChannelRecord, @Param('ChatID') chatId: string): Promise<Chat> {
    return this.known(id, chatId);
  }

  /** Archives or restores it when the body says so, else marks it as read. */
  @Post(':ChatID')
  @HttpCode(200)
  async post(@Caller() caller: SendCaller, @Param('ChatID') asked: string, @Body() body: unknown): Promise<Success> {
    const act = postChatAct(body);
    const chatId = await this.changeable(caller, asked);
    return act.act === 'archive'
      ? this.act(caller, 'chats.update', { chatId, ...act.body })
      : this.act(caller, 'chats.markRead', { chatId });
  }

  @Patch(':ChatID')
  async change(
    @Caller() caller: SendCaller,
    @Param('ChatID') asked: string,
    @Body(valid(patchChatBody)) body: PatchChatBody,
  ): Promise<Success> {
    const chatId = await this.changeable(caller, asked);
    return this.act(caller, 'chats.update', { chatId, ...body });
  }

  @Delete(':ChatID')
  async remove(@Caller() caller: SendCaller, @Param('ChatID') asked: string): Promise<Success> {
    const chatId = await this.changeable(caller, asked);
    return this.act(caller, 'chats.delete', { chatId });
  }

  /** Doing it twice does no more than once: no key is needed. */
  private act: Sends['send'] = ({ channel, requestId }, name, input) =>
    this.sends.send({ channel, requestId }, name, input);

  /** Before anybody is woken for it. */
  private async changeable({ channel }: SendCaller, chatId: string): Promise<string> {
    await requireLinked(channel, this.directory);
    return (await this.known(channel.id, chatId)).id;
  }

  private async known(channelId: string, chatId: string): Promise<Chat> {
    const id = normalizeChatId(chatId);
    const chat = id === undefined ? undefined : await this.messages.chat(channelId, id);
    if (!chat) throw new GatewayError(404, { details: 'ChatID: no such chat' });
    return chat;
  }
}
