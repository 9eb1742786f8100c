import {
  GatewayError,
  postMessageAction,
  putMessageAction,
  reactionBody,
  type EditResult,
  type ReactionBody,
  type SentMessage,
  type Success,
} from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { Body, Controller, Delete, HttpCode, Param, Post, Put } from '@nestjs/common';
import { CurrentCaller, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { RateLimits } from '../access/rate-limits.js';
import { requireLinked } from './sendable.js';
import { ChannelCommands } from './channel-commands.js';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { valid } from '@dormouse/http-server';

/** Actions on one message. Ids that this channel does not have are 404, whatever their form. */
@Controller('messages/:MessageID')
export class MessageActionsController {
  constructor(
    private readonly commands: ChannelCommands,
    private readonly messages: MessageReader,
    private readonly directory: ChannelDirectory,
    private readonly rateLimits: RateLimits,
  ) {}

  /** Forwards the message when the body has `to`, else marks it as read. */
  @Post()
  @HttpCode(200)
  async post(
    @CurrentCaller() caller: Caller,
    @Param('MessageID') messageId: string,
    @Body() body: unknown,
  ): Promise<SentMessage | Success> {
    const action = postMessageAction(body);
    if (action.action === 'forward') await this.rateLimits.take('sends', caller.channel.id);
    await this.requireKnown(caller, messageId);
    return action.action === 'forward'
      ? this.commands.call(caller, 'messages.forward', { messageId, ...action.body })
      : this.commands.callWithoutKey(caller, 'messages.markRead', { messageId });
  }

  /** Edits the message when there is a body, else marks it as read. */
  @Put()
  async put(
    @CurrentCaller() caller: Caller,
    @Param('MessageID') messageId: string,
    @Body() body: unknown,
  ): Promise<EditResult | Success> {
    const action = putMessageAction(body);
    if (action.action === 'edit') await this.rateLimits.take('sends', caller.channel.id);
    await this.requireKnown(caller, messageId);
    return action.action === 'edit'
      ? this.commands.callWithoutKey(caller, 'messages.edit', { messageId, ...action.body })
      : this.commands.callWithoutKey(caller, 'messages.markRead', { messageId });
  }

  @Delete()
  @Endpoint({ rate: 'messageActs', ignoresBody: true })
  async remove(@CurrentCaller() caller: Caller, @Param('MessageID') messageId: string): Promise<Success> {
    await this.requireKnown(caller, messageId);
    return this.commands.callWithoutKey(caller, 'messages.delete', { messageId });
  }

  @Put('reaction')
  @Endpoint({ rate: 'messageActs' })
  async react(
    @CurrentCaller() caller: Caller,
    @Param('MessageID') messageId: string,
    @Body(valid(reactionBody)) { emoji }: ReactionBody,
  ): Promise<Success> {
    await this.requireKnown(caller, messageId);
    return this.commands.callWithoutKey(caller, 'messages.react', { messageId, emoji });
  }

  @Delete('reaction')
  @Endpoint({ rate: 'messageActs', ignoresBody: true })
  async unreact(@CurrentCaller() caller: Caller, @Param('MessageID') messageId: string): Promise<Success> {
    await this.requireKnown(caller, messageId);
    return this.commands.callWithoutKey(caller, 'messages.react', { messageId, emoji: '' });
  }

  /** Checked before a session is woken. */
  private async requireKnown({ channel }: Caller, messageId: string): Promise<void> {
    await requireLinked(channel, this.directory);
    if (await this.messages.message(channel.id, messageId)) return;
    throw new GatewayError(404, { details: 'MessageID: no such message' });
  }
}
